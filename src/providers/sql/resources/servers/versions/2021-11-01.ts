/** The wire form of servers: our own shape, with what a registration needs. */

import Type from 'typebox'
import type { Seal } from '#kernel/ports.ts'
import type { Version } from '#plane/declare/wire.ts'
import { openPassword, type PostgresServer, type SqlServer, sealPassword } from '../model.ts'

const kind = Type.Union([Type.Literal('PostgreSql'), Type.Literal('DuckDb')], {
  description:
    'Default `PostgreSql`. `DuckDb` is a folder of files of the installation, called as the server.',
})

interface Body {
  /** Added by `prepare`. */
  readonly place?: string
  readonly properties: {
    readonly kind?: SqlServer['kind']
    readonly fullyQualifiedDomainName?: string
    readonly port?: number
    readonly administratorLogin?: string
    readonly administratorLoginPassword?: string
    readonly tls?: PostgresServer['tls']
  }
}

const defaultPort = 5432

const shown = {
  kind: Type.Optional(kind),
  fullyQualifiedDomainName: Type.Optional(
    Type.String({ maxLength: 255, pattern: '^[A-Za-z0-9._:-]+$' }),
  ),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  administratorLogin: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
  tls: Type.Optional(
    Type.Union([Type.Literal('off'), Type.Literal('verify')], {
      description: 'Default `off`. `verify` takes TLS and checks the certificate.',
    }),
  ),
}

export function v2021_11_01(seal: Seal, isAddressOptional: boolean): Version<SqlServer> {
  const isUnreachable = ({ kind, fullyQualifiedDomainName }: Body['properties']): boolean =>
    isAddressOptional && kind === undefined && fullyQualifiedDomainName === undefined
  return {
    date: '2021-11-01',
    body: Type.Object({
      properties: Type.Object({
        ...shown,
        administratorLoginPassword: Type.Optional(
          Type.String({
            writeOnly: true,
            maxLength: 500,
            description: 'Kept sealed, never shown.',
          }),
        ),
      }),
    }),
    problems({ properties }: Body) {
      if (properties.kind === 'DuckDb' || isUnreachable(properties)) return []
      return (['fullyQualifiedDomainName', 'administratorLogin'] as const).flatMap((name) =>
        properties[name] === undefined
          ? [{ path: `properties.${name}`, message: 'expected for a server of PostgreSQL' }]
          : [],
      )
    },
    answer: Type.Object({
      properties: Type.Object({ provisioningState: Type.String(), ...shown }),
    }),
    unknownProperties: 'ignore',
    toModel(body: Body, previous) {
      const { properties: given } = body
      if (given.kind === 'DuckDb') return { kind: 'DuckDb' }
      if (isUnreachable(given)) {
        const { administratorLogin: login } = given
        return { kind: 'Unreachable', ...(login === undefined ? {} : { login }) }
      }
      const before = previous?.kind === 'PostgreSql' ? previous : undefined
      // A PATCH is not prepared; its resource exists.
      const place = before?.place ?? body.place ?? ''
      const password = given.administratorLoginPassword
      const same =
        before !== undefined && (password === undefined || openPassword(seal, before) === password)
      return {
        kind: 'PostgreSql',
        place,
        // Both were required above.
        host: given.fullyQualifiedDomainName ?? '',
        port: given.port ?? defaultPort,
        login: given.administratorLogin ?? '',
        tls: given.tls ?? 'off',
        sealedPassword: same ? before.sealedPassword : sealPassword(seal, place, password ?? ''),
      }
    },
    fromModel(model, { state }) {
      if (model.kind === 'Unreachable') {
        const login = model.login === undefined ? {} : { administratorLogin: model.login }
        return { properties: { provisioningState: state, ...login } }
      }
      if (model.kind === 'DuckDb') {
        return { properties: { provisioningState: state, kind: model.kind } }
      }
      const { host, port, login, tls } = model
      return {
        properties: {
          provisioningState: state,
          kind: model.kind,
          fullyQualifiedDomainName: host,
          port,
          administratorLogin: login,
          tls,
        },
      }
    },
  }
}
