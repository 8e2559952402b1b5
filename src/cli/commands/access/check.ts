/** `access check`: whether a principal may take these actions at a scope, and by which assignment or why not. */

import { accessColumns, accessLines, askAccess } from '../../access.ts'
import { printData, printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'access check',
  summary: 'Say whether somebody may take an action at a scope, and why',
  notes: () => `Asks about yourself unless --principal names somebody else.
Exit code 0 when allowed, 1 when not, or only on a condition that depends on the request.`,
  arguments: [{ name: 'action', summary: 'Like Vendor.Authorization/roleAssignments/write' }],
  options: {
    scope: { type: 'string', value: 'path', summary: 'Where; `/` when left out' },
    principal: { type: 'string', value: 'id', summary: 'Whose access, by object id' },
  },
  examples: [
    'access check Vendor.Resources/subscriptions/resourceGroups/write --scope /subscriptions/$S --principal $ID',
  ],
  async run({ client, words }, values, context) {
    const scope = values.scope ?? '/'
    const question = { scope, actions: [values.action], principalId: values.principal }
    const answers = await askAccess(client, words, question)
    const lines = await accessLines(client, words, scope, answers)
    if (context.terminal.output.isData) printData(context.terminal, answers)
    else printRows(context.terminal, lines, accessColumns)
    return lines.every(({ decision }) => decision === 'Allowed') ? 0 : 1
  },
})
