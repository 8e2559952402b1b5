/**
 * Builds the specification that a worker gets for a migration: the addresses of both servers, their credentials and
 * all options.
 */

import type { Credentials, MigrationSpec, ServerAddress } from '#engines/databases/engine.ts'
import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { MigrationSettings, PostgresDependencies } from '../dependencies.ts'
import {
  engineSslMode,
  type FoundServer,
  findServer,
  ownerOf,
} from '../resources/flexible-servers/model.ts'
import { type Migration, openPasswords } from '../resources/migrations/model.ts'
import { ordersFor } from './requested-actions.ts'
import { settingsBy } from './settings-by-tags.ts'
import { parseSource } from './source.ts'

export interface MigrationEnds {
  readonly source: ServerAddress
  readonly target: ServerAddress
  /** The registered servers, as they are stored now. */
  readonly sourceServer: FoundServer | undefined
  readonly targetServer: FoundServer
  readonly credentials: Credentials
}

const defaultPort = 5432

/** Returns a reason in words where an address or a credential cannot be determined. */
export async function migrationEndsOf(
  { seal, words }: Pick<PostgresDependencies, 'seal' | 'words'>,
  reader: Pick<Reader, 'get'>,
  id: ResourceId,
  model: Migration,
): Promise<MigrationEnds | string> {
  const targetServer = await findServer(reader, parentOf(id))
  if (targetServer === undefined) return 'the target server is not registered any more'
  const passwords = openPasswords(seal, model)
  if (passwords === undefined) return 'the passwords do not open: give them again'
  const source = await sourceOf(words, reader, model)
  if (typeof source === 'string') return source
  const { host, port, sslMode, rootCertificates, login } = targetServer.model
  return {
    source: source.address,
    target: {
      host: model.targetHost ?? host,
      port,
      user: model.targetUser ?? login,
      sslMode: engineSslMode(sslMode),
      ...(rootCertificates === undefined ? {} : { rootCertificates }),
    },
    sourceServer: source.server,
    targetServer,
    credentials: {
      sourcePassword: passwords.source,
      targetPassword: passwords.target,
      owner: ownerOf(targetServer.model),
    },
  }
}

async function sourceOf(
  words: PostgresDependencies['words'],
  reader: Pick<Reader, 'get'>,
  model: Migration,
): Promise<{ readonly address: ServerAddress; readonly server: FoundServer | undefined } | string> {
  const parsed = parseSource(model.sourceId, model.sourceType, words)
  if (typeof parsed === 'string') return parsed
  const sslMode = engineSslMode(model.sslMode)
  if (parsed.kind === 'host') {
    return {
      address: {
        host: model.sourceHost ?? parsed.host,
        port: parsed.port,
        user: model.sourceUser ?? parsed.user,
        sslMode,
      },
      server: undefined,
    }
  }
  const server = parsed.isFlexible ? await findServer(reader, parsed.id) : undefined
  const host = model.sourceHost ?? server?.model.host
  const user = model.sourceUser ?? server?.model.login
  if (host === undefined) {
    return `'${parsed.id.text}' is not registered, so sourceDbServerFullyQualifiedDomainName must say where it is`
  }
  if (user === undefined) {
    return `'${parsed.id.text}' is not registered, so secretParameters.sourceServerUsername must name the user`
  }
  const rootCertificates = server?.model.rootCertificates
  return {
    address: {
      host,
      port: server?.model.port ?? defaultPort,
      user,
      sslMode,
      ...(rootCertificates === undefined ? {} : { rootCertificates }),
    },
    server,
  }
}

/**
 * Returns a reason in words if a password was given before the registered server became the receiver that it is
 * now, else undefined. Without this check, whoever may write the server would receive the password. An online
 * migration sends the source's password to the target.
 */
export function passwordReceiverProblem(
  { mode, passwordsGiven }: Pick<Migration, 'mode' | 'passwordsGiven'>,
  { sourceServer, targetServer }: Pick<MigrationEnds, 'sourceServer' | 'targetServer'>,
): string | undefined {
  const { source = 0, target = 0 } = passwordsGiven ?? {}
  const isNewer = (server: FoundServer | undefined, given: number): boolean =>
    (server?.model.receiverSince ?? 0) > given
  const isSource =
    isNewer(sourceServer, source) || (mode === 'Online' && isNewer(targetServer, source))
  const names = [
    ...(isSource ? ['sourceServerPassword'] : []),
    ...(isNewer(targetServer, target) ? ['targetServerPassword'] : []),
  ]
  return names.length === 0
    ? undefined
    : `a server was registered, or is reached otherwise, since ${names.join(' and ')} was given: give it again`
}

/** Leaves out the databases that were canceled before their migration started. */
export function specOf(
  model: Migration,
  ends: MigrationEnds,
  installed: MigrationSettings,
  tags: Readonly<Record<string, string>> | undefined,
): MigrationSpec {
  const settings = settingsBy(tags, installed)
  const databases = model.databases ?? []
  const { cancel } = ordersFor(model.asked, databases)
  const { fence, verify, tablesAtOnce, databasesAtOnce, sourcesFromTargets } = settings
  const { authoritiesAtTarget } = settings
  const { storageSizeGB } = ends.targetServer.model
  const { host, port } = ends.source
  const seenAs = sourcesFromTargets?.get(`${host}:${port}`.toLowerCase())
  return {
    mode: model.mode === 'Online' ? 'online' : 'offline',
    source: ends.source,
    target: ends.target,
    ...(seenAs === undefined ? {} : { sourceFromTarget: seenAs }),
    ...(authoritiesAtTarget === undefined ? {} : { authoritiesAtTarget }),
    databases: databases.filter((name) => !cancel.includes(name)),
    overwrite: model.overwrite === 'True',
    roles: model.migrateRoles === 'True',
    setUpReplication: model.setUpReplication === 'True',
    fence,
    verify,
    analyze: true,
    tablesAtOnce,
    databasesAtOnce,
    ...(storageSizeGB === undefined ? {} : { targetStorageBytes: storageSizeGB * 2 ** 30 }),
  }
}
