/** A reporter that gives the path of each file in which a test failed, one on a line. */

import type { TestEvent } from 'node:test/reporters'

// biome-ignore lint/style/noDefaultExport: the runner takes the default export of a reporter.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const files = new Set<string>()
  for await (const { type, data } of events) {
    if (type !== 'test:fail' || data.file === undefined || files.has(data.file)) continue
    files.add(data.file)
    yield `${data.file}\n`
  }
}
