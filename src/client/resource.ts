/** Reads properties of a resource in an answer. A missing one is empty; nothing throws. */

import { isJsonObject } from '#kernel/patch.ts'
import { textOf } from './answer.ts'

export function propertiesOf(resource: unknown): Readonly<Record<string, unknown>> {
  const properties = isJsonObject(resource) ? resource['properties'] : undefined
  return isJsonObject(properties) ? properties : {}
}

/** The text of a property. */
export function propertyOf(resource: unknown, name: string): string {
  return textOf(propertiesOf(resource), name) ?? ''
}

/** The list under `key`. */
export function listOf(value: unknown, key: string): readonly unknown[] {
  const found = isJsonObject(value) ? value[key] : undefined
  return Array.isArray(found) ? found : []
}
