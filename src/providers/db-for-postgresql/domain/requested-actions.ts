/**
 * Reads what the flags and lists of one body ask for (facts 8.4). A flag with a list applies to those databases. A
 * flag alone applies to all. A list alone has no effect. Cancel wins over cutover. Pure.
 */

import type { Flag, RequestedActions } from '../resources/migrations/model.ts'

export interface Orders {
  readonly triggerCutover?: Flag
  readonly cancel?: Flag
  readonly cutoverOn?: readonly string[]
  readonly cancelOn?: readonly string[]
}

export const noRequestedActions: RequestedActions = { cutover: [], cancel: [] }

/**
 * Adds the orders of one body to what was asked before. Nothing else of the resource counts: names of an earlier
 * body have no effect again, and names without a flag have none. The list of databases to cancel works with either
 * flag, because the contract pairs it with `triggerCutover` and older texts pair it with `cancel`.
 */
export function requestedAfter(requested: RequestedActions, given: Orders): RequestedActions {
  const { cutoverOn = [], cancelOn = [] } = effectiveOrders(given)
  return {
    cutover: join(requested.cutover, isOfAll(given, 'triggerCutover') ? 'all' : cutoverOn),
    cancel: join(requested.cancel, isOfAll(given, 'cancel') ? 'all' : cancelOn),
  }
}

/** True if the flag is set and applies to every database. An empty list counts as no list. */
export function isOfAll(given: Orders, flag: 'triggerCutover' | 'cancel'): boolean {
  const { triggerCutover, cancel, cutoverOn = [], cancelOn = [] } = given
  if (flag === 'cancel') return cancel === 'True' && cancelOn.length === 0
  const isAlone = cancel !== 'True' && cutoverOn.length === 0 && cancelOn.length === 0
  return triggerCutover === 'True' && isAlone
}

/**
 * The part of `given` that has an effect and is kept to be shown. A list counts only together with its flag in the
 * same body.
 */
export function effectiveOrders(given: Orders): Orders {
  const { cutoverOn, cancelOn, ...flags } = given
  const cuts = given.triggerCutover === 'True'
  const acts = cuts || given.cancel === 'True'
  return {
    ...flags,
    ...(cuts && cutoverOn !== undefined ? { cutoverOn } : {}),
    ...(acts && cancelOn !== undefined ? { cancelOn } : {}),
  }
}

function join(
  known: readonly string[] | 'all',
  more: readonly string[] | 'all',
): readonly string[] | 'all' {
  if (known === 'all' || more === 'all') return 'all'
  return [...known, ...more.filter((name) => !known.includes(name))]
}

/** The databases that a list names. A canceled database is never cut over. */
export function ordersFor(
  requested: RequestedActions,
  databases: readonly string[],
): { readonly cutover: readonly string[]; readonly cancel: readonly string[] } {
  const of = (list: readonly string[] | 'all'): readonly string[] =>
    databases.filter((name) => list === 'all' || list.includes(name))
  const cancel = of(requested.cancel)
  return { cancel, cutover: of(requested.cutover).filter((name) => !cancel.includes(name)) }
}
