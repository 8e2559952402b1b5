/**
 * A reporter that writes the path of each failed test file, one per line. The place of a failed test is not used:
 * it may be in a file that declares tests for several others. A failure outside of any file gives the line
 * `unknown`.
 */

import type { TestEvent } from 'node:test/reporters'

// biome-ignore lint/style/noDefaultExport: the runner takes the default export of a reporter.
export default async function* report(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures = new Map<string, number>()
  let all = 0
  for await (const { type, data } of events) {
    // A file that ends early has no summary. Its failure has the name of the file.
    if (type === 'test:fail' && data.name === data.file) failures.set(data.file, 1)
    if (type !== 'test:summary' || data.success) continue
    // The types of Node leave `failed` out.
    const { failed = 0, cancelled = 0 } = data.counts as { failed?: number; cancelled?: number }
    if (data.file === undefined) all = failed + cancelled
    else failures.set(data.file, failed + cancelled)
  }
  for (const file of failures.keys()) yield `${file}\n`
  const known = [...failures.values()].reduce((sum, one) => sum + one, 0)
  if (known < all || all === 0) yield 'unknown\n'
}
