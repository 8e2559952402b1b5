/**
 * The wire format of servers. The contract's service creates a server. This one registers an existing server by its
 * address and credentials.
 */

import Type from 'typebox'
import type { Problem } from '#kernel/error.ts'
import { sameJson } from '#kernel/patch.ts'
import { added, relaxed } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { type PostgresDependencies, version } from '../../../dependencies.ts'
import {
  type FlexibleServer,
  isNowhere,
  nowhere,
  openServerPassword,
  receiverOf,
  type ServerSeen,
  type Sku,
  type SslModeWord,
  sealServerPassword,
  sslModes,
} from '../model.ts'
import {
  declaredAnswers,
  declaredOf,
  declaredProperties,
  showDeclared,
  showStorage,
  storageProperties,
  writtenStorage,
} from './declared.ts'

interface Body {
  /** Added by `prepare`. */
  readonly place?: string
  readonly sku?: Sku
  readonly properties: {
    readonly fullyQualifiedDomainName?: string
    readonly port?: number
    readonly administratorLogin: string
    readonly administratorLoginPassword?: string
    readonly sslMode?: SslModeWord
    readonly rootCertificates?: string
    readonly storage?: { readonly storageSizeGB?: number }
    readonly version?: string
  }
}

type ServerDependencies = Pick<PostgresDependencies, 'seal' | 'settings'>

const defaultPort = 5432
const defaultSku: Sku = { name: 'Registered', tier: 'GeneralPurpose' }

const domainName = Type.String({
  maxLength: 255,
  pattern: '^[A-Za-z0-9._:-]+$',
  description: 'Where the server is: a host name or an address.',
})
const shown = {
  fullyQualifiedDomainName: domainName,
  port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  administratorLogin: Type.String({ minLength: 1, maxLength: 63 }),
  sslMode: Type.Optional(
    Type.Union(
      sslModes.map((mode) => Type.Literal(mode)),
      { description: 'How connections to it are encrypted. Default `Prefer`.' },
    ),
  ),
  rootCertificates: Type.Optional(
    Type.String({
      maxLength: 65_536,
      description: 'PEM of the authorities to trust with `VerifyCA` and `VerifyFull`.',
    }),
  ),
}

const skuShape = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  tier: Type.Union([
    Type.Literal('Burstable'),
    Type.Literal('GeneralPurpose'),
    Type.Literal('MemoryOptimized'),
  ]),
})

const storage = Type.Optional(
  Type.Object({
    storageSizeGB: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_536 })),
    ...storageProperties,
  }),
)

/**
 * An address with one colon is not an IPv6 address. The text after the colon would be taken for a part of the name.
 */
function addressProblems(host: string | undefined): readonly Problem[] {
  if (host === undefined || !/^[^:]+:\d+$/.test(host)) return []
  const path = 'properties.fullyQualifiedDomainName'
  return [{ path, message: 'expected a name or an address without a port: that is `port`' }]
}

export function serverVersion({ seal, settings }: ServerDependencies): Version<FlexibleServer> {
  return {
    date: version,
    body: Type.Object({
      sku: Type.Optional(skuShape),
      properties: Type.Object({
        ...shown,
        fullyQualifiedDomainName: relaxed(domainName),
        ...declaredProperties,
        storage,
        version: added(Type.String({ maxLength: 20 })),
        administratorLoginPassword: Type.Optional(
          Type.String({
            writeOnly: true,
            maxLength: 500,
            description: 'Kept sealed, never shown.',
          }),
        ),
      }),
    }),
    problems: ({ properties }: Body) => addressProblems(properties.fullyQualifiedDomainName),
    answer: Type.Object({
      sku: skuShape,
      properties: Type.Object({
        ...shown,
        ...declaredProperties,
        ...declaredAnswers,
        storage,
        provisioningState: Type.String(),
        state: Type.String({
          description: '`Ready`, `Inaccessible`, or `Unknown` before the first look.',
        }),
        stateReason: Type.Optional(Type.String()),
        version: Type.Optional(
          Type.String({ description: 'The major version; empty until it is known.' }),
        ),
        minorVersion: Type.Optional(Type.String({ description: 'Empty until it is known.' })),
      }),
    }),
    unknownProperties: 'ignore',
    toModel(body: Body, previous, { now }) {
      const { properties: given } = body
      const declared = declaredOf(given)
      // A PATCH is not prepared, but its resource exists.
      const place = previous?.place ?? body.place ?? ''
      const password = given.administratorLoginPassword
      const same =
        previous !== undefined &&
        (password === undefined || openServerPassword(seal, previous) === password)
      const server: FlexibleServer = {
        place,
        sku: body.sku ?? previous?.sku ?? defaultSku,
        ...placeOf(settings.serverAddresses, place, given),
        login: given.administratorLogin,
        sslMode: given.sslMode ?? 'Prefer',
        ...(given.rootCertificates === undefined
          ? {}
          : { rootCertificates: given.rootCertificates }),
        ...writtenStorage(given.storage ?? {}, previous),
        ...(Object.keys(declared).length === 0 ? {} : { declared }),
        ...(given.version === undefined ? {} : { version: given.version }),
        sealedPassword: same
          ? previous.sealedPassword
          : sealServerPassword(seal, place, password ?? ''),
      }
      const isSameReceiver =
        previous !== undefined && sameJson(receiverOf(previous), receiverOf(server))
      const receiverSince = isSameReceiver ? previous.receiverSince : now
      return receiverSince === undefined ? server : { ...server, receiverSince }
    },
    fromModel(model, { state, observed }) {
      // Only the reconciler of this type writes this value.
      const seen = observed as ServerSeen | undefined
      const { host, port, login, sslMode, rootCertificates, storageSizeGB, sku } = model
      return {
        sku,
        properties: {
          provisioningState: state,
          fullyQualifiedDomainName: host,
          port,
          administratorLogin: login,
          sslMode,
          ...(rootCertificates === undefined ? {} : { rootCertificates }),
          ...showDeclared(model.declared ?? {}),
          storage: showStorage(storageSizeGB, model.storage ?? {}),
          // Before the server has reported its version, this is the version as written, or empty. Clients expect a
          // string.
          version: model.version ?? '',
          minorVersion: '',
          ...showSeen(seen),
        },
      }
    },
  }
}

function showSeen(seen: ServerSeen | undefined): object {
  switch (seen?.kind) {
    case 'ready': {
      const [major = '', minor = ''] = seen.version.split('.')
      return { state: 'Ready', version: major, minorVersion: minor }
    }
    case 'away':
      return { state: 'Inaccessible', stateReason: seen.reason }
    default:
      return { state: 'Unknown' }
  }
}

/** The address from the body, else the operator's setting for this name, else none. */
function placeOf(
  addresses: PostgresDependencies['settings']['serverAddresses'],
  place: string,
  { fullyQualifiedDomainName: host, port }: Body['properties'],
): { readonly host: string; readonly port: number } {
  if (host !== undefined && !isNowhere(host)) return { host, port: port ?? defaultPort }
  const name = place.slice(place.lastIndexOf('/') + 1)
  const known = addresses?.get(name) ?? addresses?.get('*')
  return known ?? { host: `${name}${nowhere}`, port: port ?? defaultPort }
}
