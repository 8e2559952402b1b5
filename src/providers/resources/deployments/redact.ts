/** Takes secure values out of what is shown or recorded: refusals and answers may quote what they were given. */

import { isJsonObject } from '#kernel/patch.ts'

const mask = '*****'

/** Every text, and every number's text, in a value: what must not be seen of a secure one. */
export function secretsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(secretsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(secretsIn) : []
}

export function redactText(text: string, secrets: readonly string[]): string {
  // The longest first, so that no part of one is left over by another.
  const sorted = [...secrets].sort((a, b) => b.length - a.length)
  return sorted.reduce((left, secret) => left.replaceAll(secret, mask), text)
}

export function redact<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value
  // The shape stays: texts become texts, arrays arrays, objects objects.
  return redacted(value, secrets) as T
}

function redacted(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === 'string') return redactText(value, secrets)
  if (typeof value === 'number') return secrets.includes(String(value)) ? mask : value
  if (Array.isArray(value)) return value.map((one) => redacted(one, secrets))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, redacted(v, secrets)]))
}
