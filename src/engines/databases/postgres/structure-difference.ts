/**
 * What differs between the structures of source and target, in a person's words. Pure.
 *
 * What a server prints of its objects depends on its version, so of an object that is at both ends what it was when the copy
 * was made, the text of expressions and definitions is not compared: the dump has carried it. Every other fact is.
 */

import { quoteName } from './connect.ts'
import type { RowsOfTables } from './replaced-rows.ts'

/** An index, a column, a policy. */
export interface StructureObject {
  readonly kind: string
  /** Names as they are, from the schema down. */
  readonly path: readonly string[]
  /** What is known of it, in the server's words. What is not there has no entry. */
  readonly facts: Readonly<Record<string, string>>
}

export interface Structure {
  /** Of the server. */
  readonly major: number
  readonly objects: readonly StructureObject[]
  /** Of the catalogs that it was read from; an earlier version of this program recorded none. */
  readonly signature?: string
  /** Of the source, where its rows stood when they were copied; likewise. */
  readonly rows?: RowsOfTables
}

/** The structure at one end when the copy was made, where that is known, and now. */
interface End {
  readonly copied: Structure | undefined
  readonly now: Structure
}

interface Comparison {
  readonly source: End
  readonly target: End
  /** False when the copy was made without owners and grants. */
  readonly owners: boolean
  /** Tables, as `nameOfTable` says, whose replica identity is the migration's own for now. */
  readonly identities: ReadonlySet<string>
  /** The target's server was built without lz4, so columns have no compression there. */
  readonly leavesCompression: boolean
  /** When triggers fire that are silent at the target for now, by table and name. */
  readonly silenced: ReadonlyMap<string, string>
  /** Tables of the source whose changes are not sent. */
  readonly unsent: readonly (readonly string[])[]
}

const partsOfRelations: ReadonlySet<string> = new Set([
  'column',
  'constraint',
  'index',
  'trigger',
  'rule',
  'policy',
])

const relations: ReadonlySet<string> = new Set([
  'table',
  'partitioned table',
  'foreign table',
  'view',
  'materialized view',
  'type',
])

/** Its path begins with that of a relation. */
export const isOfRelation = ({ kind }: StructureObject): boolean =>
  relations.has(kind) || partsOfRelations.has(kind)

/** The kind of a table that no dump carries. */
export const tableOfExtension = 'table of an extension'
const helpForTable =
  ': it comes with its extension alone. ALTER EXTENSION … DROP TABLE … makes it one of the database'

export const keyOf = ({ kind, path }: Pick<StructureObject, 'kind' | 'path'>): string =>
  JSON.stringify([kind, ...path])

/** As the rest of the migration names it in SQL. */
export function nameOfTable([schema = '', table = '']: readonly string[]): string {
  return `${quoteName(schema)}.${quoteName(table)}`
}

type Objects = ReadonlyMap<string, StructureObject>

/** Facts that a server prints from what it has parsed, or finds by that. */
const printed: ReadonlySet<string> = new Set([
  'definition',
  'computed type',
  'default',
  'generated as',
  'using',
  'with check',
  'partition key',
  'partition bound',
])

/** One line a difference, in the order of the source's objects, then of the target's. */
export function differencesOf(comparison: Comparison): readonly string[] {
  const of = (structure: Structure | undefined): Objects | undefined =>
    structure && new Map(structure.objects.map((one) => [keyOf(one), one]))
  const source = {
    copied: of(comparison.source.copied),
    now: of(comparison.source.now) ?? new Map(),
  }
  const target = {
    copied: of(comparison.target.copied),
    now: of(comparison.target.now) ?? new Map(),
  }
  const isAlike =
    comparison.source.now.major === comparison.target.now.major
      ? (one: string, other: string) => one === other
      : (one: string, other: string) => portable(one) === portable(other)
  const isAlikeInCopy = (one: string, other: string, fact: string): boolean =>
    printed.has(fact) || isAlike(one, other)
  const lines = comparison.unsent.map(
    (path) =>
      `the table ${nameInWords(path)} was made during the migration, and its rows do not come over`,
  )
  const missing = new Set(comparison.unsent.map(nameOfTable))
  const say = (one: StructureObject, line: string): void => {
    lines.push(`the ${one.kind} ${objectInWords(one)} ${line}`)
  }
  // Of a table that is missing, what is in it is not said besides.
  const sayMissing = (one: StructureObject, line: string): void => {
    const table = nameOfTable(one.path)
    if (missing.has(table)) return
    if (relations.has(one.kind)) missing.add(table)
    say(one, line)
  }
  const isCompared = ({ kind }: StructureObject): boolean =>
    comparison.owners || kind !== 'default privileges'
  for (const one of ordered(source.now)) {
    const key = keyOf(one)
    const other = target.now.get(key)
    if (other === undefined) {
      const help = one.kind === tableOfExtension ? helpForTable : ''
      if (isCompared(one)) sayMissing(one, `is at the source and not at the target${help}`)
      continue
    }
    const isCopy = isAsCopied(comparison, source, key) && isAsCopied(comparison, target, key)
    const facts = differingFacts(comparison, [one, other], isCopy ? isAlikeInCopy : isAlike)
    if (facts.length > 0) say(one, `differs: ${facts.join('; ')}`)
  }
  for (const one of ordered(target.now)) {
    const key = keyOf(one)
    if (source.now.has(key)) continue
    // Made with the copy, by the newer server itself.
    const isOfCopy = source.copied?.has(key) === false && isAsCopied(comparison, target, key)
    if (!isOfCopy && isCompared(one)) sayMissing(one, 'is at the target and not at the source')
  }
  return lines
}

