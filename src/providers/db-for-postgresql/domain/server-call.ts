/** Calls to a registered server that a request waits for. */

import { nameOf } from '#kernel/resource-id.ts'
import type { ListContext, ListPage } from '#plane/declare/wire.ts'
import { refusePostgres } from '../errors.ts'
import { type FoundServer, isNowhere, noAddress } from '../resources/flexible-servers/model.ts'
import { attempt, type Failure, failed, failureText } from './engine-failure.ts'

/** A refusal by the server goes to the caller. A server that does not answer becomes an error here. */
export async function callServer<T>(
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

/** For calls where only the server's credentials can be wrong. */
export async function requireAnswer<T>(server: FoundServer, work: () => Promise<T>): Promise<T> {
  const outcome = await callServer(server, work)
  if (!failed(outcome)) return outcome
  const reason = failureText(outcome)
  throw refusePostgres.ServerNotReachable({ name: nameOf(server.id), reason })
}

/**
 * True if a name from the server can be a segment of a resource id. Other names are not shown, since a server may
 * return anything.
 */
export function isPathName(name: unknown): name is string {
  return typeof name === 'string' && /^(?!\.{1,2}$)[^/\p{Cc}\ufffd]{1,63}$/u.test(name)
}

/** The cursor is the position of the next page. */
export function pageOf<T>({ cursor, limit }: ListContext, all: readonly T[]): ListPage<T> {
  const from = cursor === undefined ? 0 : Number(cursor)
  const items = all.slice(from, from + limit)
  const next = from + items.length
  return { items, ...(next < all.length ? { next: String(next) } : {}) }
}
