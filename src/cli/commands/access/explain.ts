/** `access explain`: why a request got 403, by the correlation id of its answer. */

import { textOf } from '#client/answer.ts'
import { propertiesOf } from '#client/resource.ts'
import { accessColumns, accessLines, askAccess } from '../../access.ts'
import { LocalProblem } from '../../command.ts'
import { printData, printRecord, printRows } from '../../output/print.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { apiVersions, extensionPath } from '../../resource-path.ts'

export const command = defineRemoteCommand({
  name: 'access explain',
  summary: 'Explain a refusal (403) from its correlation id',
  notes:
    () => `The id stands in the header x-ms-correlation-request-id of every answer, and in what commands
print when they are refused. The latest few thousand refusals are kept. Access is judged as it is now.`,
  arguments: [{ name: 'correlation-id', summary: 'Of the refused request' }],
  options: {},
  examples: ['access explain 1b4e28ba-2fa1-41d2-883f-0016d3cca427'],
  async run({ client, words }, values, context) {
    const id = values['correlation-id']
    const kept = extensionPath(words, '/', 'Authorization/deniedRequests')
    const answer = await client.send('GET', `${kept}/${encodeURIComponent(id)}`, {
      query: { 'api-version': apiVersions.roleAssignments },
    })
    if (answer.status === 404) {
      throw new LocalProblem(
        'RefusalNotFound',
        `No refused request with the correlation id ${id} is kept.`,
      )
    }
    const path = `${kept}/${encodeURIComponent(id)}`
    const query = { 'api-version': apiVersions.roleAssignments }
    const { body } = answer.status === 200 ? answer : await client.request('GET', path, { query })
    const refused = propertiesOf(body)
    const [action, scope] = [textOf(refused, 'action'), textOf(refused, 'scope')]
    if (action === undefined || scope === undefined) throw new TypeError('an answer of no use')
    const principalId = textOf(refused, 'principalId')
    const request = refused['request']
    const question = { scope, actions: [action], principalId, request }
    const answers = await askAccess(client, words, question)
    if (context.terminal.output.isData) {
      printData(context.terminal, { refused, now: answers })
      return 0
    }
    printRecord(context.terminal, refused)
    const lines = await accessLines(client, words, scope, answers)
    printRows(context.terminal, lines, accessColumns)
  },
})
