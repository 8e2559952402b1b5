/** The names, labels and annotations of an installation's objects in a cluster. Pure. */

import { createHash } from 'node:crypto'
import { EngineError, isToken, labelsOf } from '../engine.ts'
import { at, type Json, textAt } from '../json.ts'

export interface Names {
  readonly installation: string
  readonly group: string
  /** The name of the Pod, its Service and the Secret of its environment. */
  readonly name: string
}

/** A label's value may be one character shorter than a token. */
const labelLengthMax = 63
const digestLength = 40

/** Throws `refused` for text that is no token. */
export function namesOf(installation: string, group: string): Names {
  for (const token of [installation, group]) {
    if (!isToken(token)) throw new EngineError('refused', `'${token}' is not a token`)
  }
  // A digest, because a Service's name has at most 63 characters and no separator that tokens lack.
  return { installation, group, name: `armature-${digestOf(`${installation}/${group}`)}` }
}

export function secretName(names: Names, volume: string): string {
  return `${names.name}.${volume}`
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digestLength)
}

function labelValue(text: string): string {
  return text.length <= labelLengthMax ? text : `digest-${digestOf(text)}`
}

interface Metadata {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** Annotations hold the port's labels in full; labels hold them for selection, long ones as digests. */
export function metadataOf(names: Names, hash: string, name: string): Metadata {
  const annotations = labelsOf(names.installation, names.group, hash)
  const labels = Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, labelValue(value)]),
  )
  return { name, labels, annotations }
}

/** Selects everything that the installation, or one of its groups, owns. Check each result with `isOwned`. */
export function selectorOf(installation: string, group?: string): Record<string, string> {
  const chosen = [`armature.installation=${labelValue(installation)}`]
  if (group !== undefined) chosen.push(`armature.group=${labelValue(group)}`)
  return { labelSelector: chosen.join(',') }
}

/** Whether an object really belongs to the installation (and the group). Others are never touched. */
export function isOwned(found: Json, installation: string, group?: string): boolean {
  return (
    annotationOf(found, 'installation') === installation &&
    (group === undefined || annotationOf(found, 'group') === group)
  )
}

export function annotationOf(found: Json, name: string): string {
  return textAt(at(found, 'metadata', 'annotations'), `armature.${name}`)
}
