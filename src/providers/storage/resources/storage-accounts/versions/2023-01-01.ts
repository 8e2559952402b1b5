/**
 * Storage accounts on the wire: a shape of our own, with what a registration needs. The body of published clients, which
 * knows nothing of a registration, is a folder.
 */

import Type from 'typebox'
import type { Seal } from '#kernel/ports.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { added, relaxed } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { openKey, type StorageAccount, sealKey } from '../model.ts'

const kind = Type.Union([Type.Literal('Folder'), Type.Literal('BlobService')])

interface Body {
  /** Put in by `prepare`. */
  readonly place?: string
  readonly properties?: {
    readonly kind?: 'Folder' | 'BlobService'
    readonly endpoint?: string
    readonly accountName?: string
    readonly accountKey?: string
  }
}

export function v2023_01_01(seal: Seal): Version<StorageAccount> {
  return {
    date: '2023-01-01',
    body: Type.Object({
      properties: relaxed(
        Type.Object({
          kind: relaxed(kind),
          endpoint: Type.Optional(
            Type.String({
              maxLength: 500,
              pattern: '^https?://[^\\s?#@]+$',
              description: 'Of a blob service: what container names are put behind.',
            }),
          ),
          accountName: Type.Optional(Type.String({ maxLength: 63 })),
          accountKey: Type.Optional(
            Type.String({
              writeOnly: true,
              maxLength: 500,
              description: 'Kept sealed, never shown.',
            }),
          ),
        }),
      ),
    }),
    problems({ properties = {} }: Body) {
      if (properties.kind !== 'BlobService') return []
      return (['endpoint', 'accountName'] as const).flatMap((name) =>
        properties[name] === undefined
          ? [{ path: `properties.${name}`, message: 'expected for a blob service' }]
          : [],
      )
    },
    answer: Type.Object({
      kind: added(Type.String({ description: 'What clients are told: `StorageV2`.' })),
      properties: Type.Object({
        provisioningState: Type.String(),
        kind,
        endpoint: Type.Optional(Type.String()),
        accountName: Type.Optional(Type.String()),
      }),
    }),
    unknownProperties: 'ignore',
    toModel(body: Body, previous) {
      const { kind = 'Folder', endpoint = '', accountName = '', accountKey } = body.properties ?? {}
      if (kind === 'Folder') return { kind }
      const before = previous?.kind === 'BlobService' ? previous : undefined
      // A PATCH is not prepared, and is of something that is there.
      const place = before?.place ?? body.place ?? ''
      const same =
        before !== undefined &&
        (accountKey === undefined || openKey(seal, place, before.sealedKey) === accountKey)
      const sealedKey = same ? before.sealedKey : sealKey(seal, place, accountKey ?? '')
      return { kind, place, endpoint: withoutTrailing(endpoint, '/'), accountName, sealedKey }
    },
    fromModel(model, { state, id }) {
      return {
        kind: model.kind,
        properties: {
          provisioningState: state,
          kind: model.kind,
          ...(model.kind === 'Folder'
            ? { accountName: nameOf(id) }
            : { endpoint: model.endpoint, accountName: model.accountName }),
        },
      }
    },
  }
}
