/** `migration cutover`: ends the online phase of all databases or some (contract, operation 8). */

import { printMigration } from '../../migration-outcome.ts'
import { databasesOption, orderMigration, targetOptions } from '../../migrations.ts'
import { defineRemoteCommand } from '../../remote-command.ts'

export const command = defineRemoteCommand({
  name: 'migration cutover',
  summary: 'Cut databases over that wait for it: the target has them from then on',
  notes: () => 'It returns when that is asked for; `migration watch` waits for its end.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption },
  examples: [
    'migration cutover move -g demo -s shop',
    'migration cutover move -g demo -s shop --databases orders,stock',
  ],
  async run(connection, values, context) {
    const answer = await orderMigration(
      connection,
      values,
      'triggerCutover',
      'dbsToTriggerCutoverOn',
    )
    printMigration(context.terminal, answer)
  },
})
