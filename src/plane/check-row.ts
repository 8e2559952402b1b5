/**
 * Checks a row that the plane did not write itself, such as one of a saved state that somebody edited: what every request
 * reads of a document has its type, and its answer fits the schema of its type.
 */

import Type from 'typebox'
import type { ResourceRow } from '#stores/store.ts'
import { checkSchema } from './check.ts'
import { readRow, toWire } from './document.ts'
import type { Registry } from './registry.ts'

const text = Type.String()
const document = Type.Object({
  location: Type.Optional(text),
  tags: Type.Optional(Type.Record(text, text)),
  system: Type.Object({
    createdAt: text,
    createdBy: text,
    createdByType: text,
    lastModifiedAt: text,
    lastModifiedBy: text,
    lastModifiedByType: text,
  }),
  state: text,
  deleting: Type.Optional(Type.Literal(true)),
})

/** Throws where the row is not as its type writes it. Types that nobody serves any more are not known, and are let be. */
export function checkRow(registry: Registry, row: ResourceRow): void {
  checkSchema(document, 'ignore', JSON.parse(row.document))
  const compiled = registry.byKey(row.type)
  const [version] = compiled?.versions.values() ?? []
  if (compiled === undefined || version === undefined) return
  // As a client gets it: without members that are undefined.
  const shown: unknown = JSON.parse(
    JSON.stringify(toWire(compiled, version, readRow(row), registry.words)),
  )
  checkSchema(version.answer, 'ignore', shown)
}
