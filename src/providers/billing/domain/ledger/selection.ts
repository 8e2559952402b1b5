/**
 * Which dimensions a question is about, and how many entries that is, told from the statements' own counts without
 * looking at an entry. Where the dimensions are too many to keep in mind, the text index and the entries decide.
 */

import { positionIn } from '#kernel/text-search.ts'
import { acceptedOf } from '#plane/next-turn.ts'
import { number } from '../cells.ts'
import { statementDimensions, sumsAsText, totalsOf } from '../tables.ts'
import type { Dimension, Entry, Row, Statement } from './entry.ts'
import type { KnownDimension } from './known-statements.ts'
import type { LedgerDependencies } from './page.ts'
import { type LedgerQuery, noRow } from './query.ts'
import { idList } from './scan.ts'
import { indexedWords, isOfEntry, isOfStatement } from './search.ts'
import { entriesOfWords } from './word-entries.ts'

export interface Selection {
  /** Nothing can match. */
  readonly isEmpty: boolean
  /** Fewer than all dimensions match. */
  readonly narrows: boolean
  /** The dimensions' part must be checked entry by entry. */
  readonly isPartial: boolean
  readonly noRow: Row
  /** The matching dimensions of a statement; undefined when all match, or they are unknown. */
  of(statementId: number): { readonly ids: readonly number[]; readonly entries: number } | undefined
  /** Like `of`, with their content, also when all match; undefined when they are unknown. */
  known(statementId: number): readonly KnownDimension[] | undefined
  /** All dimensions of a statement, matching or not. */
  all(statementId: number): readonly KnownDimension[] | undefined
  /** Whether the shared part of an entry matches. */
  allows(entry: Entry): boolean
  /** Entries that match by their own values, not only by shared ones. */
  readonly named: readonly Entry[]
  /** Decides nothing beforehand: every entry is checked. Used when there are too many dimensions. */
  readonly whole: Selection | undefined
}

export async function selectDimensions(
  deps: LedgerDependencies,
  statements: readonly Statement[],
  query: LedgerQuery,
  words: readonly string[],
): Promise<Selection> {
  const shares = ({ dimension, statement }: Shared, word: string): boolean =>
    positionIn(deps.dimensions.textOf(dimension), word) >= 0 ||
    isOfStatement(deps.words, statement, word)
  const matches = (dimension: Dimension, statement: Statement): boolean =>
    query.ofDimension(dimension, statement) &&
    words.every((word) => shares({ dimension, statement }, word))
  const allows = ({ dimension, statement }: Entry): boolean => matches(dimension, statement)
  const allowsOwn = (entry: Entry): boolean =>
    query.ofDimension(entry.dimension, entry.statement) &&
    words.every(
      (word) => shares(entry, word) || isOfEntry(deps.words, entry.row, entry.statement, word),
    )
  const isAsked = query.asksDimensions || words.length > 0
  const isSorted = query.order.some(({ field }) => field.place.kind !== 'column')
  if (!isAsked && !isSorted) {
    return {
      isEmpty: statements.length === 0,
      narrows: false,
      isPartial: false,
      noRow,
      of: () => undefined,
      known: () => undefined,
      all: () => undefined,
      allows,
      named: [],
      whole: undefined,
    }
  }
  const own = words.length === 0 ? [] : await entriesOfWords(deps, statements, words)
  const named = await acceptedOf(own ?? [], (entry) => allowsOwn(entry) && !allows(entry))
  const all = await knownDimensions(deps, statements)
  const whole: Selection = {
    isEmpty: false,
    narrows: true,
    isPartial: true,
    noRow,
    of: () => undefined,
    known: (statementId) => all?.get(statementId),
    all: (statementId) => all?.get(statementId),
    allows: allowsOwn,
    named: [],
    whole: undefined,
  }
  if (own === undefined) return whole
  if (all === undefined) {
    const found = await byIndex(deps, words, statements, { allows, isAsked })
    return { ...found, isEmpty: found.isEmpty && named.length === 0, named, whole }
  }
  const chosen = new Map<number, readonly KnownDimension[]>()
  for (const statement of statements) {
    const known = all.get(statement.id) ?? []
    if (!isAsked) {
      chosen.set(statement.id, known)
      continue
    }
    // The words match everything of the statement except its invoice, which it gets when it is closed.
    const asked = JSON.stringify([statement.invoice ?? '', query.filterText, ...words])
    const isMatch = ({ dimension }: KnownDimension): boolean => matches(dimension, statement)
    const some =
      deps.known.kept(known, asked) ??
      deps.known.keep(known, asked, await acceptedOf(known, isMatch))
    chosen.set(statement.id, some)
  }
  return {
    isEmpty: named.length === 0 && [...chosen.values()].every((some) => some.length === 0),
    narrows: isAsked,
    isPartial: false,
    noRow,
    of(statementId) {
      const some = chosen.get(statementId) ?? []
      if (!isAsked) return undefined
      return {
        ids: some.map(({ id }) => id),
        entries: some.reduce((sum, { entries }) => sum + entries, 0),
      }
    },
    known: (statementId) => chosen.get(statementId),
    all: (statementId) => all.get(statementId) ?? [],
    allows,
    named,
    whole,
  }
}

