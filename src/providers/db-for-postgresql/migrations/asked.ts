/**
 * What flags and lists of one body ask for (facts 8.4): a flag with a list is about those databases, a flag alone
 * about all. Cancel wins over cutover. Pure.
 */

import type { Asked, Flag } from './model.ts'

export interface Orders {
  readonly triggerCutover?: Flag
  readonly cancel?: Flag
  readonly cutoverOn?: readonly string[]
  readonly cancelOn?: readonly string[]
}

export const nothingAsked: Asked = { cutover: [], cancel: [] }

/**
 * `before` is what stands in the resource, `given` what the body says. The list of databases to cancel works with
 * either flag: the contract pairs it with `triggerCutover`, older texts with `cancel`.
 */
export function askedAfter(asked: Asked, before: Orders, given: Orders): Asked {
  const now = { ...before, ...given }
  const isNew = (list: readonly string[] | undefined, known: Asked['cancel']): readonly string[] =>
    known === 'all' ? [] : (list ?? []).filter((name) => !known.includes(name))
  const flags = [now.triggerCutover, now.cancel].includes('True')
  // A list that has had its effect stays to be seen and has no other.
  const cancelOn = flags ? (given.cancelOn ?? isNew(before.cancelOn, asked.cancel)) : []
  const cutoverOn =
    now.triggerCutover === 'True' ? (given.cutoverOn ?? isNew(before.cutoverOn, asked.cutover)) : []
  const cancelsAll = given.cancel === 'True' && cancelOn.length === 0
  const cutsAll = given.triggerCutover === 'True' && cutoverOn.length === 0 && cancelOn.length === 0
  return {
    cutover: join(asked.cutover, cutsAll && given.cancel !== 'True' ? 'all' : cutoverOn),
    cancel: join(asked.cancel, cancelsAll ? 'all' : cancelOn),
  }
}

function join(
  known: readonly string[] | 'all',
  more: readonly string[] | 'all',
): readonly string[] | 'all' {
  if (known === 'all' || more === 'all') return 'all'
  return [...known, ...more.filter((name) => !known.includes(name))]
}

/** Of these databases, those a list is about; what is cancelled is not cut over. */
export function ordersFor(
  asked: Asked,
  databases: readonly string[],
): { readonly cutover: readonly string[]; readonly cancel: readonly string[] } {
  const of = (list: readonly string[] | 'all'): readonly string[] =>
    databases.filter((name) => list === 'all' || list.includes(name))
  const cancel = of(asked.cancel)
  return { cancel, cutover: of(asked.cutover).filter((name) => !cancel.includes(name)) }
}
