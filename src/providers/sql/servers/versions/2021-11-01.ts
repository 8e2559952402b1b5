/** Servers on the wire: a shape of our own, with what a registration needs. */

import Type from 'typebox'
import type { Seal } from '#kernel/ports.ts'
import type { Version } from '#plane/define.ts'
import { openPassword, type SqlServer, sealPassword } from '../model.ts'

interface Body {
  /** Put in by `prepare`. */
  readonly place?: string
  readonly properties: {
    readonly fullyQualifiedDomainName: string
    readonly port?: number
    readonly administratorLogin: string
    readonly administratorLoginPassword?: string
    readonly tls?: SqlServer['tls']
  }
}

const defaultPort = 5432

const shown = {
  fullyQualifiedDomainName: Type.String({ maxLength: 255, pattern: '^[A-Za-z0-9._:-]+$' }),
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  administratorLogin: Type.String({ minLength: 1, maxLength: 63 }),
  tls: Type.Optional(
    Type.Union([Type.Literal('off'), Type.Literal('verify')], {
      description: 'Default `off`. `verify` takes TLS and checks the certificate.',
    }),
  ),
}

export function v2021_11_01(seal: Seal): Version<SqlServer> {
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
    answer: Type.Object({
      properties: Type.Object({ provisioningState: Type.String(), ...shown }),
    }),
    unknownProperties: 'ignore',
    toModel(body: Body, previous) {
      const { properties: given } = body
      // A PATCH is not prepared, and is of something that is there.
      const place = previous?.place ?? body.place ?? ''
      const password = given.administratorLoginPassword
      const same =
        previous !== undefined &&
        (password === undefined || openPassword(seal, previous) === password)
      return {
        place,
        host: given.fullyQualifiedDomainName,
        port: given.port ?? defaultPort,
        login: given.administratorLogin,
        tls: given.tls ?? 'off',
        sealedPassword: same ? previous.sealedPassword : sealPassword(seal, place, password ?? ''),
      }
    },
    fromModel({ host, port, login, tls }, { state }) {
      return {
        properties: {
          provisioningState: state,
          fullyQualifiedDomainName: host,
          port,
          administratorLogin: login,
          tls,
        },
      }
    },
  }
}
