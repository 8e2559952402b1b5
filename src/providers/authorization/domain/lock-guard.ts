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

const shownMax = 5
/** The number of locks read at one scope above, and below a scope that is to be deleted. */
const locksAtOnce = 200

export const lockGuard: Guard = {
  async check(question) {
    if (exempt.has(question.type)) return
    const { reader, effect, id } = question
    // Most installations have no lock, and then this is the only cost.
    if ((await reader.count({ type: lockType, under: '/', limit: 1 })) === 0) return
    const found: Resource<Lock>[] = []
    for (const scopeKey of scopeKeys(id)) {
      if (scopeKey !== '/') found.push(...(await locksAt(question, scopeKey)))
    }
    const holding = found.filter(({ model }) => holds(model, effect))
    if (effect === 'delete') holding.push(...(await locksBelow(question)))
    if (holding.length === 0) return
    const names = [...new Set(holding.map((lock) => lock.id.text))]
    const shown = names.slice(0, shownMax).join("', '")
    throw refuse.ScopeLocked({
      scope: id.text,
      locks: names.length > shownMax ? `${shown}', …` : shown,
    })
  },
}

function holds({ level }: Lock, effect: GuardRequest['effect']): boolean {
  return level === 'ReadOnly' || effect === 'delete'
}

/** The locks made at that very scope. */
async function locksAt(
  { reader, words }: GuardRequest,
  scopeKey: string,
): Promise<readonly Resource<Lock>[]> {
  const under = extensionsAt(words, lockType, scopeKey)
  const rows = await reader.list({ type: lockType, under, limit: locksAtOnce })
  // The type's `toModel` made the rows. Extensions of a lock are in the same range.
  return (rows as readonly Resource<Lock>[]).filter((row) => scopeOf(row.id).key === scopeKey)
}

/** Of any level: deleting the scope would delete what they protect. */
async function locksBelow({ reader, id }: GuardRequest): Promise<readonly Resource<Lock>[]> {
  const rows = await reader.list({ type: lockType, under: id, limit: locksAtOnce })
  // The type's `toModel` made the rows.
  return (rows as readonly Resource<Lock>[]).filter((row) => isWithin(row.id.key, id.key))
}
