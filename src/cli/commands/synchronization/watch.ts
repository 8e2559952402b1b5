/** `synchronization watch`: draws the progress of a synchronization until it ends. */

import { setTimeout as sleep } from 'node:timers/promises'
import { printRows } from '../../output/print.ts'
import { printable } from '../../output/table.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { accountOptions, inAccount } from '../../sharing.ts'
import {
  detailColumns,
  detailsOf,
  listRuns,
  numberAt,
  progressLine,
  runOf,
  textAt,
} from '../../synchronizations.ts'

const everyMilliseconds = 500
/** The number of data sets drawn at once; the table at the end shows all. */
const linesMax = 20

export const command = defineRemoteCommand({
  name: 'synchronization watch',
  summary: 'Draw the progress of a synchronization until it ends',
  notes:
    () => `How much there will be is known from the last synchronization of the same mode that succeeded; before
the first, the bars say only what was copied and how fast.`,
  arguments: [
    { name: 'name', summary: 'The share subscription' },
    { name: 'id', required: false, summary: 'The synchronization; the newest when left out' },
  ],
  options: accountOptions,
  examples: ['synchronization watch theirs -g to -a taker'],
  async run(connection, values, context) {
    const { terminal } = context
    const path = await inAccount(connection, values, 'shareSubscriptions', values.name)
    const run = await runOf(connection, path, values.id)
    const id = textAt(run, 'synchronizationId')
    const before = (await listRuns(connection, path)).find(
      (one) =>
        one['status'] === 'Succeeded' &&
        one['synchronizationMode'] === run['synchronizationMode'] &&
        one['synchronizationId'] !== id,
    )
    const expected = new Map<string, number>()
    if (before !== undefined) {
      for (const row of await detailsOf(connection, path, textAt(before, 'synchronizationId'))) {
        expected.set(textAt(row, 'dataSetId'), numberAt(row, 'sizeWritten'))
      }
    }
    const draws = terminal.interactive && !context.terminal.output.isData
    let drawn = 0
    for (;;) {
      const now = await runOf(connection, path, id)
      const isEnded = now['endTime'] !== undefined
      const rows = await detailsOf(connection, path, id)
      if (draws) {
        const lines = rows
          .slice(0, linesMax)
          .map((row) => printable(progressLine(row, expected.get(textAt(row, 'dataSetId')))))
        const up = drawn === 0 ? '' : `\u001b[${drawn}A`
        terminal.error(`${up}\u001b[0J${lines.map((line) => `${line}\n`).join('')}`)
        drawn = lines.length
      }
      if (isEnded) {
        printRows(terminal, rows, detailColumns)
        return now['status'] === 'Succeeded' ? 0 : 1
      }
      await sleep(everyMilliseconds)
    }
  },
})
