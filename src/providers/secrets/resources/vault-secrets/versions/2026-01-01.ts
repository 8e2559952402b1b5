/** The wire form of secrets: a value can be written and is never returned. */

import Type from 'typebox'
import type { Ids, Seal } from '#kernel/ports.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { SecretLimits } from '../../../domain/limits.ts'
import { formatSecretUri } from '../../../domain/secret-uri.ts'
import { type SecretVersion, sealValue, type VaultSecret } from '../model.ts'

export interface SecretDependencies {
  readonly seal: Seal
  readonly ids: Ids
  readonly limits: SecretLimits
}

/** Added to the members of the wire body by `prepare`. */
interface PreparedSecret {
  readonly place?: string
  readonly properties: {
    readonly value?: string
    readonly contentType?: string
    readonly enabled?: boolean
  }
}

const valueCharactersMax = 25_600

const shownVersion = Type.Object({
  version: Type.String(),
  createdAt: Type.String(),
  secretUri: Type.String(),
})

export function v2026_01_01({ seal, ids, limits }: SecretDependencies): Version<VaultSecret> {
  return {
    date: '2026-01-01',
    body: Type.Object({
      properties: Type.Object({
        value: Type.Optional(
          Type.String({
            writeOnly: true,
            maxLength: valueCharactersMax,
            description: 'A value makes a new version; left out, the value stays.',
          }),
        ),
        contentType: Type.Optional(Type.String({ maxLength: 255 })),
        enabled: Type.Optional(
          Type.Boolean({ description: 'Default true. Disabled, nothing resolves it.' }),
        ),
      }),
    }),
    answer: Type.Object({
      properties: Type.Object({
        contentType: Type.Optional(Type.String()),
        enabled: Type.Boolean(),
        version: Type.String(),
        secretUri: Type.String({ description: 'Resolves to the newest version.' }),
        versions: Type.Array(shownVersion),
      }),
    }),
    unknownProperties: 'ignore',
    toModel(body: PreparedSecret, previous, { now }) {
      const { value, contentType, enabled = true } = body.properties
      // A PATCH is not prepared; its resource exists.
      const place = previous?.place ?? body.place ?? ''
      const kept = previous?.versions ?? []
      return {
        place,
        enabled,
        ...(contentType === undefined ? {} : { contentType }),
        versions:
          // A given value is a new version, even if it is the same: the writer must not learn the old value.
          value === undefined
            ? kept
            : [freshVersion(place, value, now), ...kept].slice(0, limits.versionsPerSecretMax),
      }
    },
    fromModel({ enabled, contentType, versions }, { id }) {
      const vault = nameOf(parentOf(id))
      const name = nameOf(id)
      return {
        properties: {
          ...(contentType === undefined ? {} : { contentType }),
          enabled,
          version: versions[0]?.version ?? '',
          secretUri: formatSecretUri(vault, name),
          versions: versions.map(({ version, createdAt }) => ({
            version,
            createdAt,
            secretUri: formatSecretUri(vault, name, version),
          })),
        },
      }
    },
  }

  function freshVersion(place: string, value: string, now: number): SecretVersion {
    const version = ids.uuid().replaceAll('-', '')
    return {
      version,
      createdAt: new Date(now).toISOString(),
      sealed: sealValue(seal, place, version, value),
    }
  }
}
