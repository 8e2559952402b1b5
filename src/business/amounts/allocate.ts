/** An amount over parts, each rounded, with the remainder carried on: the parts sum to the amount, exactly. */

import { type Decimal, roundTo, zero } from './decimals.ts'

/**
 * Shares of `amount` in proportion to `weights`, in their order (facts 5.5). What is over after the last weight
 * that is not zero, is that one's: with weights of both signs the carry alone would not see to it.
 */
export function allocate(
  amount: Decimal,
  weights: readonly Decimal[],
  precision: Decimal,
): readonly Decimal[] {
  const total = weights.reduce((sum, weight) => sum.plus(weight), zero)
  if (total.isZero() || amount.isZero()) return weights.map(() => zero)
  const last = weights.findLastIndex((weight) => !weight.isZero())
  let carry = zero
  let left = amount
  return weights.map((weight, at) => {
    // Behind it, what was carried has gone already.
    if (at >= last) return at === last ? left : zero
    carry = carry.plus(amount.times(weight).div(total))
    const share = roundTo(carry, precision)
    carry = carry.minus(share)
    left = left.minus(share)
    return share
  })
}
