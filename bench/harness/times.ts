/** How long one request takes, repeated by one client: the times, and the rows of a table made of them. */

import { figureRow } from './measure-figures.ts'
import type { FigureRow } from './results.ts'
import { warmUpRequests } from './warm-up.ts'

const asked = 1000

export interface Patience {
  /**
   * A slow contestant gets no more requests after this time. `warmMilliseconds` is the same for those that are not
   * counted.
   */
  readonly milliseconds: number
  readonly warmMilliseconds: number
  readonly least: number
}

const unlimited: Patience = { milliseconds: Infinity, warmMilliseconds: Infinity, least: asked }

/** `work` returns its milliseconds, or is itself timed. */
export async function takeTimes(
  work: () => Promise<number> | Promise<void>,
  { milliseconds, warmMilliseconds, least }: Patience = unlimited,
): Promise<readonly number[]> {
  const found: number[] = []
  const warm = performance.now() + warmMilliseconds
  for (let at = 0; at < warmUpRequests && performance.now() < warm; at++) await work()
  const until = performance.now() + milliseconds
  while (found.length < asked && (found.length < least || performance.now() < until)) {
    const began = performance.now()
    const told = await work()
    found.push(told ?? performance.now() - began)
  }
  return found
}

export function timeRows(
  figure: string,
  contestant: string,
  times: readonly number[],
): readonly FigureRow[] {
  const sorted = times.toSorted((a, b) => a - b)
  return [['p50', 0.5] as const, ['p99', 0.99] as const].map(([label, part]) => {
    const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
    return figureRow({ figure: `${figure}, ${label}`, contestant, values: [value], digits: 2 })
  })
}
