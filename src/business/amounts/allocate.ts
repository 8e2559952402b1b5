/**
 * Splits an amount into rounded parts whose remainder is carried on, so that the parts sum exactly to the amount.
 */

import { ratio } from './units.ts'

/**
 * Shares of `amount`, a multiple of `unit`, in proportion to `weights`, in their order (business facts 5.5). What has been
 * given out up to a weight is the rounded share of all weights up to it: that is the carry, kept in no variable, so
 * that the share of any one weight can be told from the sum before it. All of nothing is nothing.
 */
export function allocate(
  amount: number,
  weights: readonly number[],
  unit: number,
): readonly number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  if (total === 0) return weights.map(() => 0)
  let upto = 0
  let given = 0
  return weights.map((weight) => {
    upto += weight
    const until = ratio(amount, upto, total, unit)
    const share = until - given
    given = until
    return share
  })
}