type Shared = Pick<Entry, 'dimension' | 'statement'>

/** Every dimension of the statements; undefined when there are too many. */
export async function knownDimensions(
  deps: LedgerDependencies,
  statements: readonly Statement[],
): Promise<ReadonlyMap<number, readonly KnownDimension[]> | undefined> {
  const known = new Map<number, readonly KnownDimension[]>()
  let left = deps.limits.dimensionsMax
  // Before the rows are read: rows of a later state are then asked for again.
  const restoration = await deps.dimensions.restoration()
  for (const statement of statements) {
    const found =
      deps.known.get(statement, restoration) ?? (await readKnown(deps, statement, restoration))
    left -= found?.length ?? left + 1
    if (found === undefined || left < 0) return undefined
    known.set(statement.id, found)
  }
  return known
}

async function readKnown(
  { sql, dimensions, limits, known }: LedgerDependencies,
  statement: Statement,
  restoration: string,
): Promise<readonly KnownDimension[] | undefined> {
  const rows = await sql.all(
    `select dimension_id, entries, ${sumsAsText()} from billing_statement_dimensions where statement_id = ? limit ?`,
    statement.id,
    limits.dimensionsMax + 1,
  )
  if (rows.length > limits.dimensionsMax) return undefined
  const counts = rows.map(statementDimensions.row)
  const found = await dimensions.read(counts.map(({ dimensionId }) => dimensionId))
  const list = counts.map((row): KnownDimension => {
    const id = row.dimensionId
    const dimension = found.get(id)
    if (dimension === undefined) throw new Error(`the dimension ${id} is not there`)
    return { id, dimension, entries: row.entries, totals: totalsOf(row) }
  })
  known.put(statement, restoration, list)
  return list
}

/** Too many dimensions: the text index finds words, and the entries decide the rest. */
async function byIndex(
  { sql, limits, words: vendorWords }: LedgerDependencies,
  words: readonly string[],
  statements: readonly Statement[],
  { allows, isAsked }: { readonly allows: (entry: Entry) => boolean; readonly isAsked: boolean },
): Promise<Omit<Selection, 'named' | 'whole'>> {
  // What may match a statement need not be in any text.
  const indexed = indexedWords(words).filter(
    (word) => !statements.some((one) => isOfStatement(vendorWords, one, word)),
  )
  let ids: readonly number[] | undefined
  if (indexed.length > 0) {
    const rows =
      sql.dialect === 'sqlite'
        ? await sql.all(
            'select rowid as id from billing_dimension_texts where billing_dimension_texts match ? limit ?',
            indexed.map((word) => `"${word.replaceAll('"', '""')}"`).join(' AND '),
            limits.dimensionsMax + 1,
          )
        : await sql.all(
            `select rowid as id from billing_dimension_texts
             where ${indexed.map(() => 'text like ?').join(' and ')} limit ?`,
            ...indexed.map((word) => `%${word.replace(/[\\%_]/g, (mark) => `\\${mark}`)}%`),
            limits.dimensionsMax + 1,
          )
    if (rows.length <= limits.dimensionsMax) ids = rows.map((row) => number(row, 'id'))
  }
  const counts = new Map<number, { readonly ids: readonly number[]; readonly entries: number }>()
  for (const statement of ids === undefined ? [] : statements) {
    const rows = await sql.all(
      `select dimension_id, entries from billing_statement_dimensions
       where statement_id = ? and dimension_id in (${idList(sql.dialect)})`,
      statement.id,
      JSON.stringify(ids),
    )
    counts.set(statement.id, {
      ids: rows.map((row) => number(row, 'dimension_id')),
      entries: rows.reduce((sum, row) => sum + number(row, 'entries'), 0),
    })
  }
  return {
    isEmpty: ids !== undefined && [...counts.values()].every(({ entries }) => entries === 0),
    narrows: isAsked,
    isPartial: isAsked,
    noRow,
    of: (statementId) => counts.get(statementId),
    known: () => undefined,
    all: () => undefined,
    allows,
  }
}
