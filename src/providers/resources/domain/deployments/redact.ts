/** Takes secure values out of what is shown or recorded: refusals and answers may quote what they were given. */

import { isJsonObject } from '#kernel/patch.ts'

const mask = '*****'
/** Above this many secrets, every text and number is masked instead of looking for each secret. */
export const secretsMax = 1_000

/** Every text, and every number's text, in a value: what must not be seen of a secure one. */
export function secretsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value === '' ? [] : [value]
  if (typeof value === 'number' || typeof value === 'bigint') return [String(value)]
  if (Array.isArray(value)) return value.flatMap(secretsIn)
  return isJsonObject(value) ? Object.values(value).flatMap(secretsIn) : []
}

export function redactText(text: string, secrets: readonly string[]): string {
  return secrets.length > secretsMax ? mask : withoutSecrets(text, sorted(secrets))
}

/** The longest first, so that no part of one is left over by another. */
function sorted(secrets: readonly string[]): readonly string[] {
  if (secrets.length > secretsMax) return secrets
  return [...secrets].sort((a, b) => b.length - a.length)
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  return secrets.reduce(
    // Most texts are shorter than most secrets.
    (left, secret) => (secret.length > left.length ? left : left.replaceAll(secret, mask)),
    text,
  )
}

export function redact<T>(value: T, secrets: readonly string[]): T {
  if (secrets.length === 0) return value
  // The shape stays: texts become texts, arrays arrays, objects objects.
  return redacted(value, sorted(secrets)) as T
}

function redacted(value: unknown, secrets: readonly string[]): unknown {
  if (secrets.length > secretsMax && ['string', 'number'].includes(typeof value)) return mask
  if (typeof value === 'string') return withoutSecrets(value, secrets)
  if (typeof value === 'number') return secrets.includes(String(value)) ? mask : value
  if (Array.isArray(value)) return value.map((one) => redacted(one, secrets))
  if (!isJsonObject(value)) return value
  // Too many to look for: names stay, or all would become one.
  const named = secrets.length > secretsMax ? [] : secrets
  const entries = Object.entries(value).map(([name, one]) => [
    withoutSecrets(name, named),
    redacted(one, secrets),
  ])
  return Object.fromEntries(entries)
}

/** The secrets in the values at these paths, such as `properties.items[0].secret`. */
export function secretsAt(body: unknown, paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => secretsIn(valueAt(body, path)))
}

function valueAt(body: unknown, path: string): unknown {
  let at: unknown = body
  for (const name of path.split(/[.[\]]+/)) {
    if (name === '') continue
    if (Array.isArray(at)) at = at[Number(name)]
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}
