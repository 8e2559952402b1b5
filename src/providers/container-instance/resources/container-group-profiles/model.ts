/**
 * The stored form of a profile: its revisions, oldest first, each in its shown form and, complete, as sealed text.
 */

import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import type { Seal } from '#kernel/ports.ts'

export interface ProfileRevision {
  readonly revision: number
  readonly zones?: readonly string[]
  /** Without its secrets, as in answers. */
  readonly shown: JsonObject
  /** The `properties` of the body with its secrets, for groups made from it. */
  readonly sealed: string
}

export interface ContainerGroupProfile {
  readonly place: string
  /** Never empty; the last is the current one. */
  readonly revisions: readonly ProfileRevision[]
}

export function sealRevision(seal: Seal, place: string, properties: object): string {
  return seal.seal(JSON.stringify(properties), contextOf(place))
}

/** The complete properties of a revision; undefined when this installation cannot open them. */
export function openRevision(
  seal: Seal,
  place: string,
  { sealed }: Pick<ProfileRevision, 'sealed'>,
): JsonObject | undefined {
  const text = seal.open(sealed, contextOf(place))
  if (text === undefined) return undefined
  const properties: unknown = JSON.parse(text)
  return isJsonObject(properties) ? properties : undefined
}

function contextOf(place: string): string {
  return `${place}|profile`
}
