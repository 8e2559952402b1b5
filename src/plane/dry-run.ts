/**
 * Tries writes without keeping them. A dry run reads its own writes first and the rows of the store below them. It
 * holds no transaction of the store, so it may take long without blocking anybody.
 */

import { refuse } from '#kernel/error.ts'
import { compareKeys } from '#stores/key-range.ts'
import { isCut } from '#stores/list-budget.ts'
import {
  type Claim,
  type EventRow,
  type ListQuery,
  type OperationRow,
  type Reads,
  type ResourceRow,
  StoreConflict,
  type Tx,
  type UniqueEntry,
  type UniqueQuery,
} from '#stores/store.ts'
import { roomForRows } from './behalf-of.ts'
import { freeTurn, largeDocument } from './next-turn.ts'

/** Characters of longer documents that are kept of what was read for the resources that were tried. */
const keptCharactersMax = 1024 * 1024
/** A shorter one is kept, whatever else there is: those of scopes and parents are short. */
const shortDocument = 4096
/** Characters that overwritten resources may have together, with what they keep of what was there. */
const carriedCharactersMax = 16 * 1024 * 1024

interface Expected {
  readonly type: string
  readonly under: string
  /** Its unique key is one of its siblings alone. */
  readonly isUniqueBelow: boolean
}

export class DryRun implements Tx {
  readonly isDryRun = true
  readonly #beneath: Reads
  /** Rows written; undefined for a removed one. */
  readonly #written = new Map<string, ResourceRow | undefined>()
  #longCharacters = 0
  /** Of rows that were long and were overwritten: an older version of a type keeps what it does not name. */
  #carriedCharacters = 0
  /**
   * Rows read from the store. They do not change during the dry run, unless they are long: of those that are overwritten the
   * document goes, and others are read anew.
   */
  readonly #read = new Map<string, ResourceRow | undefined>()
  /** Counts read from the store: each PUT of a plan asks for the same ones. */
  readonly #counts = new Map<string, number>()
  /** Rows of the store that were overwritten here, without their documents. */
  readonly #covered = new Map<string, ResourceRow>()
  readonly #operations = new Map<string, OperationRow>()
  /** Indexes over the written rows: by unique key, and by the resource of an operation. */
  readonly #unique = new Map<string, string>()
  readonly #operationsOf = new Map<string, Set<string>>()
  /** The type and the parent that were expected last, and whether the store has none such. */
  #siblings = { type: '', under: '', areNone: false }
  /** Resources whose unique keys no row of the store can have: it has none of their type below their parent. */
  readonly #isFree = new Set<string>()
  /** Hears of each row that is written here, and of what is taken back. */
  shared: { wrote(key: string, type: string): void; forget(): void } | undefined
  /** The types of rows that were written or overwritten here: most counts are of other types. */
  readonly #types = new Set<string>()
  /** What takes back the writes since the last `keep`. */
  readonly #undo: (() => void)[] = []

  constructor(beneath: Reads) {
    this.#beneath = beneath
  }

  /** What was written stays for the writes that follow. */
  keep(): void {
    this.#undo.length = 0
    this.#forgetLong()
  }

