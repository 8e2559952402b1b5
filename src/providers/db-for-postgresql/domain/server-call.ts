/** What is asked of a registered server itself while a request waits for it. */

import { nameOf } from '#kernel/resource-id.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { refusePostgres } from '../errors.ts'
import { type FoundServer, isNowhere, noAddress } from '../resources/flexible-servers/model.ts'
import { attempt, type Failure, failed, failureText } from './engine-failure.ts'

/** What the server says no to is the caller's; one that does not answer is refused here. */
export async function ask<T>(
  { id, model }: FoundServer,
  work: () => Promise<T>,
): Promise<T | Failure> {
  const name = nameOf(id)
  if (isNowhere(model.host)) throw refusePostgres.ServerNotReachable({ name, reason: noAddress })
  const outcome = await attempt(work)
  if (failed(outcome) && outcome.passes) {
    throw refusePostgres.ServerNotReachable({ name, reason: failureText(outcome) })
  }
  return outcome
}

/** Where it can only be the server's sign-in that is wrong. */
export async function look<T>(server: FoundServer, work: () => Promise<T>): Promise<T> {
  const outcome = await ask(server, work)
  if (!failed(outcome)) return outcome
  const reason = failureText(outcome)
  throw refusePostgres.ServerNotReachable({ name: nameOf(server.id), reason })
}

/** Can a name that a server gives stand in an id? What cannot is not shown: a server may say anything. */
export function isPathName(name: unknown): name is string {
  return typeof name === 'string' && /^(?!\.{1,2}$)[^/\p{Cc}\ufffd]{1,63}$/u.test(name)
}

/** The cursor is where the next page begins. */
export function pageOf<T>({ cursor, limit }: ListContext, all: readonly T[]): ListPage<T> {
  const from = cursor === undefined ? 0 : Number(cursor)
  const items = all.slice(from, from + limit)
  const next = from + items.length
  return { items, ...(next < all.length ? { next: String(next) } : {}) }
}
