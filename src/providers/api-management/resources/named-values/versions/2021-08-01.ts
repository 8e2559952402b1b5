/** The wire form of named values: a secret value can be written, and only `listValue` returns it. */

import Type, { type Static } from 'typebox'
import type { Problem } from '#kernel/error.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { NamedValue } from '../model.ts'

const shared = {
  displayName: Type.String({ minLength: 1, maxLength: 256, pattern: '^[A-Za-z0-9-._]+$' }),
  tags: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 32 })),
  secret: Type.Optional(Type.Boolean()),
  keyVault: Type.Optional(Type.Object({}, { additionalProperties: true })),
}
const value = { maxLength: 4096, description: 'Answered where `secret` is not true.' }

const body = Type.Object({
  properties: Type.Object({
    ...shared,
    value: Type.Optional(Type.String({ ...value, writeOnly: true })),
  }),
})
type Body = Static<typeof body> & { readonly place?: string }

export function namedValue(date: string, seal: Seal): Version<NamedValue> {
  return {
    date,
    body,
    answer: Type.Object({
      properties: Type.Object({
        ...shared,
        value: Type.Optional(Type.String(value)),
        provisioningState: Type.String({ readOnly: true }),
      }),
    }),
    unknownProperties: 'ignore',
    toModel: (given: Body, previous) => toModel(given, previous, seal),
    fromModel: ({ place: _place, sealedValue: _sealed, ...shown }, { state }) => ({
      properties: { ...shown, provisioningState: state },
    }),
  }
}

function toModel(given: Body, previous: NamedValue | undefined, seal: Seal): NamedValue {
  const { displayName, tags, keyVault, value: written, secret = false } = given.properties
  const place = previous?.place ?? given.place ?? ''
  const base = {
    place,
    displayName,
    secret,
    ...(tags === undefined ? {} : { tags }),
    ...(keyVault === undefined ? {} : { keyVault }),
  }
  if (written !== undefined) {
    return secret
      ? { ...base, sealedValue: seal.seal(written, place) }
      : { ...base, value: written }
  }
  if (secret && previous?.sealedValue !== undefined) {
    return { ...base, sealedValue: previous.sealedValue }
  }
  return base
}

/** The problem of a missing value: not in the body, not stored, and not in a vault. */
export function missingValue(desired: NamedValue): readonly Problem[] {
  if (desired.value !== undefined || desired.sealedValue !== undefined) return []
  if (desired.keyVault !== undefined) return []
  return [{ path: 'properties.value', message: 'is required' }]
}
