/** The names and label filters of an installation's objects on a Docker API. Pure. */

import { EngineError, type GroupSpec, isToken } from '../engine.ts'
import { type Json, textAt } from '../json.ts'

export interface Names {
  readonly installation: string
  readonly group: string
}

/** Throws `refused` for text that is no token: it would reach a URL or another group's names. */
export function namesOf(installation: string, group: string): Names {
  for (const token of [installation, group]) checkToken(token)
  return { installation, group }
}

function checkToken(token: string): void {
  if (!isToken(token)) throw new EngineError('refused', `'${token}' is not a token`)
}

/** No token contains an underscore, so these names never collide. */
export function sandboxName(names: Names): string {
  return `armature_${names.installation}_${names.group}`
}

export function containerName(names: Names, part: string): string {
  checkToken(part)
  return `armature_${names.installation}_${names.group}_part_${part}`
}

export function volumeName(names: Names, volume: string): string {
  checkToken(volume)
  return `armature_${names.installation}_${names.group}_volume_${volume}`
}

/** The volume with copies of the accounts of the group's images. */
export function accountsVolume(names: Names): string {
  return `armature_${names.installation}_${names.group}_accounts`
}

/**
 * A network that an operator made has a name server of the engine, which knows containers by their host names. Two groups
 * may ask for one name, so there each has one of its own.
 */
export function withOwnHostname(spec: GroupSpec, { group }: Names): GroupSpec {
  const { hostname } = spec
  return hostname === undefined
    ? spec
    : { ...spec, hostname: `${hostname.slice(0, 50)}-${group.slice(0, 12)}` }
}

/** A query for everything that the installation, or one of its groups, owns. Check each result with `isOwned`. */
export function ownedFilter(installation: string, group?: string): Record<string, string> {
  // Only one label: for volumes, Podman 4.3 reads several as "any of" and Docker as "all of".
  const label = group === undefined ? `installation=${installation}` : `group=${group}`
  return { filters: JSON.stringify({ label: [`armature.${label}`] }) }
}

/** Whether a listed object really belongs to the installation (and the group). Others are never touched. */
export function isOwned(found: Json, installation: string, group?: string): boolean {
  return (
    textAt(found, 'Labels', 'armature.installation') === installation &&
    (group === undefined || textAt(found, 'Labels', 'armature.group') === group)
  )
}

/** A reference of a container or an image as part of a path: slashes are kept. */
export function pathOf(reference: string): string {
  return reference.split('/').map(encodeURIComponent).join('/')
}
