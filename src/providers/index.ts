/** The list of providers, one line each, and what they need besides the world: their engines. */

import type { CopyEngine } from '#engines/copy/engine.ts'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import type { Provider } from '#plane/define.ts'
import type { World } from '#plane/world.ts'
import type { Migration } from '#stores/store.ts'
import type { ConsentParts } from './api-management/authorizations/parts.ts'
import { apiManagementProvider } from './api-management/provider.ts'
import { authorizationProvider, type Inspection } from './authorization/provider.ts'
import { billingMigrations } from './billing/migrations.ts'
import { billingProvider, usageMeter } from './billing/provider.ts'
import { sightingOf } from './container-instance/container-groups/sighting.ts'
import {
  type ContainerInstanceParts,
  containerInstanceProvider,
} from './container-instance/provider.ts'
import { dataShareMigrations } from './data-share/ledger/migrations.ts'
import { dataShareProvider } from './data-share/provider.ts'
import { serverSighting } from './db-for-postgresql/flexible-servers/sighting.ts'
import type { MigrationSettings } from './db-for-postgresql/parts.ts'
import { postgresProvider } from './db-for-postgresql/provider.ts'
import { insightsProvider } from './insights/provider.ts'
import { openManagedIdentities } from './managed-identity/managed-identities.ts'
import { managedIdentityProvider } from './managed-identity/provider.ts'
import { healthMigrations } from './resource-health/migrations.ts'
import { healthSignals, resourceHealthProvider } from './resource-health/provider.ts'
import { TemplateThreads } from './resources/deployments/evaluation/template-threads.ts'
import { resourcesProvider, type TemplateLinks } from './resources/provider.ts'
import { secretsProvider } from './secrets/provider.ts'
import { openSecretStore } from './secrets/secret-store.ts'
import { sqlProvider } from './sql/provider.ts'
import { openSqlPlaces } from './sql/sql-places.ts'
import { storageProvider } from './storage/provider.ts'
import { openShareAccounts } from './storage/share-accounts.ts'
import { openStoragePlaces } from './storage/storage-places.ts'

/** The engine of containers and what goes with it: what the world does not have. */
export type ContainerEngines = Omit<ContainerInstanceParts, keyof World | 'reader' | 'seal'>

export interface ProviderParts {
  readonly world: World
  /** The authorizer's answer, from the index it keeps. */
  isRoleInUse(roleId: string): boolean | undefined
  /** The authorizer, for those who ask why. */
  readonly inspection?: Inspection
  /** Without it the namespace is not there. */
  readonly containers?: ContainerEngines
  /** What links of templates may lead to. Without it none is followed. */
  readonly templateLinks?: TemplateLinks
  /** Without it the namespaces of data sharing, and of the stores it copies between, are not there. */
  readonly copying?: Copying
  /** Without it the namespace of database migrations is not there. */
  readonly migrating?: Migrating
  /** Without it API management has no authorizations. */
  readonly consent?: Consenting
}

/** How identity providers are reached, and where browsers may go back to. */
export type Consenting = Pick<ConsentParts, 'tokens' | 'redirects'>

export interface Migrating {
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
}

export interface Copying {
  readonly engine: CopyEngine
  /** Absolute: the folder that storage accounts of folders are in. */
  readonly root: string
  /** Absolute: the folder that servers of DuckDB files are in. */
  readonly databasesRoot: string
}

export function providers(parts: ProviderParts): readonly Provider[] {
  const { world, inspection, containers } = parts
  const { words, directory, tenantId, services } = world
  const secrets = { seal: world.sealOf('secrets'), ids: world.ids }
  const { seal, reader } = { seal: world.sealOf('containers'), reader: services.reader }
  return [
    resourcesProvider({
      tenantId,
      ...services,
      deployments: {
        ...world,
        threads: new TemplateThreads(world.clock),
        seal: world.sealOf('deployments'),
        secrets: openSecretStore({ reader: services.reader, seal: secrets.seal }),
        ...(parts.templateLinks === undefined ? {} : { links: parts.templateLinks }),
      },
    }),
    authorizationProvider({
      words,
      directory,
      isRoleInUse: (id) => parts.isRoleInUse(id),
      ...(inspection === undefined ? {} : { inspection }),
    }),
    secretsProvider(secrets),
    apiManagementProvider(
      parts.consent === undefined ? undefined : consentParts(world, parts.consent),
    ),
    managedIdentityProvider(world),
    billingProvider(world),
    insightsProvider(world),
    resourceHealthProvider({
      ...world,
      observers: {
        ...(containers === undefined ? {} : { 'containerinstance/containergroups': sightingOf }),
        ...(parts.migrating === undefined
          ? {}
          : { 'dbforpostgresql/flexibleservers': serverSighting }),
      },
      probes:
        containers === undefined
          ? []
          : [
              {
                key: 'containers/engine',
                service: 'Container Instances',
                title: 'The container engine does not answer',
                level: 'Critical',
                check: () => containers.engine.describe(),
              },
            ],
    }),
    ...(parts.copying === undefined ? [] : sharing(world, parts.copying)),
    ...(parts.migrating === undefined
      ? []
      : [postgresProvider({ ...world, ...parts.migrating, signals: healthSignals(world) })]),
    ...(containers === undefined
      ? []
      : [
          containerInstanceProvider({
            ...world,
            secrets: openSecretStore({ reader, seal: secrets.seal }),
            identities: openManagedIdentities({ reader, words }),
            meter: usageMeter(world),
            ...(parts.copying === undefined
              ? {}
              : { shareAccounts: openShareAccounts({ reader, seal: world.sealOf('storage') }) }),
            ...containers,
            seal,
            reader,
          }),
        ]),
  ]
}

/** What authorizations of API management need; the pages of a consent need the same. */
export function consentParts(world: World, consent: Consenting): ConsentParts {
  return { ...world, ...consent, seal: world.sealOf('authorizations') }
}

/** Data sharing, and the registered stores that its data sets name. */
function sharing(world: World, { engine, root, databasesRoot }: Copying): readonly Provider[] {
  const { reader } = world.services
  const stores = { seal: world.sealOf('storage'), reader, root }
  const servers = { seal: world.sealOf('sql'), reader, root: databasesRoot }
  const storage = openStoragePlaces(stores)
  const sql = openSqlPlaces(servers)
  return [
    storageProvider(stores),
    sqlProvider(servers),
    dataShareProvider({
      ...world,
      engine,
      places: {
        storageAction: storage.useAction,
        storage: (id) => storage.find(id),
        sqlAction: sql.useAction,
        sql: (id) => sql.find(id),
      },
    }),
  ]
}

/** The tables of the providers that own some. */
export const providerMigrations: readonly Migration[] = [
  ...billingMigrations,
  ...dataShareMigrations,
  ...healthMigrations,
]
