/** The wire form of vaults. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { Vault } from '../model.ts'

const properties = Type.Object({ description: Type.Optional(Type.String({ maxLength: 1000 })) })

interface Body {
  readonly properties?: Vault
}

export const v2026_01_01: Version<Vault> = {
  date: '2026-01-01',
  body: Type.Object({ properties: Type.Optional(properties) }),
  answer: Type.Object({
    properties: Type.Object({
      provisioningState: Type.String(),
      description: Type.Optional(Type.String()),
      vaultUri: Type.String({ description: 'What the URIs of its secrets begin with.' }),
    }),
  }),
  unknownProperties: 'ignore',
  toModel({ properties: given }: Body) {
    return given?.description === undefined ? {} : { description: given.description }
  },
  fromModel({ description }, { id, state }) {
    return {
      properties: {
        provisioningState: state,
        ...(description === undefined ? {} : { description }),
        vaultUri: `armature://${id.segments.at(-1)?.names.at(-1)?.toLowerCase() ?? ''}/`,
      },
    }
  },
}
