/**
 * Summaries of events, for stores whose indexes would slow every write: one row for each 512 events, with the moments
 * between which they lie and a Bloom filter of what a question may name. Made in the background; the newest events
 * have none yet and are looked at themselves. A summary may say "perhaps" wrongly, and "no" never.
 *
 * Only for a store with one writer: there, events of lower numbers cannot appear later.
 */

import type { Log, Timers } from '#kernel/ports.ts'
import { startRounds } from '#kernel/rounds.ts'
import type { Sql } from '#stores/store.ts'

export const blockRows = 512
const filterBytes = 2048
const hashes = 7
const everyMilliseconds = 1000
/** The number of blocks made before other work gets a turn. */
const blocksAtOnce = 8

/** The terms of a query. All values are in lower case, except ids that are compared as they are. */
export interface Terms {
  readonly key?: string
  readonly correlation?: string
  /** The caller's id, or its name in lower case. An event has both. */
  readonly caller?: string
  readonly subscription?: string
  /** The key of a resource group. */
  readonly group?: string
  /** `vendor.storage` */
  readonly provider?: string
}

export type TermName = keyof Terms

interface Summarized {
  readonly key: string
  readonly action: string
  readonly correlationId: string
  readonly principalId: string
  readonly caller: string
}

/** All terms except the caller, who has two. */
export function termsOf({
  key,
  action,
  correlationId,
}: Pick<Summarized, 'key' | 'action' | 'correlationId'>): Terms {
  const [, first, subscription, second, group] = key.split('/', 5)
  const isInside = first === 'subscriptions' && subscription !== undefined
  return {
    key,
    correlation: correlationId,
    provider: (action.split('/', 1)[0] ?? '').toLowerCase(),
    ...(isInside ? { subscription } : {}),
    ...(isInside && second === 'resourcegroups' && group !== undefined
      ? { group: `/subscriptions/${subscription}/resourcegroups/${group}` }
      : {}),
  }
}

export class TermFilter {
  readonly bytes: Uint8Array
  readonly #latest = new Map<string, string>()

  constructor(bytes: Uint8Array = new Uint8Array(filterBytes)) {
    this.bytes = bytes
  }

  addAll(event: Summarized): void {
    const terms = termsOf(event)
    for (const name in terms) {
      const value = terms[name as TermName]
      if (value !== undefined) this.#addNew(name, value)
    }
    this.#addNew('caller', event.principalId)
    this.#addNew('callerName', event.caller.toLowerCase(), 'caller')
  }

  /** Most events share most of their terms with the event before. */
  #addNew(which: string, value: string, name = which): void {
    if (this.#latest.get(which) === value) return
    this.#latest.set(which, value)
    this.#add(`${name}:${value}`)
  }

  /** False only when no added event has all of the terms. */
  mayHold(terms: Terms): boolean {
    return Object.entries(terms).every(([name, value]) => this.#has(`${name}:${value}`))
  }

  #add(term: string): void {
    const [start, step] = hashOf(term)
    for (let at = 0; at < hashes; at++) {
      const bit = (start + Math.imul(at, step)) >>> 0
      const byte = (bit >>> 3) % filterBytes
      this.bytes[byte] = (this.bytes[byte] ?? 0) | (1 << (bit & 7))
    }
  }

  #has(term: string): boolean {
    const [start, step] = hashOf(term)
    for (let at = 0; at < hashes; at++) {
      const bit = (start + Math.imul(at, step)) >>> 0
      if (((this.bytes[(bit >>> 3) % filterBytes] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}

/** FNV-1a, and a second hash derived from it. */
function hashOf(text: string): readonly [start: number, step: number] {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  let mixed = Math.imul(hash ^ (hash >>> 15), 0x85ebca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
  return [hash >>> 0, (mixed ^ (mixed >>> 16)) | 1]
}

export const blockQueries = {
  lastBlock: 'select last from event_blocks order by last desc limit 1',
  nextRows: `select number, at, key, action, correlation_id, principal_id, caller from events
    where number > ? order by number limit ?`,
} as const

/** Summarizes the next full block. Returns false when there is none. */
export async function summarizeBlock(sql: Sql): Promise<boolean> {
  const [block] = await sql.all(blockQueries.lastBlock)
  const after = Number(block?.['last'] ?? 0)
  const rows = await sql.all(blockQueries.nextRows, after, blockRows)
  if (rows.length < blockRows) return false
  const filter = new TermFilter()
  let earliest = Number.MAX_SAFE_INTEGER
  let latest = 0
  for (const row of rows) {
    filter.addAll({
      key: String(row['key']),
      action: String(row['action']),
      correlationId: String(row['correlation_id']),
      principalId: String(row['principal_id']),
      caller: String(row['caller']),
    })
    earliest = Math.min(earliest, Number(row['at']))
    latest = Math.max(latest, Number(row['at']))
  }
  await sql.transact((tx) =>
    tx.run(
      `insert into event_blocks (last, first, earliest, latest, terms) values (?, ?, ?, ?, ?)
        on conflict do nothing`,
      Number(rows.at(-1)?.['number']),
      // A block begins where the block before ended, so nothing lies between two blocks.
      after + 1,
      earliest,
      latest,
      filter.bytes,
    ),
  )
  return true
}

export function startBlockSummaries(options: {
  readonly sql: Sql
  readonly timers: Timers
  readonly log: Log
}): AsyncDisposable {
  const { sql, timers, log } = options
  // PostgreSQL searches the records without summaries.
  if (sql.dialect !== 'sqlite') return { async [Symbol.asyncDispose]() {} }
  // A new start does other things first.
  return startRounds(timers, everyMilliseconds * 5, async (isStopped) => {
    try {
      for (let made = 0; made < blocksAtOnce && !isStopped(); made++) {
        if (!(await summarizeBlock(sql))) return everyMilliseconds
      }
      return everyMilliseconds / 10
    } catch (error) {
      log.warn({ error: String(error) }, 'the audit trail could not be summarized')
      return everyMilliseconds * 10
    }
  })
}
