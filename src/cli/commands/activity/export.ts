/** `activity export`: prints records of the audit trail, one JSON object per line, one page in memory at a time. */

import { activityOptions, readRecords } from '../../activity.ts'
import { plainOutput } from '../../output/choose-output.ts'
import { defineRemoteCommand } from '../../remote-command.ts'
import type { Terminal } from '../../terminal.ts'

export const command = defineRemoteCommand({
  name: 'activity export',
  summary: 'Write records of the audit trail as NDJSON, the newest first',
  arguments: [],
  options: activityOptions,
  examples: ['activity export --since 7d > audit.ndjson'],
  async run(connection, values, context) {
    for await (const page of readRecords(connection, values)) {
      if (page.length === 0) continue
      context.terminal.out(page.map((record) => lineOf(context.terminal, record)).join(''))
    }
  },
})

function lineOf({ output }: Terminal, record: unknown): string {
  return output.isChosen ? output.renderOne(record) : plainOutput.renderOne(record)
}
