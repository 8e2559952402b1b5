/**
 * Builds the plane of an installation: its providers over their engines, the authorizer, and what ends when rights
 * end.
 */

import { recordedSql } from '#activity/recorded-sql.ts'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { createPermissionWatch, type PermissionWatch } from '#http/permission-watch.ts'
import { createStreams, type Streams } from '#http/streams.ts'
import type { IdentityDirectory } from '#identity/directory.ts'
import { createPlane, type PlaneServices, type RunningPlane } from '#plane/create-plane.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import { type ConsentFlow, openConsentFlow } from '#providers/api-management/domain/consent/flow.ts'
import type { Inspection } from '#providers/authorization/dependencies.ts'
import { type Authorizer, createAuthorizer } from '#providers/authorization/domain/authorizer.ts'
import { lockGuard } from '#providers/authorization/domain/lock-guard.ts'
import { consentParts, type ProviderDependencies, providers } from '#providers/index.ts'
import { placedScopes } from '#providers/management/domain/hierarchy.ts'
import { ownPorts } from '../config/containers.ts'
import { type Denials, openDenials } from '../installation/denials.ts'
import type { Engines } from './engines.ts'
import type { Foundation } from './foundation.ts'
import { readSchemaFiles } from './generic-schemas.ts'
import { openTemplateLinks } from './template-links.ts'
import { openTokenEndpoint } from './token-endpoint.ts'

export interface InstallationPlane {
  readonly plane: RunningPlane
  readonly authorizer: Authorizer
  readonly permissions: PermissionWatch
  readonly streams: Streams
  readonly consentFlow: ConsentFlow
}

export function openInstallationPlane(
  base: Foundation,
  { directory, ownerId }: { readonly directory: IdentityDirectory; readonly ownerId: string },
  engines: Engines,
  opened: AsyncDisposableStack,
): InstallationPlane {
  const { config, store, clock, ids, timers, log, outbound, publicUrl } = base
  const feeds = { rights: store.feed('authorization'), directory: store.feed('directory') }
  const permissions = createPermissionWatch({
    version: async () =>
      `${await feeds.rights.position()} ${await feeds.directory.position()} ${feeds.directory.server}`,
    now: () => clock.now(),
    log,
  })
  const streams = createStreams({ ids, clock, log, permissions, publicUrl })
  const denials = opened.use(openDenials(store.sql, clock, log))
  const authorizer = opened.use(
    createAuthorizer({
      words: config.words,
      feed: feeds.rights,
      directoryFeed: feeds.directory,
      directory,
      // Read at the first call, when the plane exists.
      reader: { get: (id) => plane.reader.get(id), each: (query) => plane.reader.each(query) },
      placed: placedScopes(config.words, base.record.tenantId),
    }),
  )
  const consent = {
    tokens: openTokenEndpoint({ outbound, publicUrl }),
    redirects: config.consentRedirects,
  }
  const contextOf = (services: PlaneServices) => providerContext(base, directory, services)
  const closing = new AbortController()
  const plane: RunningPlane = opened.use(
    createPlane({
      providers: (services) =>
        providers({
          ...providerEngines(base, engines, streams, closing.signal),
          context: contextOf(services),
          consent,
          printer: base.pdfs,
          // The plane is not there yet, so it is closed before that.
          onClose: (close) => opened.defer(close),
          isUnthrottled: (id) =>
            !config.throttle.enabled || (id === ownerId && !config.throttle.owner),
          assignmentsOf: (roleId) => authorizer.assignmentsOf(roleId),
          scopesAbove: (scope) => authorizer.scopesAbove(scope),
          placesAbove: (scope) => authorizer.placesAbove(scope),
          inspection: inspectionOf(authorizer, denials, services),
        }),
      store,
      access: authorizer,
      isActive: (principal) => directory.isActive(principal),
      words: config.words,
      clock,
      ids,
      log,
      heap: base.heap,
      limits: config.limits,
      tokenKeys: () => base.keyring.signingKeys('continuation tokens'),
      scopes: config.scopes,
      apiVersions: config.apiVersions,
      timers,
      faults: base.faults,
      guards: [lockGuard],
      onDenied: (denied) => denials.note(denied),
    }),
  )
  // Before the plane, which waits for its work.
  opened.defer(async () => {
    closing.abort()
    // What is under way waits for no name. Looks of migrations end first: without a name they would have failed for good.
    await engines.migrating.engine[Symbol.asyncDispose]()
    await base.names[Symbol.asyncDispose]()
  })
  const consentFlow = openConsentFlow(consentParts(contextOf(plane.services), consent))
  return { plane, authorizer, permissions, streams, consentFlow }
}

function providerContext(
  { config, record, clock, ids, timers, log, store, keyring, publicUrl }: Foundation,
  directory: IdentityDirectory,
  services: PlaneServices,
): ProviderContext {
  return {
    words: config.words,
    directory,
    workloads: directory,
    tenantId: record.tenantId,
    clock,
    ids,
    timers,
    log,
    sql: recordedSql(store.sql, clock),
    sealOf: (purpose) => keyring.sealOf(purpose),
    publicUrl,
    services,
  }
}

/** The authorizer and the refusals, for callers who ask for the reason of a decision. */
function inspectionOf(
  authorizer: Authorizer,
  denials: Denials,
  services: PlaneServices,
): Inspection {
  return {
    explain: (request) => authorizer.explain(request),
    permissionsAt: (principal, scope) => authorizer.permissionsAt(principal, scope),
    attributesOf: (id) => services.attributesOf(id),
    findDenied: (id) => denials.find(id),
  }
}

function providerEngines(
  { config, home, outbound }: Foundation,
  { containers, copying, migrating }: Engines,
  streams: Streams,
  closing: AbortSignal,
): Pick<
  ProviderDependencies,
  'containers' | 'copying' | 'migrating' | 'templateLinks' | 'generic'
> {
  return {
    containers: {
      engine: containers.engine,
      repositories: gitRepositories({ outbound, folder: home.temporaryFolder, signal: closing }),
      streams,
      ...(containers.cpusMax === undefined ? {} : { cpusMax: containers.cpusMax }),
      hostAddress: config.containersAddress,
      keptPorts: ownPorts(config),
      allowedRegistries: config.containersRegistries,
      ...(config.containersShares === undefined ? {} : { shareRoot: config.containersShares }),
    },
    copying,
    migrating,
    ...(config.generic === undefined
      ? {}
      : { generic: { schemaFiles: readSchemaFiles(config.generic.schemas) } }),
    ...(config.templateLinks.length === 0
      ? {}
      : { templateLinks: openTemplateLinks({ outbound, allowed: config.templateLinks }) }),
  }
}
