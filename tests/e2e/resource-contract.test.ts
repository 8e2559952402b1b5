/**
 * Runs every type through the resource contract with the real providers, directory and authorizer, on both stores.
 */

import assert from 'node:assert/strict'
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { createPostgresEngine } from '#engines/databases/postgres/postgres-engine.ts'
import { openIdentity } from '#identity/identity.ts'
import { identityMigrations } from '#identity/migrations.ts'
import { createSeal } from '#identity/testing/seal.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { type Clock, type Ids, silentLog } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openSettings } from '#outbound/policy.ts'
import { openWay } from '#outbound/testing/ways.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import { ask } from '#plane/testing/ask.ts'
import { resourceContract, type Subject } from '#plane/testing/resource-contract.ts'
import { realTimers } from '#plane/testing/start.ts'
import { createAuthorizer } from '#providers/authorization/domain/authorizer.ts'
import { providerMigrations, providers } from '#providers/index.ts'
import { placedScopes } from '#providers/management/domain/hierarchy.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { unasked } from '../../src/providers/api-management/testing/unasked.ts'
import {
  findPostgres,
  howToGetPostgres,
  preparedDatabases,
} from '../../src/stores/testing/postgres-server.ts'
import { declaredTable } from '../../tools/generate/declared-table.ts'
import { requireDeclared } from '../answers.ts'
import { isLong, someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { roleId, roles } from './access.ts'

const clock: Clock = { now: () => Date.now() }
const ids: Ids = {
  uuid: () => randomUUID(),
  secret: (bytes) => randomBytes(bytes).toString('base64url'),
}
const tenantId = randomUUID()

function openStore(url: string | undefined): Promise<Store> {
  const options = {
    migrations: [...identityMigrations, ...providerMigrations],
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  }
  return url === undefined
    ? openSqlite({ ...options, path: ':memory:' })
    : openPostgres({ ...options, url, poolSize: 4, clock })
}

/** Like the composition root, but without the edge: an owner with a role, and somebody without any. */
async function open(url?: string): Promise<Subject & AsyncDisposable> {
  const store = await openStore(url)
  const { directory } = openIdentity({
    outbound: openWay,
    sql: store.sql,
    feed: store.feed('directory'),
    clock,
    ids,
    log: silentLog,
    seal: createSeal(randomBytes(32)),
    tenantId,
    publicUrl: () => 'http://armature.example',
    // Nobody signs in here, so passwords may be cheap.
    passwordCost: { n: 16, r: 8, p: 1 },
  })
  const authorizer = createAuthorizer({
    words: contractWords,
    feed: store.feed('authorization'),
    directoryFeed: store.feed('directory'),
    directory,
    reader: { get: (id) => plane.reader.get(id), each: (query) => plane.reader.each(query) },
    placed: placedScopes(contractWords, tenantId),
  })
  const folder = mkdtempSync(join(tmpdir(), 'armature-contract-'))
  const engine = new SimulatedEngine({ folder, installation: tenantId, clock, timers: realTimers })
  const plane: RunningPlane = createPlane({
    providers: (services) =>
      providers({
        context: {
          words: contractWords,
          directory,
          workloads: directory,
          tenantId,
          clock,
          ids,
          timers: realTimers,
          log: silentLog,
          sql: store.sql,
          sealOf: () => createSeal(randomBytes(32)),
          publicUrl: () => 'http://armature.example',
          services,
        },
        assignmentsOf: (id) => authorizer.assignmentsOf(id),
        consent: unasked,
        containers: { engine },
        migrating: {
          engine: createPostgresEngine({
            clock,
            outbound: openWay,
            folder: join(folder, 'migrations'),
          }),
          settings: {
            fence: 'stay',
            verify: 'counts',
            atOnceMax: 8,
            tablesAtOnce: 1,
            databasesAtOnce: 1,
          },
        },
        copying: {
          engine: workerEngine(openSettings),
          root: folder,
          databasesRoot: join(folder, 'databases'),
        },
      }),
    store,
    access: authorizer,
    words: contractWords,
    clock,
    ids,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  const person = async (name: string): Promise<Principal> => {
    const { id } = await directory.createUser({
      displayName: name,
      signInName: name,
      password: ids.secret(18),
    })
    return { id, type: 'User', tenantId, displayName: name, clientId: id, groups: [] }
  }
  const [owner, stranger] = [await person('owner'), await person('stranger')]
  const assignment = `/providers/Vendor.Authorization/roleAssignments/${randomUUID()}`
  const properties = { principalId: owner.id, roleDefinitionId: roleId(roles.owner) }
  const first = { as: owner, version: '2022-04-01', isUnasked: true }
  await ask(plane, 'PUT', assignment, { properties }, first)
  plane.start()
  return {
    registry: plane.registry,
    async call(method, path, body, { stranger: isStranger, version = '', ...options } = {}) {
      const as = isStranger === true ? stranger : owner
      const answer = await ask(plane, method, path, body, { as, version, ...options })
      const address = `${path}${path.includes('?') ? '&' : '?'}api-version=${version}`
      const exchange = { method, path: address, status: answer.status, body: answer.body }
      requireDeclared(exchange)
      return answer
    },
    settle: () => plane.reconciler.idle(),
    rows: () => store.list({ under: '/', limit: 1000 }),
    trail: async () => JSON.stringify(await store.sql.all('select * from events')),
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await engine[Symbol.asyncDispose]()
      await authorizer[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
      rmSync(folder, { recursive: true })
    },
  }
}

const { types } = declaredTable().registry

/** Types of which the suite cannot create as many as it likes. Each has tests of its own. */
const apart = new Set([
  // Always called `policy`.
  'ApiManagement/service/policies',
  'ApiManagement/service/products/policies',
  'ApiManagement/service/apis/policies',
  'ApiManagement/service/apis/operations/policies',
  'ApiManagement/service/workspaces/apis/operations/policies',
  // Named after the linked resource.
  'ApiManagement/service/products/apis',
  'ApiManagement/service/products/groups',
  'ApiManagement/service/products/tags',
  'ApiManagement/service/apis/tags',
  'ApiManagement/service/apis/operations/tags',
  // Written only by the installation.
  'Authorization/denyAssignments',
  // Every PUT deploys, even an identical one (decision 15).
  'Resources/deployments',
  'Resources/deploymentStacks',
  // Named after a subscription that must exist.
  'Management/managementGroups/subscriptions',
  // Tag names and their values are only listed, and have no tag of their own.
  'Resources/subscriptions/tagNames',
  'Resources/subscriptions/tagNames/tagValues',
  // Written only as the answer to somebody else.
  'DataShare/accounts/shareSubscriptions',
  'DataShare/accounts/shareSubscriptions/dataSetMappings',
  'DataShare/accounts/shareSubscriptions/triggers',
])

test('every stored type has a sample, so that none escapes the contract', () => {
  const stored = types.filter((type) => type.versions.size > 0)
  const escaping = stored.filter(
    (type) => type.stored?.sample === undefined && !apart.has(type.declaration.type),
  )
  assert.deepEqual(
    escaping.map((type) => type.fullType),
    [],
  )
  assert.ok(stored.length >= 4)
})

/** Those that run the whole of it: one after the other, so that each provider has some. */
const wholeEach = isLong ? 1 : 4

resourceContract(
  types,
  () => open(),
  '',
  (nth) => nth % wholeEach === 0,
)

if (findPostgres() === undefined) {
  test('every type on PostgreSQL', (t) => void requireOrSkip(t, false, howToGetPostgres))
} else {
  const databases = preparedDatabases(async (url) => (await openStore(url))[Symbol.asyncDispose]())
  // The store contract holds what a store keeps. Here one type of every fourth namespace shows that it is used alike.
  const sampled = types.filter(({ stored }) => stored?.sample !== undefined)
  const onPostgres = isLong
    ? types
    : someOf([...new Map(sampled.map((one) => [one.namespace, one])).values()], 4)
  resourceContract(onPostgres, async () => open(await databases.create()), ', on PostgreSQL')
}
