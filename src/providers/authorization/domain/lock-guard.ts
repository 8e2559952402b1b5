/**
 * Enforces locks (facts 9.8): `ReadOnly` refuses every PUT, PATCH, DELETE and POST at its scope and below,
 * `CanNotDelete` every DELETE; what holds a locked thing cannot be deleted either. Locks themselves are
 * never held by locks, so whoever may manage them can always take them off.
 */

import { refuse } from '#kernel/error.ts'
import { isWithin, scopeKeys, scopeOf } from '#kernel/resource-id.ts'
import type { Resource } from '#plane/declare/resource.ts'
import type { Guard, GuardRequest } from '#plane/guard.ts'
import type { Lock } from '../resources/locks/model.ts'
import { extensionsAt } from './list-around-scope.ts'

export const lockType = 'Authorization/locks'

/** Types that locks do not affect: locks themselves, and a question that changes nothing. */
const exempt: ReadonlySet<string> = new Set([lockType, 'Authorization/checkAccess'])

/** The locks that a refusal names; where there are more, it says so. */
const shownMax = 5

export const lockGuard: Guard = {
  idleWithout: lockType,
  async check(request) {
    if (exempt.has(request.type)) return
    const { reader, effect, id } = request
    // Most installations have no lock, and then this is the only cost.
    if ((await reader.count({ type: lockType, under: '/', limit: 1 })) === 0) return
    const names = new Set<string>()
    for await (const lock of locksOn(request)) {
      if (names.size > shownMax) break
      if (holds(lock.model, effect)) names.add(lock.id.text)
    }
    if (names.size === 0) return
    const shown = [...names].slice(0, shownMax).join("', '")
    throw refuse.ScopeLocked({
      scope: id.text,
      locks: names.size > shownMax ? `${shown}', …` : shown,
    })
  },
}

/** All that may hold: one that is not read would not be enforced. */
async function* locksOn(request: GuardRequest): AsyncGenerator<Resource<Lock>> {
  for (const scopeKey of scopeKeys(request.id)) {
    if (scopeKey !== '/') yield* locksAt(request, scopeKey)
  }
  // Deleting the scope would delete what is below it and locked, too.
  if (request.effect === 'delete') yield* locksBelow(request)
}

function holds({ level }: Lock, effect: GuardRequest['effect']): boolean {
  return level === 'ReadOnly' || effect === 'delete'
}

/** The locks made at that very scope. */
async function* locksAt(
  { reader, words }: GuardRequest,
  scopeKey: string,
): AsyncGenerator<Resource<Lock>> {
  const under = extensionsAt(words, lockType, scopeKey)
  for await (const row of reader.each({ type: lockType, under })) {
    // The type's `toModel` made the rows. Extensions of a lock are in the same range.
    if (scopeOf(row.id).key === scopeKey) yield row as Resource<Lock>
  }
}

async function* locksBelow({ reader, id }: GuardRequest): AsyncGenerator<Resource<Lock>> {
  for await (const row of reader.each({ type: lockType, under: id })) {
    // The type's `toModel` made the rows.
    if (isWithin(row.id.key, id.key)) yield row as Resource<Lock>
  }
}
