/**
 * Requests written to do harm: how long each blocks the event loop of a started server, and how much its memory
 * grows.
 */

import { aims, measureFreeze } from '../freeze/measure.ts'
import type { Scenario } from '../scenario.ts'

export const scenario: Scenario = {
  kind: 'figures',
  title: 'Requests written to do harm',
  about:
    'One server with 15,000 customers and 5,000 resources; each request alone, once beforehand and then twice a round. The ' +
    'longest stop is the most processor time of the main thread between two rounds of its event loop, in the best round. ' +
    'Growth is the most resident memory over the least before the request, of a run in which garbage is collected whenever ' +
    '8 MB of it may have come together; beside it the same with garbage left to the engine. Aimed at: ' +
    `${aims.stopMilliseconds} ms and ${aims.growthMegabytes} MB for each.`,
  async measure(name, measuring) {
    const only = new RegExp(process.env['ARMATURE_BENCH_REQUESTS'] ?? '')
    const { rows, notes, unexpected } = await measureFreeze(name, only, measuring)
    const notesOf = (contestant: string, all: readonly string[]) =>
      all.map((note) => ({ contestant, note }))
    // The table is still printed, but the run has failed.
    if (unexpected.length > 0) process.exitCode = 1
    return {
      rows,
      skipped: [],
      notes: [...notesOf('over the aim', notes), ...notesOf('NOT MEASURED', unexpected)],
    }
  },
}
