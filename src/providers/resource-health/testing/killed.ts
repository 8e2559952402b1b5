/** A process that publishes and changes events on its own store, until its parent kills it. */

import { events, healthStore, startHealth } from './start.ts'

const [, script, file] = process.argv
if (script === import.meta.filename && file !== undefined) {
  const started = await startHealth({ store: await healthStore(file) })
  process.stdout.write('ready\n')
  for (let number = 0; ; number++) {
    const at = `${events}/E${number}`
    const impactedSubscriptions = Array.from({ length: 20 }, (_, index) => `s${index}`)
    await started.post(`${at}/publish`, {
      properties: {
        eventType: 'ServiceIssue',
        title: `Number ${number}`,
        impact: [
          {
            impactedService: 'S',
            impactedRegions: [{ impactedRegion: 'R', impactedSubscriptions }],
          },
        ],
      },
    })
    await started.post(`${at}/annotate`, { summary: 'a' })
    process.stdout.write(`${number}\n`)
  }
}
