/**
 * What is released never changes: a hash of every operation in every api-version, of every type of the business
 * application's versions, and of every migration in every dialect. A hash is of what clients and stores see, so
 * files and identifiers may be renamed freely. A property that came to a released shape later (`added`) has a hash of
 * its own. Pure, but for making the inputs.
 */

import { createHash } from 'node:crypto'
import { businessModel } from '#business/model.ts'
import { metadataOf } from '#business/odata/metadata.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { OpenApiDocument } from '#plane/openapi.ts'
import { coreMigrations as postgresCore } from '#stores/postgres/migrations/core.ts'
import { coreMigrations as sqliteCore } from '#stores/sqlite/migrations/core.ts'
import type { Migration } from '#stores/store.ts'
import { areaMigrations } from '../../src/main/migrations.ts'

/** By the name of what is released: its hash. */
export type Released = ReadonlyMap<string, string>

interface ReleaseFaults {
  /** Released, and different now. */
  readonly changed: readonly string[]
  /** Released, and no longer there. */
  readonly gone: readonly string[]
  /** There, and not yet released. */
  readonly added: readonly string[]
}

export function currentShapes(documents: readonly OpenApiDocument[], words: VendorWords): Released {
  return new Map([
    ...documents.flatMap(operationHashes),
    ...(['v1.0', 'v2.0'] as const).flatMap((version) =>
      businessHashes(version, metadataOf(businessModel, words.namespace, version)),
    ),
    ...migrationHashes('sqlite', [...sqliteCore, ...areaMigrations]),
    ...migrationHashes('postgres', [...postgresCore, ...areaMigrations]),
  ])
}

export function compareReleased(released: Released, current: Released): ReleaseFaults {
  return {
    changed: [...released.keys()].filter(
      (name) => current.has(name) && current.get(name) !== released.get(name),
    ),
    gone: [...released.keys()].filter((name) => !current.has(name)),
    added: [...current.keys()].filter((name) => !released.has(name)),
  }
}

/** Adds what is new. A hash that is there already stays as it is, whatever the shape has become. */
export function freeze(released: Released, current: Released): Released {
  return new Map([...current, ...released])
}

/** What is wrong, in the words of the one who has to mend it; empty when nothing is. */
export function explainFaults({ changed, gone, added }: ReleaseFaults): string {
  const list = (names: readonly string[]): string => names.map((name) => `\n  ${name}`).join('')
  return [
    changed.length === 0
      ? ''
      : `Released and changed: make a new one (a new api-version, a new migration), and leave these as they were:${list(changed)}\n`,
    gone.length === 0 ? '' : `Released and gone, though clients and stores use it:${list(gone)}\n`,
    added.length === 0
      ? ''
      : `Not frozen yet; when their shape is final, run \`npm run freeze\`:${list(added)}\n`,
  ].join('')
}

