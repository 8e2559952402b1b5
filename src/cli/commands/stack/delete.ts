/** `stack delete`: deletes a stack, with or without the resources it manages. */

import { noWaitOption } from '../../options.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { deleteResource } from '../../resource-commands.ts'
import { scopeOptions } from '../../scope-place.ts'
import { stackPath, stackVersion, unmanageActions, unmanageOption } from '../../stacks.ts'

export const command = defineRemoteCommand({
  name: 'stack delete',
  summary: 'Take a stack away; what it manages stays, unless `--on-unmanage` says otherwise',
  arguments: [{ name: 'name', summary: 'The name of the stack' }],
  options: { ...scopeOptions, ...unmanageOption, ...noWaitOption },
  examples: ['stack delete shop -g demo --on-unmanage delete-resources'],
  confirm: async (_context, values) => {
    const given = values['on-unmanage']
    const isKept = given === undefined || given === 'detach-all'
    const what = isKept ? 'What it manages stays.' : 'What it manages is deleted with it.'
    return { text: `Delete the stack ${values.name}? ${what}` }
  },
  async run(connection, values, context) {
    const path = await stackPath(connection, values, values.name)
    const actions = Object.entries(unmanageActions(values['on-unmanage'])).map(([kind, action]) => [
      `unmanageAction.${kind.charAt(0).toUpperCase()}${kind.slice(1)}`,
      action,
    ])
    const query = { 'api-version': stackVersion, ...Object.fromEntries(actions) }
    await deleteResource(connection, context, path, { ...values, query })
  },
})