  /** As if nothing had been written since the last `keep`. */
  takeBack(): void {
    this.#forgetLong()
    if (this.#undo.length === 0) return
    for (const undo of this.#undo.reverse()) undo()
    this.#undo.length = 0
    this.shared?.forget()
  }

  #put<V>(map: Map<string, V>, key: string, value: V): void {
    const isKnown = map.has(key)
    const before = map.get(key) as V // used only where it is known
    this.#undo.push(() => {
      if (isKnown) map.set(key, before)
      else map.delete(key)
    })
    map.set(key, value)
  }

  /** Whether the tag belongs to a row that was written here, so that no client can have read it. */
  hasWritten(etag: string | undefined): boolean {
    for (const row of this.#written.values()) if (row?.etag === etag) return true
    return false
  }

  get(key: string): Promise<ResourceRow | undefined> {
    if (this.#written.has(key)) return Promise.resolve(this.#written.get(key))
    return this.#read.has(key) ? Promise.resolve(this.#read.get(key)) : this.#fetch(key)
  }

  /**
   * Of a resource of this type below this parent: where the store has none, its row is not looked for. A plan makes many
   * siblings, mostly under a new parent. Nor is a row looked for that has its unique key, where only siblings can.
   */
  expect(key: string, expected: Expected): Promise<void> | undefined {
    if (this.#read.has(key) || this.#written.has(key)) return undefined
    const { type, under } = this.#siblings
    if (type !== expected.type || under !== expected.under) return this.#expectFirst(key, expected)
    this.#note(key, expected)
    return undefined
  }

  async #expectFirst(key: string, expected: Expected): Promise<void> {
    const { type, under } = expected
    const found = await this.#countBeneath({ type, under, limit: 1 })
    this.#siblings = { type, under, areNone: found === 0 }
    this.#note(key, expected)
  }

  #note(key: string, { isUniqueBelow }: Expected): void {
    if (!this.#siblings.areNone) return
    this.#read.set(key, undefined)
    if (isUniqueBelow) this.#isFree.add(key)
  }

  /** A plan may try hundreds of resources, each of which is smaller than a large one: together they count as such. */
  async #fetch(key: string): Promise<ResourceRow | undefined> {
    const row = await this.#beneath.get(key)
    const { length } = row?.document ?? ''
    const room = length > largeDocument ? roomForRows(length) : undefined
    if (room !== undefined) await room
    this.#read.set(key, row)
    if (row !== undefined && row.document.length > shortDocument) {
      this.#longCharacters += row.document.length
    }
    return row
  }

  /** A plan may have a thousand resources of megabytes each. */
  #forgetLong(): void {
    if (this.#longCharacters <= keptCharactersMax) return
    this.#longCharacters = 0
    for (const [key, row] of this.#read) {
      if (row !== undefined && row.document.length > shortDocument) this.#read.delete(key)
    }
  }

  pause(): Promise<void> | undefined {
    return freeTurn()
  }

  lock(key: string): Promise<ResourceRow | undefined> {
    return this.get(key)
  }

  async list(query: ListQuery): Promise<readonly ResourceRow[]> {
    if (query.limit <= 0) return []
    const { bytesMax = Number.POSITIVE_INFINITY } = query
    const found: ResourceRow[] = []
    let bytes = 0
    let { after } = query
    do {
      const { rows, end } = await this.#listOnce({
        ...query,
        ...(after === undefined ? {} : { after }),
      })
      for (const row of rows) {
        found.push(row)
        if (bytesMax !== Number.POSITIVE_INFINITY) bytes += Buffer.byteLength(row.document)
        if (found.length === query.limit || bytes >= bytesMax) return found
      }
      after = end
    } while (after !== undefined)
    return found
  }

  /** Rows in order, up to the key where the list of the store ended at its bound of bytes. */
  async #listOnce(
    query: ListQuery,
  ): Promise<{ readonly rows: readonly ResourceRow[]; readonly end: string | undefined }> {
    // Overwritten rows are answered from here, so more rows are read from the store.
    const beneathQuery = { ...query, limit: query.limit + this.#covered.size }
    const beneath = await this.#beneath.list(beneathQuery)
    const isShort = query.bytesMax !== undefined && isCut(beneath, beneathQuery)
    const end = isShort ? beneath.at(-1)?.key : undefined
    const own = this.#matching(this.#written.values(), query).filter(
      ({ key }) => end === undefined || compareKeys(key, end) <= 0,
    )
    const rows = [...beneath.filter(({ key }) => !this.#written.has(key)), ...own]
    return { rows: rows.sort((a, b) => compareKeys(a.key, b.key)), end }
  }

  async count(query: Omit<ListQuery, 'after'>): Promise<number> {
    if (query.limit <= 0) return 0
    // Each PUT asks about locks, and hardly any plan has one.
    if (query.type !== undefined && !this.#types.has(query.type)) return this.#countBeneath(query)
    const own = this.#matching(this.#written.values(), query).length
    const hidden = this.#matching(this.#covered.values(), query).length
    const beneath = await this.#countBeneath({ ...query, limit: query.limit + hidden })
    return Math.min(query.limit, own + beneath - hidden)
  }

  async #countBeneath(query: Omit<ListQuery, 'after'>): Promise<number> {
    const { type, tracked, under, limit } = query
    // No type and no path holds a line break.
    const key = `${limit}\n${tracked}\n${type}\n${under}`
    const known = this.#counts.get(key) ?? (await this.#beneath.count(query))
    this.#counts.set(key, known)
    return known
  }

  async operation(id: string): Promise<OperationRow | undefined> {
    return this.#operations.get(id) ?? this.#beneath.operation(id)
  }

  async runningOperation(resourceKey: string): Promise<OperationRow | undefined> {
    for (const id of this.#operationsOf.get(resourceKey) ?? []) {
      const own = this.#operations.get(id)
      if (own?.resourceKey === resourceKey && own.running) return own
    }
    const row = await this.#beneath.runningOperation(resourceKey)
    return row === undefined || this.#operations.has(row.id) ? undefined : row
  }

  async keyOfUnique(uniqueKey: string): Promise<string | undefined> {
    const own = this.#written.get(this.#unique.get(uniqueKey) ?? '')
    if (own?.uniqueKey === uniqueKey) return own.key
    const key = await this.#beneath.keyOfUnique(uniqueKey)
    return key === undefined || this.#written.has(key) ? undefined : key
  }

  async listUnique(query: UniqueQuery): Promise<readonly UniqueEntry[]> {
    const { prefix, after, limit } = query
    if (limit <= 0) return []
    const own = [...this.#written.values()].flatMap((row) => {
      const uniqueKey = row?.uniqueKey ?? ''
      const isAfter = after === undefined || compareKeys(uniqueKey, after) > 0
      const isOne = uniqueKey !== prefix && uniqueKey.startsWith(prefix) && isAfter
      return row !== undefined && isOne ? [{ uniqueKey, key: row.key }] : []
    })
    const beneath = await this.#beneath.listUnique({ ...query, limit: limit + this.#covered.size })
    const all = [...beneath.filter(({ key }) => !this.#written.has(key)), ...own]
    return all.sort((a, b) => compareKeys(a.uniqueKey, b.uniqueKey)).slice(0, limit)
  }

  async insert(row: ResourceRow): Promise<void> {
    if ((await this.get(row.key)) !== undefined) {
      throw new StoreConflict(`Another transaction wrote '${row.key}'.`)
    }
    await this.#write(row)
  }

  async update(row: ResourceRow, etag: string): Promise<void> {
    await this.#requireTag(row.key, etag)
    await this.#write(row)
  }

  async remove(key: string, etag: string): Promise<void> {
    await this.#requireTag(key, etag)
    this.#set(key, undefined)
  }

  async putOperation(row: OperationRow): Promise<void> {
    this.#setOperation(row)
  }

  #setOperation(row: OperationRow): void {
    const { id, resourceKey } = row
    this.#put(this.#operations, id, row)
    const known = this.#operationsOf.get(resourceKey)
    if (known === undefined) this.#operationsOf.set(resourceKey, new Set([id]))
    else known.add(id)
  }

  // Side effects that no later write reads are left out.
  async schedule(_key: string, _dueAt: number): Promise<void> {}
  async unschedule(_key: string): Promise<void> {}
  async record(_event: EventRow): Promise<void> {}
  async follow(_feed: string, _key: string): Promise<void> {}
  async alone(_name: string): Promise<void> {}
  /** What was written before in the plan is in no feed. */
  async position(_feed: string): Promise<number> {
    return -1
  }

  async assertClaim(claim: Claim): Promise<void> {
    throw new Error(`a dry run does no background work, as on ${claim.key}`)
  }

  async #write(row: ResourceRow): Promise<void> {
    const { key, uniqueKey } = row
    const owner = uniqueKey === null ? undefined : await this.#ownerOf(uniqueKey, key)
    if (uniqueKey !== null && owner !== undefined && owner !== key) {
      throw new StoreConflict(`Another row has the unique key of '${key}'.`, uniqueKey)
    }
    this.#set(key, row)
  }

  #count(row: ResourceRow | undefined): void {
    this.#carriedCharacters += row?.document.length ?? 0
    if (this.#carriedCharacters <= carriedCharactersMax) return
    throw refuse.InvalidRequestContent({
      reason: `with what they keep of what is stored, its resources have more than ${carriedCharactersMax} characters: deploy fewer at once`,
    })
  }

  #ownerOf(uniqueKey: string, key: string): string | undefined | Promise<string | undefined> {
    if (!this.#isFree.has(key)) return this.keyOfUnique(uniqueKey)
    const own = this.#written.get(this.#unique.get(uniqueKey) ?? '')
    return own?.uniqueKey === uniqueKey ? own.key : undefined
  }

  #set(key: string, row: ResourceRow | undefined): void {
    // Every writer has read the row before.
    const before = this.#written.has(key) ? undefined : this.#read.get(key)
    if (before !== undefined) {
      this.#put(this.#covered, key, { ...before, document: '' })
      this.#types.add(before.type)
    }
    if (before !== undefined && before.document.length > shortDocument) this.#count(row)
    this.#put(this.#written, key, row)
    if (row !== undefined) this.#types.add(row.type)
    if (row !== undefined && row.uniqueKey !== null) this.#put(this.#unique, row.uniqueKey, key)
    this.shared?.wrote(key, row?.type ?? '')
  }

  async #requireTag(key: string, etag: string): Promise<void> {
    if ((await this.get(key))?.etag !== etag) {
      throw new StoreConflict(`'${key}' no longer has the expected tag.`)
    }
  }

  #matching(
    rows: Iterable<ResourceRow | undefined>,
    query: Omit<ListQuery, 'limit'>,
  ): readonly ResourceRow[] {
    const { type, tracked, under, after } = query
    if (type !== undefined && !this.#types.has(type)) return []
    const below = under === '/' ? '/' : `${under}/`
    return [...rows].filter((row): row is ResourceRow => {
      if (row === undefined || (tracked === true && !row.tracked)) return false
      if (type !== undefined && type !== row.type) return false
      if (row.key !== under && !row.key.startsWith(below)) return false
      return after === undefined || compareKeys(row.key, after) > 0
    })
  }
}
