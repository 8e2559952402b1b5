/** Federated credentials of an identity on the wire. */

import Type, { type Static } from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { FederatedIdentityCredential } from '../model.ts'

const text = Type.String({ minLength: 1, maxLength: 600 })

const shape = Type.Object({
  properties: Type.Object({
    issuer: Type.String({
      pattern: '^https?://[^\\s]{1,590}$',
      description: 'The `iss` of its tokens; its keys are found by discovery below it.',
    }),
    subject: Type.String({ minLength: 1, maxLength: 600, description: 'The `sub` of its tokens.' }),
    audiences: Type.Array(text, {
      minItems: 1,
      maxItems: 1,
      description: 'The `aud` of its tokens.',
    }),
  }),
})

export const v2023_01_31: Version<FederatedIdentityCredential> = {
  date: '2023-01-31',
  body: shape,
  answer: shape,
  unknownProperties: 'ignore',
  toModel: ({ properties: { issuer, subject, audiences } }: Static<typeof shape>) => ({
    issuer,
    subject,
    audiences,
  }),
  fromModel: (properties) => ({ properties }),
  patch: 'none',
}
