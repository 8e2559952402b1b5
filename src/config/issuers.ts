/**
 * The setting of external identity issuers: its shape and validation. Identity finds out whether an issuer answers.
 */

import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { didYouMean } from './nearest-name.ts'
import { reasonOf, Wrong } from './setting.ts'

const issuerKeys = ['issuer', 'jwksUri', 'audiences', 'claims', 'tenantId']
export const claimNames = ['oid', 'tenant', 'name', 'groups']

/** The list, or all its faults, each with its path. */
export function parseIssuers(raw: unknown): readonly ExternalIssuer[] | Wrong {
  let list = raw
  if (typeof raw === 'string') {
    try {
      list = JSON.parse(raw)
    } catch (error) {
      // `JSON.parse` reports bad text only by throwing.
      return new Wrong(`is not JSON: ${reasonOf(error)}`)
    }
  }
  if (!Array.isArray(list)) return new Wrong()
  const faults = list.flatMap((item: unknown, index) =>
    findFaults(item).map(([path, message]) => `[${index}]${path}: ${message}`),
  )
  if (faults.length > 0) return new Wrong(faults.join('; '))
  // No item had a fault, so each has the shape; only claims may be missing.
  return (list as ExternalIssuer[]).map((item) => ({
    ...item,
    claims: { ...item.claims, oid: item.claims?.oid ?? 'oid' },
  }))
}

type Fault = readonly [path: string, message: string]

function findFaults(item: unknown): readonly Fault[] {
  if (!isJsonObject(item)) return [['', 'expected an object']]
  const faults: Fault[] = []
  const secure = 'expected an https address (http on this machine only)'
  if (!isSecureUrl(item['issuer'])) faults.push(['.issuer', secure])
  if (item['jwksUri'] !== undefined && !isSecureUrl(item['jwksUri'])) {
    faults.push(['.jwksUri', secure])
  }
  const audiences = item['audiences']
  if (!Array.isArray(audiences) || audiences.length === 0 || !audiences.every(isFilledText)) {
    faults.push(['.audiences', 'expected a list with at least one text'])
  }
  if (item['tenantId'] !== undefined && !isFilledText(item['tenantId'])) {
    faults.push(['.tenantId', 'expected a text'])
  }
  faults.push(...findUnknown(item, issuerKeys, ''))
  const claims = item['claims'] ?? {}
  if (!isJsonObject(claims)) return [...faults, ['.claims', 'expected an object']]
  for (const [key, value] of Object.entries(claims)) {
    if (!isFilledText(value)) faults.push([`.claims.${key}`, 'expected the name of a claim'])
  }
  return [...faults, ...findUnknown(claims, claimNames, '.claims')]
}

function findUnknown(value: object, known: readonly string[], path: string): readonly Fault[] {
  return Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => [`${path}.${key}`, `unknown${didYouMean(key, known)}`])
}

function isFilledText(value: unknown): boolean {
  return typeof value === 'string' && value !== ''
}

/** Identity fetches keys only from such addresses: nobody in between may replace them. */
function isSecureUrl(value: unknown): boolean {
  const url = typeof value === 'string' ? URL.parse(value) : null
  if (url === null) return false
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && local)
}
