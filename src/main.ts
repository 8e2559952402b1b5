/**
 * The composition root: opens the store, ties the areas together, listens, drains. The only wiring, and the
 * only place besides tests where real time and chance come in.
 */

import { startBlockSummaries } from '#activity/blocks.ts'
import { openActivityQueue } from '#activity/queue.ts'
import { recordedSql } from '#activity/recorded-sql.ts'
import { startActivitySweep } from '#activity/sweep.ts'
import { createBusiness } from '#business/service.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { gitRepositories } from '#engines/repositories/git-repositories.ts'
import { addressGroupOf, createAddressOf, createProxyTest, originOf } from '#http/client-address.ts'
import { listenForMetrics } from '#http/metrics-listener.ts'
import { createPermissionWatch } from '#http/permission-watch.ts'
import { createHttpServer, type HttpServer } from '#http/server.ts'
import { createStreams } from '#http/streams.ts'
import { defaultThrottle, type ThrottleSettings } from '#http/throttle.ts'
import { openIdentity } from '#identity/identity.ts'
import { refuse } from '#kernel/error.ts'
import type { Clock } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { rootId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { openOutbound } from '#outbound/outbound.ts'
import { type Access, allowsWithoutAttributes } from '#plane/access.ts'
import { createPlane, type PlaneServices, type RunningPlane } from '#plane/create-plane.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { Timers } from '#plane/reconciler.ts'
import { openConsentFlow } from '#providers/api-management/domain/consent/flow.ts'
import { createAuthorizer } from '#providers/authorization/domain/authorizer.ts'
import { lockGuard } from '#providers/authorization/domain/lock-guard.ts'
import { consentParts, providers } from '#providers/index.ts'
import type { Store } from '#stores/store.ts'
import type { Config } from './config.ts'
import { openDenials } from './installation/denials.ts'
import { guardStore } from './installation/guarded-store.ts'
import { openServerHome, type ServerHome } from './installation/home.ts'
import { isSeeded, markSeeded } from './installation/record.ts'
import { createLog } from './log.ts'
import { consentPages, consentPrefix } from './main/consent-pages.ts'
import { chooseContainerEngine } from './main/container-engine.ts'
import { directoryTable } from './main/directory-table.ts'
import { makeOwner, ownerOf, seedInstallation } from './main/first-start.ts'
import { keyRoutes } from './main/key-routes.ts'
import { openKeys } from './main/keys.ts'
import { openMigrating } from './main/migration-engine.ts'
import { areaMigrations } from './main/migrations.ts'
import { openApiTexts } from './main/openapi-texts.ts'
import { randomIds as ids } from './main/random-ids.ts'
import { openReadiness } from './main/readiness.ts'
import { openSignInActivity } from './main/sign-in-activity.ts'
import { openTemplateLinks } from './main/template-links.ts'
import { openTokenEndpoint } from './main/token-endpoint.ts'

export interface Started extends AsyncDisposable {
  readonly url: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly signInUrl: string
  readonly firstStart: boolean
  readonly home: string
  /** The container engine that was taken. */
  readonly containers: string
  readonly store: string
  readonly startedInMilliseconds: number
  /** Logs an error that nobody handled, with its stack, and counts it for `/metrics`. */
  noteUnhandled(kind: 'rejection' | 'exception', error: unknown): void
  close(): Promise<void>
}

const clock: Clock = { now: () => Date.now() }
const ticks = (): number => performance.now()
const timers: Timers = {
  after(milliseconds, callback) {
    const timer = setTimeout(callback, milliseconds)
    return { cancel: () => clearTimeout(timer) }
  },
}

/** Starts an installation. Throws `StoreUnavailable` and `Error`s whose messages are for the operator. */
export async function start(config: Config): Promise<Started> {
  const home = openServerHome(config.home)
  const log = await createLog(config.logLevel)
  // A start that fails half-way lets go of all it took: a pool left open would hold the process for its idle time.
  await using undo = new AsyncDisposableStack()
  const opened = undo.use(await openStore(config, home))
  const { keyring, rotation, record, indexKey } = undo.use(
    await openKeys({ config, home, store: opened, clock, ticks, ids, log }),
  )
  const store = guardStore(opened, rotation.guard)

  const unhandled = { rejections: 0, exceptions: 0 }
  const outbound = openOutbound({ settings: config.outbound, log })

  // The public address may be known only once the port is.
  let listening = config.publicUrl ?? ''
  const addressOf = createAddressOf(config.trustedProxies, config.proxyHeader)
  const activity = openActivityQueue({
    sql: store.sql,
    clock,
    log,
    omittedAction: qualify(config.words, 'Insights/eventtypes/omitted'),
  })
  const signIns = openSignInActivity({
    activity,
    directory: () => identity.directory,
    words: config.words,
    ids,
    log,
  })
  const identity = openIdentity({
    sql: store.sql,
    namespace: config.words.namespace,
    onSignIn: signIns.onSignIn,
    feed: store.feed('directory'),
    clock,
    ids,
    log,
    seal: keyring.identitySeal(indexKey),
    tenantId: record.tenantId,
    publicUrl: () => listening,
    issuers: config.issuers,
    limits: {
      sessionSeconds: config.sessionIdleHours * 3600,
      sessionSecondsMax: config.sessionHours * 3600,
      passwordLengthMin: config.passwordLength,
    },
    outbound,
    localTokenSecret: home.localTokenSecret(),
    originOf: (request) => originOf(request, addressOf),
    addressGroupOf,
  })
  const firstStart = !(await isSeeded(store.sql))
  const ownerId = firstStart
    ? await makeOwner({ identity, home, store, timers })
    : await ownerOf(identity)

  const containers = await chooseContainerEngine(config, record.tenantId, clock, outbound)
  undo.use(containers.engine)
  log.debug({ engine: containers.title }, 'container engine')
  const migrating = openMigrating(config, clock, outbound)
  undo.use(migrating.engine)
  const feeds = { rights: store.feed('authorization'), directory: store.feed('directory') }
  const permissions = createPermissionWatch({
    version: async () => `${await feeds.rights.position()} ${await feeds.directory.position()}`,
    now: () => clock.now(),
    log,
  })
  const streams = createStreams({ ids, clock, log, permissions, publicUrl: () => listening })
  const denials = openDenials(store.sql, clock, log)
  const authorizer = createAuthorizer({
    words: config.words,
    feed: feeds.rights,
    directoryFeed: feeds.directory,
    directory: identity.directory,
    // Asked for at the first question, when the plane exists.
    reader: { get: (id) => plane.reader.get(id), list: (query) => plane.reader.list(query) },
  })
  const consent = {
    tokens: openTokenEndpoint({ outbound, publicUrl: () => listening }),
    redirects: config.consentRedirects,
  }
  const worldOf = (services: PlaneServices): ProviderContext => ({
    words: config.words,
    directory: identity.directory,
    workloads: identity.directory,
    tenantId: record.tenantId,
    clock,
    ids,
    timers,
    log,
    sql: recordedSql(store.sql, clock),
    sealOf: (purpose) => keyring.sealOf(purpose),
    publicUrl: () => listening,
    services,
  })
  const plane = createPlane({
    providers: (services) =>
      providers({
        context: worldOf(services),
        consent,
        isRoleInUse: (roleId) => authorizer.isRoleInUse(roleId),
        inspection: {
          explain: (asked) => authorizer.explain(asked),
          permissionsAt: (principal, scope) => authorizer.permissionsAt(principal, scope),
          attributesOf: (id) => services.attributesOf(id),
          findDenied: (id) => denials.find(id),
        },
        containers: {
          engine: containers.engine,
          repositories: gitRepositories({ outbound }),
          streams,
          ...(containers.cpusMax === undefined ? {} : { cpusMax: containers.cpusMax }),
          allowedRegistries: config.containersRegistries,
          ...(config.containersShares === undefined ? {} : { shareRoot: config.containersShares }),
        },
        copying: {
          engine: workerEngine(config.outbound),
          root: config.shareRoot,
          databasesRoot: config.shareDatabases,
        },
        migrating,
        ...(config.templateLinks.length === 0
          ? {}
          : {
              templateLinks: openTemplateLinks({ outbound, allowed: config.templateLinks }),
            }),
      }),
    store,
    access: authorizer,
    isActive: (principal) => identity.directory.isActive(principal),
    words: config.words,
    clock,
    ids,
    log,
    limits: config.limits,
    tokenKeys: () => keyring.signingKeys('continuation tokens'),
    scopes: config.scopes,
    apiVersions: config.apiVersions,
    timers,
    guards: [lockGuard],
    onDenied: (denied) => denials.note(denied),
  })
  undo.use(activity)
  undo.use(signIns)
  undo.use(denials)
  undo.use(authorizer)
  undo.use(plane)
  if (firstStart) {
    await seedInstallation({ plane, record, ownerId, ids })
    await markSeeded(store.sql)
  }

  const business = createBusiness({
    sql: store.sql,
    activity,
    clock,
    ids,
    namespace: config.words.namespace,
    publicUrl: () => listening,
    conflictStatus: config.businessConflictStatus,
    groupsOf: (id) => identity.directory.groupsOf(id),
    administers: async (principal) =>
      allowsWithoutAttributes(
        authorizer,
        {
          principal,
          action: qualify(config.words, 'Business/companies/write'),
          scope: rootId,
        },
        clock.now(),
      ),
  })
  const server = createHttpServer({
    business,
    plane,
    authenticate: (header) => identity.authenticator.authenticate(header),
    expiryOf: (header) => identity.authenticator.expiryOf(header),
    permissions,
    oauth: (request, response) => identity.handleOAuth(request, response),
    directoryRoutes: directoryTable(
      {
        identity,
        keys: keyRoutes({ config, home, keyring, rotation, sql: recordedSql(store.sql, clock) }),
      },
      config.words,
    ),
    activity,
    addressOf,
    publishesMetrics: config.metrics === 'public',
    isProxy: createProxyTest(config.trustedProxies),
    authorizeAction: (action, principal) =>
      authorizeAtRoot(
        authorizer,
        qualify(config.words, 'Authorization/roleAssignments/write'),
        qualify(config.words, action),
        principal,
      ),
    clock,
    ids,
    ticks,
    log,
    logRequests: config.logLevel === 'debug',
    limits: config.limits,
    throttle: throttleOf(config, ownerId),
    words: config.words,
    region: 'LOCAL',
    publicUrl: () => listening,
    unhandledErrors: () => unhandled,
    readiness: openReadiness({ sql: store.sql, engine: containers.engine, log, ticks }),
    openapi: openApiTexts(plane, config.words),
    upgrades: [streams],
    mounts: [
      {
        prefix: consentPrefix,
        handle: consentPages({
          flow: openConsentFlow(consentParts(worldOf(plane.services), consent)),
          log,
          publicUrl: () => listening,
        }),
      },
    ],
  })
  undo.use(server)
  const metricsListener =
    typeof config.metrics === 'string'
      ? undefined
      : undo.use(await listenForMetrics(config.metrics, server.scrape))
  const { url } = await server.listen({ host: config.host, port: config.port })
  if (listening === '') listening = url
  plane.start()
  rotation.start()
  const sweep = startActivitySweep({ sql: store.sql, clock, log, keptDays: config.activityDays })
  undo.use(sweep)
  const blocks = startBlockSummaries({ sql: store.sql, clock, log })
  undo.use(blocks)
  const shown = {
    tenantId: record.tenantId,
    subscriptionId: record.subscriptionId,
    principalId: ownerId,
  }
  home.writeRunning({
    url: listening,
    localUrl: url,
    pid: process.pid,
    ...shown,
    words: config.words,
  })
  const engine = containers.engine
  const running = {
    server,
    metricsListener,
    plane,
    engine,
    authorizer,
    denials,
    activity,
    signIns,
    sweep,
    blocks,
    rotation,
    store,
    home,
    config,
  }
  const close = once(() => stop(running))
  undo.move()
  return {
    url: listening,
    ...shown,
    signInUrl: `${listening}/signed-in`,
    firstStart,
    home: config.home,
    containers: containers.title,
    store: config.store === undefined ? home.databasePath : withoutPassword(config.store),
    startedInMilliseconds: performance.now(),
    noteUnhandled(kind, error) {
      unhandled[kind === 'rejection' ? 'rejections' : 'exceptions']++
      log.error({ err: error, kind }, 'an error that nobody handled')
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** The drivers are loaded only where they serve: PostgreSQL's is no part of an embedded start. */
async function openStore(config: Config, home: ServerHome): Promise<Store> {
  const options = {
    migrations: areaMigrations,
    words: config.words,
    transactionRetriesMax: config.limits.transactionRetriesMax,
  }
  if (config.store === undefined) {
    const { openSqlite } = await import('#stores/sqlite/open.ts')
    return openSqlite({ path: home.databasePath, ...options })
  }
  const { openPostgres } = await import('#stores/postgres/open.ts')
  return openPostgres({ url: config.store, poolSize: config.storeConnections, clock, ...options })
}

async function authorizeAtRoot(
  access: Access,
  assigning: string,
  action: string,
  principal: Principal,
): Promise<void> {
  // The directory's routes are about no resource, so a condition on one cannot hold.
  const allows = (one: string): Promise<boolean> | boolean =>
    allowsWithoutAttributes(access, { principal, action: one, scope: rootId }, clock.now())
  // Whoever changes members, passwords or secrets can act as others: that is as strong as giving roles.
  const needs = action.endsWith('/read') ? [action] : [action, assigning]
  const granted = await Promise.all(needs.map(allows))
  if (granted.every((one) => one)) return
  throw refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action,
    scope: '/',
  })
}

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

interface Running {
  readonly server: HttpServer
  readonly metricsListener: AsyncDisposable | undefined
  readonly plane: RunningPlane
  readonly engine: AsyncDisposable
  readonly authorizer: AsyncDisposable
  readonly denials: AsyncDisposable
  readonly activity: AsyncDisposable
  readonly signIns: AsyncDisposable
  readonly sweep: AsyncDisposable
  readonly blocks: AsyncDisposable
  readonly rotation: AsyncDisposable
  readonly store: Store
  readonly home: ServerHome
  readonly config: Config
}

/** In the order of dependence: nothing is taken away from what still works with it. */
async function stop(running: Running): Promise<void> {
  const { server, metricsListener, plane, engine, authorizer, denials, store, home, config } =
    running
  const { activity, signIns, sweep, blocks } = running
  home.removeRunning()
  await server.close({ drainSeconds: config.limits.drainSeconds })
  await metricsListener?.[Symbol.asyncDispose]()
  await plane[Symbol.asyncDispose]()
  await engine[Symbol.asyncDispose]()
  await authorizer[Symbol.asyncDispose]()
  await denials[Symbol.asyncDispose]()
  await sweep[Symbol.asyncDispose]()
  await blocks[Symbol.asyncDispose]()
  await running.rotation[Symbol.asyncDispose]()
  // Everything that notes has ended.
  await signIns[Symbol.asyncDispose]()
  await activity[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}

function withoutPassword(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return 'postgres'
  if (parsed.password !== '') parsed.password = '***'
  return parsed.href
}
