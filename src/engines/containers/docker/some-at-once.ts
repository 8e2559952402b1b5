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

/** Changes each, whatever fails. Throws the first failure at the end. */
export async function changeEach<T>(
  all: readonly T[],
  change: (one: T) => Promise<unknown>,
): Promise<void> {
  const ended = await someAtOnce(all, atOnce.changes, (one) => Promise.allSettled([change(one)]))
  for (const [result] of ended) if (result.status === 'rejected') throw result.reason
}
