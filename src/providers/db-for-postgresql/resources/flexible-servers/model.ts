/** A registered server as it is stored, and what was last seen of it. */

import type { ServerAccess, SslMode } from '#engines/databases/engine.ts'
import type { Seal } from '#kernel/ports.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'

/** The contract's words for `SslMode`. */
export const sslModes = ['Prefer', 'Require', 'VerifyCA', 'VerifyFull'] as const
export type SslModeWord = (typeof sslModes)[number]

export interface Sku {
  readonly name: string
  readonly tier: string
}

export interface FlexibleServer {
  /** The id at the first PUT, as a key: what the seal is bound to. */
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
  /** What is written of a server that is not for this installation to do, as written. */
  readonly declared?: Readonly<Record<string, unknown>>
  /** The major version as written: shown until the server itself has said. */
  readonly version?: string
  readonly sealedPassword: string
  /** When it became the receiver of passwords that it is, in milliseconds. Absent in those made before it was kept. */
  readonly receiverSince?: number
}

/** What stands for the address of a server that nobody gave one: names that end so never resolve (RFC 2606). */
export const nowhere = '.no-address.invalid'

export function isNowhere(host: string): boolean {
  return host.toLowerCase().endsWith(nowhere)
}

/** Why such a server cannot be asked. */
export const noAddress =
  'The server has no address: give `fullyQualifiedDomainName`, or map its name in the setting `postgresServers` and put it again.'

/** All that decides who receives a password for this server, and how. */
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

/** What the last look found. */
export type ServerSeen =
  | {
      readonly kind: 'ready'
      /** Whoever tells of trouble has not been told of this yet. */
      readonly isNews: boolean
      readonly version: string
      readonly major: number
      /** The size of all its databases, rounded up. */
      readonly dataMegabytes: number
    }
  | {
      readonly kind: 'away'
      readonly isNews: boolean
      /** The migration to it that is under way. */
      readonly migration: string | undefined
      readonly reason: string
      /** The server answered, and said no. */
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
  }
}

export interface FoundServer {
  readonly id: ResourceId
  readonly location: string
  readonly model: FlexibleServer
  readonly seen: ServerSeen | undefined
}

/** Undefined when no such server is registered. */
export async function findServer(
  reader: Pick<Reader, 'get'>,
  id: ResourceId | string,
): Promise<FoundServer | undefined> {
  const found = await reader.get(id)
  if (found === undefined) return undefined
  return {
    id: found.id,
    location: found.location ?? '',
    // The id is of that type, so is its model, and its reconciler writes what was seen.
    model: found.model as FlexibleServer,
    seen: found.observed as ServerSeen | undefined,
  }
}
