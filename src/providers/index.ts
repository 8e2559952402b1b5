/** The list of providers, one line each, and the engines they need. */

import type { CopyEngine } from '#engines/copy/engine.ts'
import type { DatabaseEngine } from '#engines/databases/engine.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Provider } from '#plane/declare/provider.ts'
import type { RouteDescription } from '#plane/plane.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { Migration } from '#stores/store.ts'
import type { ConsentDependencies, ServiceDependencies } from './api-management/dependencies.ts'
import { apiManagementMigrations } from './api-management/domain/migrations.ts'
import { apiManagementProvider } from './api-management/provider.ts'
import type { Inspection } from './authorization/dependencies.ts'
import type { AssignmentsOf } from './authorization/domain/authorizer.ts'
import { builtInRoleIds } from './authorization/domain/built-in-roles.ts'
import { authorizationProvider } from './authorization/provider.ts'
import type { InvoicePrinter } from './billing/domain/invoices/page.ts'
import { billingMigrations } from './billing/domain/migrations.ts'
import { billingProvider, usageMeter } from './billing/provider.ts'
import type { ContainerInstanceDependencies } from './container-instance/dependencies.ts'
import { groupAvailability } from './container-instance/domain/groups/availability.ts'
import { GroupMetrics } from './container-instance/domain/groups/metrics.ts'
import { containerInstanceProvider } from './container-instance/provider.ts'
import { dataShareMigrations } from './data-share/domain/store/migrations.ts'
import { dataShareProvider } from './data-share/provider.ts'
import type { MigrationSettings } from './db-for-postgresql/dependencies.ts'
import { serverAvailability } from './db-for-postgresql/domain/server-availability.ts'
import { postgresProvider } from './db-for-postgresql/provider.ts'
import { featuresProvider } from './features/provider.ts'
import { withDocuments } from './generic/domain/beside-own.ts'
import type { SchemaFile } from './generic/domain/schemas.ts'
import { genericProvider, genericRoutes, withDocumentPrincipals } from './generic/provider.ts'
import { insightsProvider } from './insights/provider.ts'
import { openManagedIdentities } from './managed-identity/domain/managed-identities.ts'
import { managedIdentityProvider } from './managed-identity/provider.ts'
import { managementProvider } from './management/provider.ts'
import { healthMigrations } from './resource-health/domain/migrations.ts'
import { healthSignals, resourceHealthProvider } from './resource-health/provider.ts'
import { defaultAllowance } from './resources/domain/evaluation/allowances.ts'
import {
  defaultThreadLimits,
  TemplateThreads,
} from './resources/domain/evaluation/template-threads.ts'
import { resourcesProvider, type TemplateLinks } from './resources/provider.ts'
import { openSecretStore } from './secrets/domain/secret-store.ts'
import { secretsProvider } from './secrets/provider.ts'
import { openSqlPlaces } from './sql/domain/sql-places.ts'
import { sqlProvider } from './sql/provider.ts'
import { openShareAccounts } from './storage/domain/share-accounts.ts'
import { openStoragePlaces } from './storage/domain/storage-places.ts'
import { storageProvider } from './storage/provider.ts'

/** The container engine and its options. */
export type ContainerEngines = Omit<
  ContainerInstanceDependencies,
  keyof ProviderContext | 'reader' | 'seal'
>

export interface ProviderDependencies {
  readonly context: ProviderContext
  /** The authorizer's answer, from its index. */
  assignmentsOf: AssignmentsOf
  /** The authorizer, for explanations of decisions. */
  readonly inspection?: Inspection
  /** Without it the namespace is not served. */
  readonly containers?: ContainerEngines
  /** Principals whose requests are counted and never throttled. */
  readonly isUnthrottled?: (principalId: string) => boolean
  /** Which links of templates are followed; without it none is. */
  readonly templateLinks?: TemplateLinks
  /** Takes what is to be closed behind the plane. */
  readonly onClose?: (close: () => Promise<void>) => void
  /** Without it the namespaces of data sharing, and of the stores it copies between, are not served. */
  readonly copying?: Copying
  /** Without it the namespace of database migrations is not served. */
  readonly migrating?: Migrating
  /** The authorizer's keys of all scopes that contain a scope. */
  scopesAbove?(scope: ResourceId): Promise<readonly string[]>
  /** The authorizer's keys of the scopes that contain one by placement, beyond those of its path. */
  placesAbove?(scope: ResourceId): readonly string[]
  /** Without it resources of unknown types are refused. */
  readonly generic?: { readonly schemaFiles: readonly SchemaFile[] }
  /** Without it invoices of billing are not printed. */
  readonly printer?: InvoicePrinter
  /** Without it API management has no authorizations. */
  readonly consent?: Consenting
}

/** How identity providers are reached, and where browsers may be redirected. */
export type Consenting = Pick<ConsentDependencies, 'tokens' | 'redirects'>

export interface Migrating {
  readonly engine: DatabaseEngine
  readonly settings: MigrationSettings
}

export interface Copying {
  readonly engine: CopyEngine
  /** An absolute path: the folder of storage accounts. */
  readonly root: string
  /** An absolute path: the folder of servers that are DuckDB files. */
  readonly databasesRoot: string
}

export function providers(deps: ProviderDependencies): readonly Provider[] {
  const { context, generic } = deps
  const served = servedProviders(deps)
  if (generic === undefined) return served
  const documents = { ...context, ...generic, seal: context.sealOf('generic') }
  return [...served.map((one) => withDocuments(documents, one)), genericProvider(documents)]
}

