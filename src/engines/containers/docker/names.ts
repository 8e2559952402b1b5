/** The names and label filters by which a Docker API finds what one installation made. Pure. */

import { EngineError, isToken } from '../engine.ts'
import { type Json, textAt } from '../json.ts'

export interface Names {
  readonly installation: string
  readonly group: string
}

/** Throws `refused` for what is no token: it would otherwise reach a URL or another group's names. */
export function namesOf(installation: string, group: string): Names {
  for (const token of [installation, group]) checkToken(token)
  return { installation, group }
}

function checkToken(token: string): void {
  if (!isToken(token)) throw new EngineError('refused', `'${token}' is not a token`)
}

/** Underscores are in no token, so no two of these names can meet. */
export function sandboxName(names: Names): string {
  return `armature_${names.installation}_${names.group}`
}

export function partName(names: Names, part: string): string {
  checkToken(part)
  return `armature_${names.installation}_${names.group}_part_${part}`
}

export function volumeName(names: Names, volume: string): string {
  checkToken(volume)
  return `armature_${names.installation}_${names.group}_volume_${volume}`
}

/** A query for all that the installation, or one group of it, owns. Ask `isOwned` of what it finds. */
export function ownedFilter(installation: string, group?: string): Record<string, string> {
  // One label only: Podman 4.3 takes several for volumes as "any of", Docker as "all of".
  const label = group === undefined ? `installation=${installation}` : `group=${group}`
  return { filters: JSON.stringify({ label: [`armature.${label}`] }) }
}

/** Whether a listed object really is the installation's (and the group's). What is not is never touched. */
export function isOwned(found: Json, installation: string, group?: string): boolean {
  return (
    textAt(found, 'Labels', 'armature.installation') === installation &&
    (group === undefined || textAt(found, 'Labels', 'armature.group') === group)
  )
}

/** A container's or image's reference as part of a path: the slashes stay. */
export function pathOf(reference: string): string {
  return reference.split('/').map(encodeURIComponent).join('/')
}
