/**
 * The paths of the test files that failed. The place of a failed test is not used: it may be in a file that declares tests for
 * several others. A failure outside of any file gives the name `unknown`.
 */

import type { run } from 'node:test'

type TestEvents = ReturnType<typeof run>

/** Follows the events of a run. The returned function tells what has failed. */
export function followFailures(events: TestEvents): () => readonly string[] {
  const failures = new Map<string, number>()
  let all = 0
  events.on('test:fail', (data) => {
    // A file that ends early has no summary. Its failure has the name of the file.
    if (data.file !== undefined && data.name === data.file) failures.set(data.file, 1)
  })
  events.on('test:summary', (data) => {
    if (data.success) return
    // The types of Node leave `failed` out.
    const { failed = 0, cancelled = 0 } = data.counts as { failed?: number; cancelled?: number }
    if (data.file === undefined) all = failed + cancelled || 1
    else failures.set(data.file, failed + cancelled)
  })
  return () => {
    const known = [...failures.values()].reduce((sum, one) => sum + one, 0)
    return [...failures.keys(), ...(known < all ? ['unknown'] : [])]
  }
}
