/**
 * For how many containers of one group an engine works at once. It is everybody's, and for a change it starts programs of its own, outside of
 * all limits (decision 0447). A question without an answer takes a connection.
 */

export const atOnce = { changes: 2, questions: 4 } as const

/** What fails ends it: the rest is not begun. */
export async function someAtOnce<T, R>(
  all: readonly T[],
  most: number,
  work: (one: T) => Promise<R>,
): Promise<readonly R[]> {
  const results: R[] = []
  for (let at = 0; at < all.length; at += most) {
    results.push(...(await Promise.all(all.slice(at, at + most).map(work))))
  }
  return results
}

/**
 * Changes each, whatever fails, and throws the first failure at the end. After one that failed all others go at once: each may wait
 * a minute for a program that holds its container.
 */
export async function changeEach<T>(
  all: readonly T[],
  change: (one: T) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = []
  for (let at = 0, most: number = atOnce.changes; at < all.length; at += most) {
    if (failures.length > 0) most = all.length
    const ended = await Promise.allSettled(all.slice(at, at + most).map(change))
    for (const one of ended) if (one.status === 'rejected') failures.push(one.reason)
  }
  if (failures.length > 0) throw failures[0]
}
