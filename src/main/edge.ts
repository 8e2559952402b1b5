/**
 * Builds the HTTP server from its parts: the plane, the sign-in, the directory, the business application, the
 * pages.
 */

import { recordedSql } from '#activity/recorded-sql.ts'
import { openTail } from '#activity/tail.ts'
import { type Business, createBusiness } from '#business/service.ts'
import { createChangeStream } from '#http/change-stream.ts'
import { createHttpServer, type HttpServer } from '#http/server.ts'
import { defaultThrottle, type ThrottleSettings } from '#http/throttle.ts'
import { refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import { parseResourceId, type ResourceId, rootId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { allowsWithoutAttributes, asKnown } from '#plane/access.ts'
import type { Config } from '../config.ts'
import type { States } from '../control/states.ts'
import type { Accounts } from './accounts.ts'
import { consentPages, consentPrefix } from './consent-pages.ts'
import { consolePages, consolePrefix, hasConsole } from './console.ts'
import type { ChosenEngine } from './container-engine.ts'
import { controlNamespace, controlRoutes } from './control-routes.ts'
import { directoryTable } from './directory-table.ts'
import { documentationPages, documentationPrefix } from './documentation.ts'
import { createFaultCheck } from './faults.ts'
import type { Foundation } from './foundation.ts'
import type { InstallationPlane } from './installation-plane.ts'
import { keyRoutes } from './key-routes.ts'
import { metricSources } from './metric-sources.ts'
import { openApiTexts } from './openapi-texts.ts'
import type { InstallationOutbox } from './outbox.ts'
import { openReadiness } from './readiness.ts'

interface Served extends InstallationPlane, Accounts {
  readonly ownerId: string
  readonly containers: ChosenEngine
  readonly states: States
  readonly outbox: InstallationOutbox
  /** Whether the principal may administer the business application. */
  readonly administers: (principal: Principal, refreshed?: Promise<unknown>) => Promise<boolean>
  readonly unhandledErrors: () => { readonly rejections: number; readonly exceptions: number }
}

/** These actions are about no resource, so a condition on a resource cannot hold. */
function allowingAtRoot(
  { config: { words }, clock }: Foundation,
  { authorizer }: Pick<InstallationPlane, 'authorizer'>,
) {
  return async (
    principal: Principal,
    action: string,
    refreshed?: Promise<unknown>,
  ): Promise<boolean> => {
    await refreshed
    return allowsWithoutAttributes(
      refreshed === undefined ? authorizer : asKnown(authorizer),
      { principal, action: qualify(words, action), scope: rootId },
      clock.now(),
    )
  }
}

export function businessAdministrators(
  base: Foundation,
  served: Pick<InstallationPlane, 'authorizer'>,
): Served['administers'] {
  const allows = allowingAtRoot(base, served)
  return (principal, refreshed) => allows(principal, 'Business/companies/write', refreshed)
}

export function createEdge(base: Foundation, served: Served): HttpServer {
  const { config, home, store, keyring, rotation, addressOf, clock, ids, ticks, log, heap } = base
  const { identity, activity, plane, streams, permissions } = served
  const { words } = config
  const allowsAtRoot = allowingAtRoot(base, served)
  const notAllowed = (principal: Principal, action: string) =>
    refuse.AuthorizationFailed({
      client: principal.displayName,
      principalId: principal.id,
      action: qualify(words, action),
      scope: '/',
    })
  const known = asKnown(served.authorizer)
  const changes = createChangeStream({
    tail: openTail(store.sql),
    refresh: () => served.authorizer.refresh?.(),
    mayRead(principal, key) {
      const scope = parseResourceId(key) ?? rootId
      const action = `${typeOf(scope, words.namespace)}/read`
      return allowsWithoutAttributes(known, { principal, action, scope }, clock.now())
    },
    log,
  })
  const readiness = openReadiness({
    sql: store.sql,
    engine: served.containers.engine,
    log,
    ticks,
  })
  const pages = consolePages(words)
  return createHttpServer({
    temporaryFolder: home.temporaryFolder,
    business: businessOf(base, served),
    plane,
    authenticate: (header) => identity.authenticator.authenticate(header),
    callerOf: (header) => identity.authenticator.callerOf(header),
    expiryOf: (header) => identity.authenticator.expiryOf(header),
    permissions,
    oauth: (request, response) => identity.handleOAuth(request, response),
    directoryRoutes: directoryTable(
      {
        identity,
        unrecorded: [
          changes.route,
          ...controlRoutes({
            config,
            movedClock: base.movedClock,
            states: served.states,
            faults: base.faults,
            activity,
          }),
        ],
        keys: keyRoutes({ config, home, keyring, rotation, sql: recordedSql(store.sql, clock) }),
      },
      words,
    ),
    activity,
    addressOf,
    publishesMetrics: config.metrics === 'public',
    isProxy: base.isProxy,
    async authorizeAction(action, principal) {
      if (action.startsWith(controlNamespace)) {
        if (principal.id === served.ownerId) return
        throw notAllowed(principal, action)
      }
      // Whoever changes members, passwords or secrets can act as others. That needs the same right as assigning
      // roles.
      const needs = action.endsWith('/read') ? [action] : [action, assigning]
      const granted = await Promise.all(needs.map((need) => allowsAtRoot(principal, need)))
      if (granted.every((one) => one)) return
      throw notAllowed(principal, action)
    },
    clock,
    ...(base.movedClock === undefined ? {} : { isClockMoved: true as const }),
    ids,
    ...(base.faults === undefined
      ? {}
      : { meetFault: createFaultCheck(base.faults, base.machineTimers) }),
    ticks,
    log,
    heap,
    logRequests: config.logRequests ? 'info' : config.logLevel === 'debug' ? 'debug' : 'off',
    limits: config.limits,
    throttle: throttleOf(config, served.ownerId),
    words,
    region: 'LOCAL',
    publicUrlOf: base.publicUrlOf,
    corsOrigins: config.corsOrigins,
    strictTransport: config.publicUrl?.startsWith('https:') === true,
    ...(base.certificates === undefined ? {} : { certificates: base.certificates }),
    metricSources: metricSources({
      plane,
      store,
      clock,
      readiness,
      unhandledErrors: served.unhandledErrors,
    }),
    readiness,
    openapi: openApiTexts(plane, words),
    upgrades: [streams],
    endless: [changes],
    ...(hasConsole() ? { frontPage: `${consolePrefix.slice(1)}/` } : {}),
    mounts: [
      { prefix: consolePrefix, handle: pages },
      { prefix: documentationPrefix, handle: documentationPages(log), isThrottled: true },
      {
        prefix: consentPrefix,
        handle: consentPages({ flow: served.consentFlow, log, publicUrl: base.publicUrl }),
        isThrottled: true,
      },
    ],
  })
}

function businessOf(
  { config, store, clock, businessIds: ids, publicUrl, pdfs }: Foundation,
  { identity, activity, outbox, administers }: Served,
): Business {
  return createBusiness({
    sql: store.sql,
    activity,
    clock,
    ids,
    namespace: config.words.namespace,
    publicUrl,
    conflictStatus: config.businessConflictStatus,
    pdfs,
    outbox,
    groupsOf: (id) => identity.directory.groupsOf(id),
    administers,
  })
}

/** Paths that belong to no resource may be read by whoever may read everything. */
function typeOf({ segments }: ResourceId, namespace: string): string {
  const last = segments.at(-1)
  return [last?.namespace ?? `${namespace}.Resources`, ...(last?.types ?? ['tenants'])].join('/')
}

const assigning = 'Authorization/roleAssignments/write'

function throttleOf(config: Config, ownerId: string): ThrottleSettings | false {
  const { enabled, owner, reads, writes, deletes, anonymous, subscriptionFactor, atOnce } =
    config.throttle
  if (!enabled) return false
  return {
    ...defaultThrottle,
    subscription: { reads, writes, deletes },
    tenant: { reads, writes, deletes },
    anonymous,
    allPrincipalsFactor: subscriptionFactor,
    atOnceMax: atOnce,
    ownerId,
    refusesOwner: owner,
  }
}
