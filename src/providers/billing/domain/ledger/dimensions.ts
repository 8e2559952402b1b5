/**
 * The dictionary of dimensions: what many entries share, stored once, found by content. Dimensions are never
 * changed, so what was read once is kept until the store has another state, in which ids may stand for
 * others. Only what is committed is kept.
 */

import { createHash } from 'node:crypto'
import { restorationOf } from '#stores/restored.ts'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import { number, placeholders, text } from '../cells.ts'
import { dimensions as dimensionRows } from '../tables.ts'
import type { Dimension } from './entry.ts'
import { searchedText } from './search.ts'

const rememberedMax = 100_000
/** Characters of the dimensions that are remembered by their content, and by their spelling. */
const charactersMax = 16 * 1024 * 1024
const askedAtOnce = 500
const insertedAtOnce = 50
/** Of a dimension, beside its texts. */
const ownCharacters = 256

interface Identified {
  readonly ids: readonly number[]
  readonly fresh: ReadonlyMap<string, number>
  /** The state of the store that the ids are of. */
  readonly restoration: string
}

export class Dimensions {
  readonly #sql: Sql
  readonly #idOf = new Map<string, number>()
  readonly #byId = new Map<number, Dimension>()
  readonly #spelled = new Map<string, Dimension>()
  #characters = 0
  #spelledCharacters = 0
  /** The state of the store that the ids are of. */
  #restoration: string | undefined
  readonly #keys = new WeakMap<Dimension, Key>()
  readonly #texts = new WeakMap<Dimension, string>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** The state that the store has. Forgets the ids of an earlier one. */
  async restoration(reads: Pick<Sql, 'all'> = this.#sql): Promise<string> {
    const found = await restorationOf(this.#sql.dialect, reads)
    if (found !== this.#restoration) {
      this.#idOf.clear()
      this.#byId.clear()
      this.#characters = 0
      this.#restoration = found
    }
    return found
  }

  /** The ids of dimensions, in order; new ones are added. The account is locked, so no other state comes meanwhile. */
  async identify(tx: SqlTx, dimensions: readonly Dimension[]): Promise<Identified> {
    const restoration = await this.restoration(tx)
    const keys = dimensions.map((dimension) => this.#key(dimension))
    const known = new Map<string, number>()
    const fresh = new Map<string, number>()
    const wanted = new Map<string, string>()
    for (const { digest, document } of keys) {
      const id = this.#idOf.get(digest)
      if (id === undefined) wanted.set(digest, document)
      else known.set(digest, id)
    }
    const digests = [...wanted.keys()].sort()
    for (let at = 0; at < digests.length; at += askedAtOnce) {
      await this.#find(tx, digests.slice(at, at + askedAtOnce), fresh)
    }
    const missing = digests.filter((digest) => !fresh.has(digest))
    for (let at = 0; at < missing.length; at += insertedAtOnce) {
      await this.#add(tx, missing.slice(at, at + insertedAtOnce), wanted, fresh)
    }
    const ids = keys.map(({ digest }) => {
      const id = known.get(digest) ?? fresh.get(digest)
      if (id === undefined) throw new Error('a dimension has no id')
      return id
    })
    return { ids, fresh, restoration }
  }

  /** In order of their digests: a concurrent writer of the same ones waits, and then finds them. */
  async #add(
    tx: SqlTx,
    digests: readonly string[],
    documents: ReadonlyMap<string, string>,
    found: Map<string, number>,
  ): Promise<void> {
    const added = await tx.all(
      `insert into billing_dimensions (digest, document)
       values ${digests.map(() => '(?, ?)').join(', ')} on conflict do nothing returning id, digest`,
      ...digests.flatMap((digest) => [digest, documents.get(digest) ?? '']),
    )
    for (const row of added) {
      const [id, digest] = [number(row, 'id'), text(row, 'digest')]
      found.set(digest, id)
      // Only this file writes documents.
      const dimension = JSON.parse(documents.get(digest) ?? '') as Dimension
      await tx.run(
        'insert into billing_dimension_texts (rowid, text) values (?, ?)',
        id,
        searchedText(dimension),
      )
    }
    const others = digests.filter((digest) => !found.has(digest))
    if (others.length > 0) await this.#find(tx, others, found)
  }

  async #find(tx: SqlTx, digests: readonly string[], found: Map<string, number>): Promise<void> {
    const rows = await tx.all(
      `select id, digest from billing_dimensions where digest in (${placeholders(digests.length)})`,
      ...digests,
    )
    for (const row of rows) found.set(text(row, 'digest'), number(row, 'id'))
  }

  /** One object for all with the same spelling: most rows of a file share theirs with earlier ones. */
  shared(spelling: string, make: () => Dimension): Dimension {
    const known = this.#spelled.get(spelling)
    if (known !== undefined) return known
    this.#spelledCharacters += spelling.length + ownCharacters
    if (this.#spelledCharacters > charactersMax) {
      this.#spelled.clear()
      this.#spelledCharacters = spelling.length + ownCharacters
    }
    const made = make()
    this.#spelled.set(spelling, made)
    return made
  }

  #key(dimension: Dimension): Key {
    const known = this.#keys.get(dimension)
    if (known !== undefined) return known
    const key = keyOf(dimension)
    this.#keys.set(dimension, key)
    return key
  }

  /** The text that a search reads. */
  textOf(dimension: Dimension): string {
    let known = this.#texts.get(dimension)
    if (known === undefined) {
      known = searchedText(dimension)
      this.#texts.set(dimension, known)
    }
    return known
  }

  /** Remembers what a committed transaction added. */
  remember({ fresh, restoration }: Pick<Identified, 'fresh' | 'restoration'>): void {
    if (restoration !== this.#restoration) return
    if (this.#idOf.size + fresh.size > rememberedMax) this.#idOf.clear()
    for (const [digest, id] of fresh) this.#idOf.set(digest, id)
  }

  /** The dimensions of these ids, which come from committed rows. */
  async read(ids: Iterable<number>): Promise<ReadonlyMap<number, Dimension>> {
    const restoration = await this.restoration()
    const found = new Map<number, Dimension>()
    const missing: number[] = []
    for (const id of new Set(ids)) {
      const known = this.#byId.get(id)
      if (known === undefined) missing.push(id)
      else found.set(id, known)
    }
    for (let at = 0; at < missing.length; at += askedAtOnce) {
      const some = missing.slice(at, at + askedAtOnce)
      const rows = await this.#sql.all(
        `select id, document from billing_dimensions where id in (${placeholders(some.length)})`,
        ...some,
      )
      for (const row of rows) this.#keep(row, found, restoration)
    }
    return found
  }

  #keep(row: SqlRow, found: Map<number, Dimension>, restoration: string): void {
    const { id, document } = dimensionRows.row(row)
    found.set(id, document)
    if (restoration !== this.#restoration) return
    const characters = charactersOf(document)
    this.#characters += characters
    if (this.#characters > charactersMax) {
      this.#byId.clear()
      this.#characters = characters
    }
    this.#byId.set(id, document)
  }
}

export function charactersOf(dimension: Dimension): number {
  let sum = ownCharacters
  for (const value of Object.values(dimension)) {
    sum += typeof value === 'string' ? value.length : JSON.stringify(value ?? null).length
  }
  return sum
}

interface Key {
  readonly digest: string
  readonly document: string
}

/** The same content has the same key, whatever the order of its members. */
function keyOf(dimension: Dimension): Key {
  const members = Object.entries(dimension)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  const document = JSON.stringify(Object.fromEntries(members))
  return { digest: createHash('sha256').update(document).digest('base64url'), document }
}
