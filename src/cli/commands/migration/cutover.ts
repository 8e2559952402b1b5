/** `migration cutover`: ends the online phase of all databases or some (contract, operation 8). */

import { type Command, defineCommand } from '../../command.ts'
import { printMigration } from '../../migration-outcome.ts'
import { databasesOption, orderMigration, targetOptions } from '../../migrations.ts'
import { connectionOptions } from '../../options.ts'

export const command: Command = defineCommand({
  name: 'migration cutover',
  summary: 'Cut databases over that wait for it: the target has them from then on',
  notes: () => 'It returns when that is asked for; `migration watch` waits for its end.',
  arguments: [{ name: 'name', summary: 'The migration' }],
  options: { ...targetOptions, ...databasesOption, ...connectionOptions },
  examples: [
    'migration cutover move -g demo -s shop',
    'migration cutover move -g demo -s shop --databases orders,stock',
  ],
  async run(context, values) {
    const connection = context.connect(values)
    const answer = await orderMigration(
      connection,
      values,
      'triggerCutover',
      'dbsToTriggerCutoverOn',
    )
    printMigration(context.terminal, answer)
    return 0
  },
})
