/**
 * Rows to resources, resources to rows, resources to answers. The one place that knows what a stored
 * document holds; stores see text.
 */

import { parseExactJson, writeExactIntegers } from '#kernel/exact-json.ts'
import { nameOf, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { SystemData } from '#kernel/system-data.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { ResourceRow } from '#stores/store.ts'
import type { CompiledStoredType } from './compiled-type.ts'
import type { Resource } from './declare/resource.ts'
import type { Version, View } from './declare/wire.ts'

// Documents, answers and records of templates hold integers of 64 bits.
writeExactIntegers()

/** The content of `ResourceRow.document`. The names are short because this text is parsed on every read. */
interface Document {
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly system: SystemData
  readonly state: string
  readonly model: unknown
  readonly observed?: unknown
  /** Set when a delete was accepted: nothing is desired any more. */
  readonly deleting?: true
}

/** A resource with what only the plane may know of it. */
export interface StoredResource extends Resource {
  readonly deleting: boolean
}

/** `asked` is the id by which the row was found. Where the row's id is spelled the same, it need not be parsed. */
export function readRow(row: ResourceRow, asked?: ResourceId): StoredResource {
  // `writeRow` alone writes documents, and rows hold ids that were parsed before.
  const document = parseExactJson(row.document) as Document
  return {
    id: asked?.text === row.id ? asked : idOfRow(row),
    ...(document.location === undefined ? {} : { location: document.location }),
    ...(document.tags === undefined ? {} : { tags: document.tags }),
    systemData: document.system,
    state: document.state,
    model: document.model,
    ...(document.observed === undefined ? {} : { observed: document.observed }),
    etag: row.etag,
    generation: row.generation,
    deleting: document.deleting === true,
  }
}

function idOfRow(row: ResourceRow): ResourceId {
  const id = parseResourceId(row.id)
  if (id === undefined) throw new Error(`the store holds a malformed id: ${row.id}`)
  return id
}

export function writeRow(compiled: CompiledStoredType, resource: StoredResource): ResourceRow {
  return { ...cellsOf(compiled, resource), document: documentOf(resource) }
}

/** For a dry run: hardly anybody reads such a row, so its document is written when it is read. */
export function writeRowLate(compiled: CompiledStoredType, resource: StoredResource): ResourceRow {
  let document: string | undefined
  return {
    ...cellsOf(compiled, resource),
    get document() {
      document ??= documentOf(resource)
      return document
    },
  }
}

function documentOf(resource: StoredResource): string {
  const document: Document = {
    ...(resource.location === undefined ? {} : { location: resource.location }),
    ...(resource.tags === undefined ? {} : { tags: resource.tags }),
    system: resource.systemData,
    state: resource.state,
    model: resource.model,
    ...(resource.observed === undefined ? {} : { observed: resource.observed }),
    ...(resource.deleting ? { deleting: true as const } : {}),
  }
  return JSON.stringify(document)
}

function cellsOf(
  compiled: CompiledStoredType,
  resource: StoredResource,
): Omit<ResourceRow, 'document'> {
  const { stored } = compiled
  return {
    key: resource.id.key,
    id: resource.id.text,
    type: compiled.key,
    tracked:
      stored.tracked !== undefined &&
      (stored.tracked.location !== 'as-given' || resource.location !== undefined),
    uniqueKey: stored.unique?.key(resource.id, resource.model, resource.observed) ?? null,
    etag: resource.etag,
    generation: resource.generation,
  }
}

/** The answer for a resource in one version: the contract's envelope around what the type shows. */
export function toWire(
  compiled: CompiledStoredType,
  version: Version<unknown>,
  resource: Resource,
  words: VendorWords,
): object {
  const view: View = {
    id: resource.id,
    systemData: resource.systemData,
    state: resource.state,
    observed: resource.observed,
    etag: resource.etag,
    ...(resource.location === undefined ? {} : { location: resource.location }),
    ...(resource.tags === undefined ? {} : { tags: resource.tags }),
    words,
  }
  const { stored } = compiled
  if (stored.envelope !== undefined) return stored.envelope(resource, view)
  return {
    id: resource.id.text,
    name: nameOf(resource.id),
    type: compiled.wireType,
    ...(stored.tracked === undefined
      ? {}
      : { location: resource.location, tags: resource.tags ?? {} }),
    ...version.fromModel(resource.model, view),
    systemData: resource.systemData,
  }
}
