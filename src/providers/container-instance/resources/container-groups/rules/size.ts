/**
 * Limits the size of a body before anything in it is sealed, merged or compared: each of these takes time for every
 * member and every secret.
 */

import type { Problem } from '#kernel/error.ts'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import type { ContainerLimits } from '../../../domain/limits.ts'
import { splitSecrets } from '../../../domain/sealed-secrets.ts'
import { problemOf } from '../../../errors.ts'
import { groupProperties } from '../versions/shapes.ts'

/** Keys are names of files, variables or properties. */
const keyLengthMax = 1024
const problemsMax = 20

/** `body` is valid by its schema. Properties unknown to the schema are counted too. */
export function sizeProblems(
  body: { readonly identity?: unknown; readonly properties: unknown },
  limits: ContainerLimits,
): readonly Problem[] {
  const counted = countProblems(body, limits)
  if (counted.length > 0) return counted
  const found: Problem[] = []
  const sum = measure(body.properties, 'properties', limits, found)
  if (found.length === 0 && sum > limits.textBytesSumMax) {
    found.push(tooLarge('properties', `${sum} bytes of text, at most ${limits.textBytesSumMax}`))
  }
  return found.length > 0 ? found : secretProblems(body.properties, limits)
}

function tooLarge(path: string, reason: string): Problem {
  return problemOf('ContainerGroupTooLarge', path, { reason })
}

/** Lists and objects with a limit of their own. */
function countProblems(
  { identity, properties }: { readonly identity?: unknown; readonly properties: unknown },
  limits: ContainerLimits,
): readonly Problem[] {
  if (!isJsonObject(properties)) return []
  const problems: Problem[] = []
  const check = (path: string, value: unknown, limit: number, what: string): void => {
    const count = Array.isArray(value)
      ? value.length
      : isJsonObject(value)
        ? Object.keys(value).length
        : 0
    if (count > limit) problems.push(tooLarge(path, `${count} ${what}, at most ${limit}`))
  }
  const containers = [...listOf(properties, 'initContainers'), ...listOf(properties, 'containers')]
  if (containers.length > limits.containersPerGroupMax) {
    const limit = limits.containersPerGroupMax
    return [problemOf('TooManyContainers', 'properties.containers', { limit })]
  }
  const volumes = listOf(properties, 'volumes')
  if (volumes.length > limits.volumesPerGroupMax) {
    const limit = limits.volumesPerGroupMax
    return [problemOf('TooManyVolumes', 'properties.volumes', { limit })]
  }
  for (const [at, volume] of volumes.entries()) {
    const { keysMax } = limits
    check(`properties.volumes[${at}].secret`, memberOf(volume, 'secret'), keysMax, 'keys')
    const references = memberOf(volume, 'secretReference')
    check(`properties.volumes[${at}].secretReference`, references, keysMax, 'keys')
  }
  for (const list of ['initContainers', 'containers']) {
    for (const [at, container] of listOf(properties, list).entries()) {
      const map = memberOf(
        memberOf(memberOf(container, 'properties'), 'configMap'),
        'keyValuePairs',
      )
      const path = `properties.${list}[${at}].properties.configMap.keyValuePairs`
      check(path, map, limits.keysMax, 'keys')
    }
  }
  const credentials = properties['imageRegistryCredentials']
  const references = properties['secretReferences']
  const path = 'properties.imageRegistryCredentials'
  check(path, credentials, limits.registryCredentialsPerGroupMax, 'credentials')
  const referencesMax = limits.secretReferencesPerGroupMax
  check('properties.secretReferences', references, referencesMax, 'references')
  const lent = memberOf(identity, 'userAssignedIdentities')
  const lentMax = limits.userAssignedIdentitiesMax
  check('identity.userAssignedIdentities', lent, lentMax, 'identities')
  return problems.slice(0, problemsMax)
}

function listOf(value: JsonObject, name: string): readonly unknown[] {
  const list = value[name]
  return Array.isArray(list) ? list : []
}

function memberOf(value: unknown, name: string): unknown {
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined
}

/** The bytes of all texts at and below a path; problems are added to `found`. */
function measure(value: unknown, path: string, limits: ContainerLimits, found: Problem[]): number {
  if (found.length >= problemsMax) return 0
  if (typeof value === 'string') {
    const bytes = Buffer.byteLength(value)
    const limit = lengthMax(path, limits)
    if (bytes > limit) found.push(tooLarge(path, `a text of ${bytes} bytes, at most ${limit}`))
    return bytes
  }
  if (typeof value !== 'object' || value === null) return 0
  const members: readonly (readonly [string | number, unknown])[] = Array.isArray(value)
    ? value.map((item, at) => [at, item] as const)
    : Object.entries(value)
  if (members.length > limits.membersMax) {
    found.push(tooLarge(path, `${members.length} members, at most ${limits.membersMax}`))
    return 0
  }
  let sum = 0
  for (const [key, member] of members) {
    if (typeof key === 'string' && key.length > keyLengthMax) {
      found.push(tooLarge(path, `a key of ${key.length} characters, at most ${keyLengthMax}`))
      continue
    }
    sum += typeof key === 'string' ? key.length : 0
    const below = typeof key === 'string' ? `${path}.${key}` : `${path}[${key}]`
    sum += measure(member, below, limits, found)
  }
  return sum
}

function lengthMax(path: string, limits: ContainerLimits): number {
  if (/^properties\.\w+\[\d+\]\.properties\.image$/.test(path)) return limits.imageLengthMax
  if (/^properties\.volumes\[\d+\]\.gitRepo\.\w+$/.test(path)) return limits.repositoryLengthMax
  return limits.textBytesMax
}

/** Each secret is sealed by itself, and opened again for comparison. */
function secretProblems(properties: unknown, limits: ContainerLimits): readonly Problem[] {
  const { secrets } = splitSecrets(groupProperties, properties)
  if (secrets.size > limits.secretsMax) {
    return [tooLarge('properties', `${secrets.size} secrets, at most ${limits.secretsMax}`)]
  }
  let bytes = 0
  for (const text of secrets.values()) bytes += Buffer.byteLength(text)
  if (bytes <= limits.secretBytesMax) return []
  return [tooLarge('properties', `${bytes} bytes of secrets, at most ${limits.secretBytesMax}`)]
}
