/** Reads the server's status of the installation's key and its rotation. */

import { textOf } from '#client/answer.ts'
import { isJsonObject } from '#kernel/patch.ts'

export const keyStatusPath = '/directory/keys/installation'

const phases: Readonly<Record<string, string>> = {
  gathering: 'asking every replica whether it has the new key',
  switching: 'the new key seals; waiting until every replica knows',
  resealing: 'sealing what is stored anew',
}

/** Describes the running rotation for a person; undefined when there is none. */
export function rotationLine(status: unknown): string | undefined {
  const rotation = isJsonObject(status) ? status['rotation'] : undefined
  if (!isJsonObject(rotation)) return undefined
  const phase = textOf(rotation, 'phase') ?? ''
  const line = phases[phase] ?? phase
  if (phase !== 'resealing') return line
  const table = textOf(rotation, 'table')
  const at = table === undefined ? '' : `, at ${table}`
  return `${line}: walk ${rotation['walk']}${at}, ${rotation['rows']} rows read, ${rotation['resealed']} texts sealed anew`
}

/** The replicas without the new key, if the rotation to `keyId` was refused because of them. */
export function refusedFor(status: unknown, keyId: string | undefined): string | undefined {
  const refused = isJsonObject(status) ? status['refused'] : undefined
  if (!isJsonObject(refused) || keyId === undefined || textOf(refused, 'toKeyId') !== keyId) {
    return undefined
  }
  const without = refused['without']
  return Array.isArray(without) ? without.map(String).join('; ') : ''
}

export function nextKeyId(status: unknown): string | undefined {
  const rotation = isJsonObject(status) ? status['rotation'] : undefined
  return isJsonObject(rotation) ? textOf(rotation, 'toKeyId') : undefined
}
