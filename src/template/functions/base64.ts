/** Base 64 of UTF-8 text. Text that is not base 64 is refused; bytes that are not UTF-8 become U+FFFD. */

import type { EvaluationQuota } from '../evaluation-quota.ts'
import { EvaluationError } from '../scope.ts'
import type { Call } from './define.ts'

/** The number of bytes that one call can take as arguments. */
const chunk = 8_192

export function base64Of(text: string, quota: EvaluationQuota): string {
  quota.produce(Math.ceil((text.length * 4) / 3))
  const bytes = new TextEncoder().encode(text)
  let binary = ''
  for (let at = 0; at < bytes.length; at += chunk) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunk))
  }
  return btoa(binary)
}

const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/

export function textOfBase64(text: string, call: Call): string {
  call.quota.produce(text.length)
  const plain = text.replace(/[\t\n\r ]+/g, '')
  if (plain.length % 4 !== 0 || !base64Pattern.test(plain))
    throw new EvaluationError(`${call.name}() got no base 64`)
  return utf8Text(Uint8Array.from(atob(plain), (one) => one.charCodeAt(0)))
}

/** A byte order mark at the start is not part of the text. */
export function utf8Text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}
