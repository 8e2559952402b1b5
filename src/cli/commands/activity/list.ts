/** `activity list`: prints records of the audit trail, and new ones with `--follow`. */

import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '#client/answer.ts'
import {
  type ActivityValues,
  activityColumns,
  activityOptions,
  readRecords,
} from '../../activity.ts'
import { UsageError } from '../../command.ts'
import type { Connection, Context } from '../../context.ts'
import { printRows } from '../../output/print.ts'
import { formatTable } from '../../output/table.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import { serverMoment } from '../../server-moment.ts'

const shownDefault = 50
const shownMax = 10_000
const everyMilliseconds = 2000
/** Records of other replicas may become visible a moment later than newer ones. */
const overlapMilliseconds = 15_000

export const command = defineRemoteCommand({
  name: 'activity list',
  summary: 'List records of the audit trail, the newest first',
  arguments: [],
  options: {
    ...activityOptions,
    top: {
      type: 'string',
      value: 'count',
      summary: `So many at the most; ${shownDefault} when left out`,
    },
    follow: { type: 'boolean', summary: 'Go on with what comes, the oldest first, until stopped' },
  },
  examples: [
    'activity list --since 1h --status Failed',
    'activity list -g demo --follow',
    'activity list --caller owner --json',
  ],
  async run(connection, values, context) {
    if (values.follow) return follow(context, connection, values)
    const top = values.top === undefined ? shownDefault : Number(values.top)
    if (!Number.isInteger(top) || top < 1 || top > shownMax) {
      throw new UsageError(
        `\`--top\` is a number from 1 to ${shownMax}; \`activity export\` has all`,
      )
    }
    const rows: unknown[] = []
    for await (const page of readRecords(connection, values)) {
      rows.push(...page.slice(0, top - rows.length))
      if (rows.length >= top) break
    }
    printRows(context.terminal, rows, activityColumns)
  },
})

/** Reads again and again, and skips records it has printed. With `--json` one record per line. */
async function follow(
  { terminal }: Context,
  connection: Connection,
  values: ActivityValues,
): Promise<number> {
  let stopped = false
  const stop = new AbortController()
  terminal.onStop(() => {
    stopped = true
    stop.abort()
  })
  let shown = new Set<string>()
  const beganAt = await serverMoment(connection)
  let since = values.since ?? new Date(beganAt).toISOString()
  // The overlap must not reach back before the requested start.
  const earliest = values.since === undefined ? beganAt : 0
  while (!stopped) {
    const asked = await serverMoment(connection)
    const fresh: unknown[] = []
    const seen = new Set<string>()
    for await (const page of readRecords(connection, { ...values, since })) {
      for (const record of page) {
        const id = textOf(record, 'eventDataId') ?? ''
        seen.add(id)
        if (!shown.has(id) && fresh.length < shownMax) fresh.push(record)
      }
      if (stopped) break
    }
    for (const record of fresh.reverse()) {
      terminal.out(
        terminal.output.isData
          ? terminal.output.renderOne(record)
          : `${formatTable(activityColumns, [record])[1] ?? ''}\n`,
      )
    }
    shown = seen
    since = new Date(Math.max(earliest, asked - overlapMilliseconds)).toISOString()
    // A stop ends the sleep.
    await sleep(everyMilliseconds, undefined, { signal: stop.signal }).catch(() => undefined)
  }
  return 0
}