function operationHashes({ namespace, version, document }: OpenApiDocument): [string, string][] {
  const { paths, components } = document as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly components: { readonly schemas: Readonly<Record<string, unknown>> }
  }
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): [string, string] => [
        // The names of a path's variables are ours; clients see only where they stand.
        `${namespace} ${version} ${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
        hashOf(wireShape(operation)),
      ]),
  )
  const ofErrors = Object.entries(components.schemas).filter(([, schema]) => !isAround(schema))
  const errors = ofErrors.map(([name, schema]): [string, string] => [
    `${namespace} ${version} ${name}`,
    hashOf(wireShape(schema)),
  ])
  const additions = Object.entries(paths).flatMap(([path, item]) => {
    // Of an item and of its list, read or written: one property.
    const type = path.replace(/^.*\/providers\/[^/]+/, '').replaceAll(/\/\{\w+\}/g, '')
    return additionsOf(item).map(({ place, schema }): [string, string] => [
      `${namespace} ${version} added ${type} ${place.replace(/^value\./, '')}`,
      hashOf(wireShape(schema)),
    ])
  })
  return [...operations, ...errors, ...additions]
}

/** Properties marked as added, outermost first, each by the names that lead to it. */
function additionsOf(
  value: unknown,
  names: readonly string[] = [],
  isMap = false,
): readonly { readonly place: string; readonly schema: unknown }[] {
  if (Array.isArray(value)) return value.flatMap((one) => additionsOf(one, names))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => {
    const inner = isMap ? [...names, key] : names
    if (key === 'allOf' && isDeclaredLater({ allOf: part })) {
      return [{ place: [...names, 'answer'].join('.'), schema: part }]
    }
    if (!isMap && (key === 'schema' || key === 'items') && isAdded(part)) {
      return [{ place: [...names, 'answer'].join('.'), schema: part }]
    }
    if (isMap && isAdded(part)) return [{ place: inner.join('.'), schema: part }]
    return additionsOf(part, inner, !isMap && (key === 'properties' || key === 'headers'))
  })
}

/** See `added` in `plane/declare/added.ts`. */
function isAdded(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'x-added' in schema
}

/** Part of what stands around every answer, which is the same in all of them (decision 0083). */
function isAround(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'x-envelope' in schema
}

/** Words for people, and lists that only ever grow. */
const notWire = new Set([
  'description',
  'summary',
  'title',
  'operationId',
  'examples',
  'x-alike-versions',
  'x-relaxed',
  'x-unanswered',
  // Names in the query of an operation: more of them may come.
  'parameters',
])
/** Keys whose value is by names of ours, not by keywords. */
const namesOf = new Set(['properties', 'patternProperties', 'responses', 'headers'])
/** Keywords of JSON Schema whose members have no order. */
const unordered = new Set(['required', 'enum', 'anyOf', 'oneOf', 'allOf'])

/** A schema less what no client can tell, in one order. `isMap`: the keys are names of properties, not keywords. */
function wireShape(value: unknown, isMap = false): unknown {
  if (Array.isArray(value)) return value.map((one) => wireShape(one))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(isMap ? value : withUnanswered(withRelaxed(withoutEnvelope(value))))
      .filter(([key, part]) =>
        isMap
          ? !isAdded(part) && !isAround(part)
          : !notWire.has(key) && !(key === 'headers' && Object.values(part).every(isAdded)),
      )
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, part]) => {
        const isNames = !isMap && namesOf.has(key)
        const shape = wireShape(part, isNames)
        return [key, !isMap && unordered.has(key) && Array.isArray(shape) ? sorted(shape) : shape]
      }),
  )
}

/** As it was released: what may be left out by now was required then (see `relaxed` in `plane/declare/added.ts`). */
function withRelaxed(schema: object): object {
  const { properties, required } = schema as {
    readonly properties?: Readonly<Record<string, unknown>>
    readonly required?: readonly string[]
  }
  if (typeof properties !== 'object' || properties === null) return schema
  const names = Object.entries(properties).flatMap(([name, part]) =>
    typeof part === 'object' && part !== null && 'x-relaxed' in part ? [name] : [],
  )
  return names.length === 0 ? schema : { ...schema, required: [...(required ?? []), ...names] }
}

/** Without what stands around every answer, which no type declares: it is the same in all of them (decision 0083). */
function withoutEnvelope(given: object): object {
  const { allOf, content } = given as {
    readonly allOf?: readonly object[]
    readonly content?: { readonly 'application/json'?: { readonly schema?: AnswerSchema } }
  }
  const [around, own] = allOf ?? []
  if (own !== undefined && isEnvelope(around)) return own
  const schema = content?.['application/json']?.schema
  const item = schema?.properties?.value?.items
  if (![schema, item].some((one) => isEnvelope(one) || isDeclaredLater(one))) return given
  return Object.fromEntries(Object.entries(given).filter(([key]) => key !== 'content'))
}

interface AnswerSchema {
  readonly properties?: { readonly value?: { readonly items?: object } }
}

/** An answer of which nothing was declared when it was released: in an envelope, or that of an action. */
function isDeclaredLater(schema: { readonly allOf?: readonly object[] } | undefined): boolean {
  return isAdded(schema) || isAdded(schema?.allOf?.[1])
}

/** As it was released: with the statuses that were declared and are never answered (decision 0167). */
function withUnanswered(operation: object): object {
  const { 'x-unanswered': statuses, responses } = operation as {
    readonly 'x-unanswered'?: readonly string[]
    readonly responses?: object
  }
  if (statuses === undefined) return operation
  return {
    ...operation,
    responses: { ...responses, ...Object.fromEntries(statuses.map((status) => [status, {}])) },
  }
}

function isEnvelope(schema: object | undefined): boolean {
  if (isAround(schema)) return true
  const { $ref } = (schema ?? {}) as { readonly $ref?: string }
  return $ref !== undefined && /\/(Computed|Tracked)?Resource$/.test($ref)
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  return values.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))
}

/**
 * Each type, enumeration, action and set of `$metadata`, and by itself each property that came to a type later. Companies
 * list every set, so that list is left out.
 */
function businessHashes(version: string, metadata: string): [string, string][] {
  const elements =
    /^<(EntityType|ComplexType|EnumType|EntitySet) Name="(\w+)"[\s\S]*?<\/\1>|^<(Action) Name="(\w+)".*Type="[\w.]*?(\w+)"/gm
  const later = /^<(?:(?:Navigation)?Property|Member) Name="(\w+)".*RevisionKind\/Added"/
  const added = new Map<string, string>()
  const hashes: [string, string][] = []
  for (const [text, kind, name, action, verb, bound] of metadata.matchAll(elements)) {
    // What is annotated describes the shape and is none.
    const shapeOf = (line: string) =>
      line.replace(/><Annotation .*<\/((?:Navigation)?Property|Member)>$/, '/>')
    const lines = text
      .split('\n')
      .filter((line) => !line.includes('ContainsTarget') && !line.startsWith('<Annotation'))
    for (const line of lines) {
      const [, property] = later.exec(line) ?? []
      if (property === undefined) continue
      added.set(property, `${added.get(property) ?? ''} ${name} `)
      hashes.push([`business ${version} added ${name}.${property}`, hashOf(shapeOf(line))])
    }
    const [, type = ''] = / EntityType="[\w.]*?(\w+)"/.exec(text) ?? []
    const isLater = (line: string) => {
      const [, path = ''] = /^<NavigationPropertyBinding Path="(\w+)"/.exec(line) ?? []
      return later.test(line) || added.get(path)?.includes(` ${type} `) === true
    }
    hashes.push([
      `business ${version} ${kind ?? action} ${name ?? `${bound}.${verb}`}`,
      hashOf(
        lines
          .filter((line) => !isLater(line))
          .map(shapeOf)
          .toSorted(),
      ),
    ])
  }
  return hashes
}

function migrationHashes(
  dialect: 'sqlite' | 'postgres',
  migrations: readonly Migration[],
): [string, string][] {
  return migrations.map((one) => [
    `migration ${one.number} ${one.area} ${dialect}`,
    hashOf(one[dialect].map(plainSql)),
  ])
}

/** A statement as the store reads it: case and blanks outside of quotes say nothing. */
export function plainSql(statement: string): string {
  return statement
    .split(/('(?:[^']|'')*')/)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part
            .toLowerCase()
            .replaceAll(/\s+/g, ' ')
            .replaceAll(/ ?([(),]) ?/g, '$1'),
    )
    .join('')
    .trim()
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16)
}

/** As it is committed: what shares a name and a hash but for its version stands together. */
export function writeReleased(released: Released): string {
  const subjects = new Map<string, Map<string, string[]>>()
  for (const [name, hash] of [...released].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const { subject, version } = parted(name)
    const hashes = subjects.get(subject) ?? new Map<string, string[]>()
    hashes.set(hash, [...(hashes.get(hash) ?? []), version])
    subjects.set(subject, hashes)
  }
  const written = [...subjects].map(([subject, hashes]) => {
    const lines = [...hashes].map(
      ([hash, versions]) => `  ${JSON.stringify(hash)}: ${JSON.stringify(versions)}`,
    )
    return ` ${JSON.stringify(subject)}: {\n${lines.join(',\n')}\n }`
  })
  return `{\n${written.join(',\n')}\n}\n`
}

export function readReleased(text: string): Released {
  const grouped = JSON.parse(text) as Readonly<
    Record<string, Readonly<Record<string, readonly string[]>>>
  >
  return new Map(
    Object.entries(grouped).flatMap(([subject, hashes]) =>
      Object.entries(hashes).flatMap(([hash, versions]) =>
        versions.map((version): [string, string] => [joined(subject, version), hash]),
      ),
    ),
  )
}

/** The second word of a name is its version, or the number of a migration. */
function parted(name: string): { readonly subject: string; readonly version: string } {
  const [first = '', version = '', ...rest] = name.split(' ')
  return { subject: [first, ...rest].join(' '), version }
}

function joined(subject: string, version: string): string {
  const [first = '', ...rest] = subject.split(' ')
  return [first, version, ...rest].join(' ')
}