/** Tables and schemas before what is in them. */
function ordered(objects: Objects): readonly StructureObject[] {
  const all = [...objects.values()]
  return [
    ...all.filter(({ kind }) => !partsOfRelations.has(kind)),
    ...all.filter(({ kind }) => partsOfRelations.has(kind)),
  ]
}

interface Copied {
  readonly copied: Objects | undefined
  readonly now: Objects
}

function isAsCopied(comparison: Comparison, { copied, now }: Copied, key: string): boolean {
  const [before, after] = [copied?.get(key), now.get(key)]
  if (before === undefined || after === undefined) return false
  const names = new Set([...Object.keys(before.facts), ...Object.keys(after.facts)])
  return [...names].every(
    (name) => before.facts[name] === after.facts[name] || isOwnIdentity(comparison, after, name),
  )
}

function isOwnIdentity(comparison: Comparison, one: StructureObject, fact: string): boolean {
  return fact === 'replica identity' && comparison.identities.has(nameOfTable(one.path))
}

function differingFacts(
  comparison: Comparison,
  [here, there]: readonly [StructureObject, StructureObject],
  isAlike: (one: string, other: string, fact: string) => boolean,
): readonly string[] {
  const said: string[] = []
  for (const fact of new Set([...Object.keys(here.facts), ...Object.keys(there.facts)])) {
    if (!comparison.owners && (fact === 'owner' || fact === 'privileges')) continue
    if (isOwnIdentity(comparison, here, fact)) continue
    if (comparison.leavesCompression && fact === 'compression') continue
    const one = here.facts[fact]
    const silent =
      fact === 'fires'
        ? comparison.silenced.get(`${nameOfTable(there.path)} ${there.path[2] ?? ''}`)
        : undefined
    const other = silent?.toLowerCase() ?? there.facts[fact]
    const hasBoth = (one !== undefined && other !== undefined) || fact === 'privileges'
    if (one === other || (hasBoth && isAlike(one ?? '', other ?? '', fact))) continue
    const [left, right] = valuesInWords(one, other)
    said.push(`${fact} ${left} at the source, ${right} at the target`)
  }
  return said
}

/** Without quoted names that a dot follows. In one pass, since a server may say anything. */
function withoutQualifiers(text: string): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const end = endOfQuoted(text, at)
    if (text[end] === '.') {
      kept += text.slice(from, at)
      from = end + 1
    }
    at = end
  }
  return kept + text.slice(from)
}

/** Behind the quotation mark that ends what begins here; twice in a row they are one of the name. */
function endOfQuoted(text: string, begin: number): number {
  for (let at = text.indexOf('"', begin + 1); at >= 0; at = text.indexOf('"', at + 2)) {
    if (text[at + 1] !== '"') return at + 1
  }
  return text.length
}

/**
 * Versions qualify and quote names and set parentheses differently, and know privileges of their own. What is left is
 * compared.
 */
function portable(text: string): string {
  return withoutQualifiers(text)
    .replaceAll(/(?:^|, )[^:,]*: MAINTAIN(?: with grant option)?(?=, |$)/g, '')
    .replaceAll(/ ?MAINTAIN( with grant option)?/g, '')
    .replace(/^, /, '')
    .replaceAll(/[\s()"]+/g, '')
}

const valueMax = 120
/** Of a long value, so much is shown ahead of where the two begin to differ. */
const leadMax = 40

function valuesInWords(
  one: string | undefined,
  other: string | undefined,
): readonly [string, string] {
  const lines = [one, other].map((value) =>
    value
      ?.replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  )
  const [left, right] = lines
  let same = 0
  if (left !== undefined && right !== undefined && Math.max(left.length, right.length) > valueMax) {
    while (same < left.length && left[same] === right[same]) same++
  }
  const from = Math.max(0, same - leadMax)
  const shown = (line: string | undefined): string => {
    if (line === undefined) return '(none)'
    const part = line.slice(from, from + valueMax)
    return `${from > 0 ? '…' : ''}${part}${from + valueMax < line.length ? '…' : ''}`
  }
  return [shown(left), shown(right)]
}

function unquoted(text: string): string {
  return text.replaceAll(/"([a-z_][a-z0-9_]*)"/g, '$1')
}

/** `z of public.note`, `public.f(integer)`. */
function objectInWords({ kind, path }: StructureObject): string {
  const last = path.at(-1) ?? ''
  if (partsOfRelations.has(kind))
    return `${nameInWords([last])} of ${nameInWords(path.slice(0, -1))}`
  if (last.startsWith('(')) return `${nameInWords(path.slice(0, -1))}${unquoted(last)}`
  return nameInWords(path.filter((name) => name !== ''))
}

/** Quoted where it would not be read as one word. */
export function nameInWords(path: readonly string[]): string {
  return path.map((name) => (/^[\w$]+$/.test(name) ? name : quoteName(name))).join('.')
}

const linesMax = 10

/** The first of them, for a message. */
export function linesInWords(lines: readonly string[]): string {
  const more = lines.length > linesMax ? `; and ${lines.length - linesMax} more` : ''
  return `${lines.slice(0, linesMax).join('; ')}${more}`
}