function servedProviders(deps: ProviderDependencies): readonly Provider[] {
  const { context, inspection, containers } = deps
  const { words, directory, tenantId, services } = context
  const secrets = { seal: context.sealOf('secrets'), ids: context.ids }
  const metrics =
    containers === undefined ? undefined : new GroupMetrics({ ...context, ...containers })
  const { seal, reader } = { seal: context.sealOf('containers'), reader: services.reader }
  const threads = new TemplateThreads(context.clock, defaultThreadLimits, {
    ...defaultAllowance,
    ...(deps.isUnthrottled === undefined ? {} : { isUnrefused: deps.isUnthrottled }),
  })
  deps.onClose?.(() => threads.close())
  const served: readonly Provider[] = [
    resourcesProvider({
      tenantId,
      ...services,
      describe: () => withGeneric(services.describe(), deps),
      deployments: {
        ...context,
        threads,
        seal: context.sealOf('deployments'),
        takesAnyType: deps.generic !== undefined,
        roles: builtInRoleIds(words),
        secrets: openSecretStore({ services, seal: secrets.seal }),
        ...(deps.templateLinks === undefined ? {} : { links: deps.templateLinks }),
      },
    }),
    authorizationProvider({
      words,
      directory: deps.generic === undefined ? directory : withDocumentPrincipals(directory),
      takesUnknownPrincipals: deps.generic !== undefined,
      assignmentsOf: deps.assignmentsOf,
      ...(deps.scopesAbove === undefined ? {} : { scopesAbove: deps.scopesAbove.bind(deps) }),
      ...(deps.placesAbove === undefined ? {} : { placesAbove: deps.placesAbove.bind(deps) }),
      describeActions: () => services.describeActions(),
      ...(inspection === undefined ? {} : { inspection }),
    }),
    managementProvider({ words, tenantId }),
    featuresProvider(),
    secretsProvider(secrets),
    apiManagementProvider(
      deps.consent === undefined ? undefined : apiManagementDependencies(context, deps.consent),
    ),
    managedIdentityProvider(context),
    billingProvider({
      ...context,
      ...(deps.printer === undefined ? {} : { printer: deps.printer }),
    }),
    insightsProvider({
      ...context,
      metricSources: {
        ...(metrics === undefined ? {} : { 'containerinstance/containergroups': metrics }),
      },
    }),
    resourceHealthProvider({
      ...context,
      served: () => served,
      observers: {
        ...(containers === undefined
          ? {}
          : { 'containerinstance/containergroups': groupAvailability }),
        ...(deps.migrating === undefined
          ? {}
          : { 'dbforpostgresql/flexibleservers': serverAvailability }),
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
    ...(deps.copying === undefined ? [] : sharing(deps, deps.copying)),
    ...(deps.migrating === undefined
      ? []
      : [postgresProvider({ ...context, ...deps.migrating, signals: healthSignals(context) })]),
    ...(containers === undefined
      ? []
      : [
          containerInstanceProvider({
            ...context,
            secrets: openSecretStore({ services, seal: secrets.seal }),
            identities: openManagedIdentities({ reader, words }),
            meter: usageMeter(context),
            ...(deps.copying === undefined
              ? {}
              : { shareAccounts: openShareAccounts({ reader, seal: context.sealOf('storage') }) }),
            ...(metrics === undefined ? {} : { metrics }),
            ...containers,
            seal,
            reader,
          }),
        ]),
  ]
  return served
}

/** The content of provider lists: served types, and generic types with a known name. */
function withGeneric(
  served: readonly RouteDescription[],
  { context, generic }: ProviderDependencies,
): readonly RouteDescription[] {
  if (generic === undefined) return served
  const types = new Set(served.map(({ type }) => type.toLowerCase()))
  const added = genericRoutes({ ...context, ...generic })
  return [...served, ...added.filter(({ type }) => !types.has(type.toLowerCase()))]
}

/** What authorizations of API management need; the consent pages need the same. */
export function consentParts(context: ProviderContext, consent: Consenting): ConsentDependencies {
  return { ...context, ...consent, seal: context.sealOf('authorizations') }
}

function apiManagementDependencies(
  context: ProviderContext,
  consent: Consenting,
): ConsentDependencies & ServiceDependencies {
  const { reader } = context.services
  const identities = openManagedIdentities({ reader, words: context.words })
  return { ...consentParts(context, consent), ...context, identities }
}

/** Data sharing, and the registered stores that its data sets name. */
function sharing(
  { context, generic, containers }: ProviderDependencies,
  { engine, root, databasesRoot }: Copying,
): readonly Provider[] {
  const { reader } = context.services
  const stores = { seal: context.sealOf('storage'), reader, root }
  const servers = { seal: context.sealOf('sql'), reader, root: databasesRoot }
  const storage = openStoragePlaces(stores)
  const sql = openSqlPlaces(servers)
  return [
    storageProvider({ ...stores, ownsShares: containers !== undefined }),
    sqlProvider({ ...servers, isAddressOptional: generic !== undefined }),
    dataShareProvider({
      ...context,
      engine,
      places: {
        storageUses: storage.uses,
        storage: (id) => storage.find(id),
        sqlAction: sql.useAction,
        sql: (id) => sql.find(id),
      },
    }),
  ]
}

/** The tables of providers that have some. */
export const providerMigrations: readonly Migration[] = [
  ...apiManagementMigrations,
  ...billingMigrations,
  ...dataShareMigrations,
  ...healthMigrations,
]
