/** The stored model of a registered server, and the result of the last look at it. */

import type { ServerAccess, SslMode } from '#engines/databases/engine.ts'
import type { Seal } from '#kernel/ports.ts'
import { groupKey, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'

/** The contract's values for `SslMode`. */
export const sslModes = ['Prefer', 'Require', 'VerifyCA', 'VerifyFull'] as const
export type SslModeWord = (typeof sslModes)[number]

export interface Sku {
  readonly name: string
  readonly tier: string
}

export interface FlexibleServer {
  /** The id at the first PUT, as a key. The seal is bound to it. */
  readonly place: string
  readonly sku: Sku
  readonly host: string
  readonly port: number
  readonly login: string
  readonly sslMode: SslModeWord
  readonly rootCertificates?: string
  readonly storageSizeGB?: number
  /** The other members of `storage`, as written. */
  readonly storage?: Readonly<Record<string, unknown>>
  /** The properties that this installation has no use for, as written. */
  readonly declared?: Readonly<Record<string, unknown>>
  /** The major version as written. It is shown until the server has reported its own. */
  readonly version?: string
  readonly sealedPassword: string
  /**
   * Since when the server receives passwords at this address, in milliseconds. Absent in servers stored before this
   * was recorded.
   */
  readonly receiverSince?: number
}

/** The address of a server that nobody gave an address. Names with this ending never resolve (RFC 2606). */
export const nowhere = '.no-address.invalid'

export function isNowhere(host: string): boolean {
  return host.toLowerCase().endsWith(nowhere)
}

/** Why a server without an address cannot be called. */
export const noAddress =
  'The server has no address: give `fullyQualifiedDomainName`, or map its name in the setting `postgresServers` and put it again.'

/** Everything that decides who receives a password for this server, and how. */
export function receiverOf({
  host,
  port,
  login,
  sslMode,
  rootCertificates,
}: FlexibleServer): object {
  return {
    host: host.toLowerCase(),
    port,
    login,
    sslMode,
    rootCertificates: rootCertificates ?? null,
  }
}

/** The result of the last look. */
export type ServerSeen =
  | {
      readonly kind: 'ready'
      readonly version: string
      readonly major: number
      /** The size of all databases of the server, rounded up. */
      readonly dataMegabytes: number
    }
  | {
      readonly kind: 'away'
      /** The active migration to this server. */
      readonly migration: string | undefined
      readonly reason: string
      /** True if the server answered with a refusal. */
      readonly refused: boolean
    }
  | { readonly kind: 'gone' }

export function engineSslMode(word: SslModeWord): SslMode {
  const modes = {
    Prefer: 'prefer',
    Require: 'require',
    VerifyCA: 'verify-ca',
    VerifyFull: 'verify-full',
  } as const
  return modes[word]
}

const context = (place: string): string => `postgres server password\n${place}`

export function sealServerPassword(seal: Seal, place: string, password: string): string {
  return seal.seal(password, context(place))
}

export function openServerPassword(seal: Seal, model: FlexibleServer): string | undefined {
  return seal.open(model.sealedPassword, context(model.place))
}

export function accessOf(seal: Seal, model: FlexibleServer): ServerAccess {
  const { host, port, login: user, sslMode, rootCertificates } = model
  return {
    address: {
      host,
      port,
      user,
      sslMode: engineSslMode(sslMode),
      ...(rootCertificates === undefined ? {} : { rootCertificates }),
    },
    password: openServerPassword(seal, model) ?? '',
    owner: ownerOf(model),
  }
}

/** The key of the resource group in which the server was registered. */
export function ownerOf({ place }: Pick<FlexibleServer, 'place'>): string {
  return groupKey(place)
}

export interface FoundServer {
  readonly id: ResourceId
  readonly location: string
  readonly model: FlexibleServer
  readonly seen: ServerSeen | undefined
}

/** Returns undefined if no such server is registered. */
export async function findServer(
  reader: Pick<Reader, 'get'>,
  id: ResourceId | string,
): Promise<FoundServer | undefined> {
  const found = await reader.get(id)
  if (found === undefined) return undefined
  return {
    id: found.id,
    location: found.location ?? '',
    // The id has that type, so the model does too, and only its reconciler writes what was seen.
    model: found.model as FlexibleServer,
    seen: found.observed as ServerSeen | undefined,
  }
}
