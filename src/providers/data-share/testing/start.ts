/** Data sharing on a real plane and store, with folders below a temporary root, and people with rights of a test's choosing. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { CopyEngine } from '#engines/copy/engine.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { type Clock, silentLog, type Timers } from '#kernel/ports.ts'
import type { Principal, WorkloadIdentities } from '#kernel/principal.ts'
import type { SealPurpose } from '#kernel/seal-purposes.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openSettings } from '#outbound/policy.ts'
import type { AccessRequest } from '#plane/access.ts'
import { createPlane, type RunningPlane } from '#plane/create-plane.ts'
import type { Method } from '#plane/plane.ts'
import { ask } from '#plane/testing/ask.ts'
import {
  memoryWorkloads,
  realClock,
  realIds,
  testProviderContext,
} from '#plane/testing/provider-context.ts'
import { owner, realTimers } from '#plane/testing/start.ts'
import { Keyring } from '#sealing/keyring.ts'
import { SealingKey } from '#sealing/sealing-key.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { resourcesProvider } from '../../resources/provider.ts'
import { openSqlPlaces } from '../../sql/domain/sql-places.ts'
import { sqlProvider } from '../../sql/provider.ts'
import { openStoragePlaces } from '../../storage/domain/storage-places.ts'
import { storageProvider } from '../../storage/provider.ts'
import { dataShareMigrations } from '../domain/store/migrations.ts'
import { dataShareProvider } from '../provider.ts'

export const provider: Principal = { ...owner, displayName: 'provider@example.net' }
export const consumer: Principal = {
  ...owner,
  id: '00000000-0000-4000-8000-000000000003',
  displayName: 'consumer@example.net',
}
export const sourceGroup = '/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/from'
export const targetGroup = '/subscriptions/21111111-2222-4333-8444-555555555555/resourceGroups/to'
export const share = `${sourceGroup}/providers/Vendor.DataShare/accounts/give/shares/s`
export const taken = `${targetGroup}/providers/Vendor.DataShare/accounts/take/shareSubscriptions/ss`

export interface Wire {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
  readonly body: any
  readonly headers: Readonly<Record<string, string>>
  readonly nextToken: string | undefined
}

export interface Sharing extends AsyncDisposable {
  readonly plane: RunningPlane
  readonly store: Store
  readonly root: string
  readonly workloads: WorkloadIdentities
  call(method: Method, path: string, body?: unknown, as?: Principal): Promise<Wire>
  settle(): Promise<void>
  write(account: string, path: string, content: string | Uint8Array): void
  read(account: string, path: string): string
  /** Share, invitation, acceptance: `share` and `taken` are there, with two storage accounts of folders. */
  prepare(): Promise<void>
  share(name: string, kind: string, properties: object): Promise<string>
  map(name: string, kind: string, properties: object): Promise<Wire>
  synchronize(mode?: 'Incremental' | 'FullSync'): Promise<string>
  /** The run when it has ended. */
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  ended(id: string): Promise<any>
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  details(id: string): Promise<any[]>
}

export interface SharingOptions {
  readonly store?: Store
  readonly root?: string
  readonly engine?: CopyEngine
  readonly clock?: Clock
  /** Of the provider. */
  readonly timers?: Timers
  /** Of seals, for what is opened by more than one. */
  readonly sealKey?: Uint8Array
  readonly allows?: (question: AccessRequest) => boolean
  /** Container groups could mount file shares of the accounts. */
  readonly ownsShares?: boolean
  /** Called whenever the directory is asked for a person: after an invitation was read, and before it is answered. */
  readonly onFind?: () => Promise<void>
}

function sealsOf(key: Uint8Array) {
  const keyring = new Keyring(new SealingKey(key))
  return (purpose: SealPurpose) => keyring.sealOf(purpose)
}

export function sharingStore(path = ':memory:'): Promise<Store> {
  return openSqlite({
    path,
    migrations: dataShareMigrations,
    words: contractWords,
    transactionRetriesMax: defaultLimits.transactionRetriesMax,
  })
}

export async function startSharing(options: SharingOptions = {}): Promise<Sharing> {
  const store = options.store ?? (await sharingStore())
  const root = options.root ?? mkdtempSync(join(tmpdir(), 'armature-share-'))
  const clock = options.clock ?? realClock
  const workloads = memoryWorkloads()
  const plane = createPlane({
    providers(services) {
      const context = testProviderContext(store, services, {
        clock,
        ...(options.timers === undefined ? {} : { timers: options.timers }),
        directory: {
          async find(id) {
            await options.onFind?.()
            return { type: 'User', displayName: id }
          },
          groupsOf: async () => [],
        },
        workloads,
        ...(options.sealKey === undefined ? {} : { sealOf: sealsOf(options.sealKey) }),
      })
      const { reader } = services
      const storageSeal = context.sealOf('storage')
      const sqlSeal = context.sealOf('sql')
      const storage = openStoragePlaces({ reader, seal: storageSeal, root })
      const sql = openSqlPlaces({ reader, seal: sqlSeal, root: join(root, 'databases') })
      return [
        resourcesProvider({ tenantId: owner.tenantId, ...services }),
        storageProvider({ seal: storageSeal, ownsShares: options.ownsShares === true }),
        sqlProvider({ seal: sqlSeal }),
        dataShareProvider({
          ...context,
          engine: options.engine ?? workerEngine(openSettings),
          places: {
            storageUses: storage.uses,
            storage: (id) => storage.find(id),
            sqlAction: sql.useAction,
            sql: (id) => sql.find(id),
          },
        }),
      ]
    },
    store,
    access: { allows: options.allows ?? (() => true) },
    words: contractWords,
    clock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'implicit',
    timers: realTimers,
  })
  plane.start()
  const call: Sharing['call'] = async (method, path, body, as = provider) => {
    const version = path.includes('.Storage/')
      ? '2023-01-01'
      : path.includes('.Sql/')
        ? '2021-11-01'
        : '2021-08-01'
    const outcome = await ask(plane, method, path, body, { as, version })
    return {
      status: outcome.status,
      body: outcome.body === undefined ? undefined : JSON.parse(JSON.stringify(outcome.body)),
      headers: outcome.headers ?? {},
      nextToken: outcome.nextToken,
    }
  }
  const settle = () => plane.reconciler.idle()
  const account = (group: string, name: string) =>
    `${group}/providers/Vendor.Storage/storageAccounts/${name}`
  const located = (group: string, storageAccountName: string) => ({
    subscriptionId: group.split('/')[2],
    resourceGroup: group.split('/')[4],
    storageAccountName,
  })
  const started: Sharing = {
    plane,
    store,
    root,
    workloads,
    call,
    settle,
    write(name, path, content) {
      const at = join(root, name, path)
      mkdirSync(dirname(at), { recursive: true })
      writeFileSync(at, content)
    },
    read: (name, path) => readFileSync(join(root, name, path), 'utf8'),
    async prepare() {
      const folder = { location: 'here', properties: { kind: 'Folder' } }
      await call('PUT', account(sourceGroup, 'giver'), folder)
      await call('PUT', account(targetGroup, 'taker'), folder, consumer)
      await call('PUT', share.replace('/shares/s', ''), { location: 'here' })
      await call('PUT', taken.replace('/shareSubscriptions/ss', ''), { location: 'here' }, consumer)
      await call('PUT', share, { properties: { description: 'things', terms: 'be kind' } })
      await settle()
      const invitation = await call('PUT', `${share}/invitations/i`, {
        properties: {
          targetActiveDirectoryId: consumer.tenantId,
          targetObjectId: consumer.id,
        },
      })
      await settle()
      const { invitationId } = invitation.body.properties
      await call(
        'PUT',
        taken,
        { properties: { invitationId, sourceShareLocation: 'here' } },
        consumer,
      )
      await settle()
    },
    async share(name, kind, properties) {
      const place = kind.startsWith('AdlsGen1')
        ? { ...located(sourceGroup, ''), accountName: 'giver' }
        : located(sourceGroup, 'giver')
      const made = await call('PUT', `${share}/dataSets/${name}`, {
        kind,
        properties: { ...place, ...properties },
      })
      return made.body.properties.dataSetId
    },
    async map(name, kind, properties) {
      const made = await call(
        'PUT',
        `${taken}/dataSetMappings/${name}`,
        { kind, properties: { ...located(targetGroup, 'taker'), ...properties } },
        consumer,
      )
      await settle()
      return made
    },
    async synchronize(synchronizationMode = 'FullSync') {
      const begun = await call('POST', `${taken}/synchronize`, { synchronizationMode }, consumer)
      return begun.body.synchronizationId
    },
    async ended(id) {
      for (let looks = 0; looks < 3000; looks++) {
        const { body } = await call('POST', `${taken}/listSynchronizations`, undefined, consumer)
        const found = body.value.find(
          (one: { synchronizationId: string }) => one.synchronizationId === id,
        )
        if (found?.endTime !== undefined) return found
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      throw new Error(`${id} never ended`)
    },
    async details(id) {
      const path = `${taken}/listSynchronizationDetails`
      const { body } = await call('POST', path, { synchronizationId: id }, consumer)
      return body.value
    },
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      if (options.store === undefined) await store[Symbol.asyncDispose]()
      if (options.root === undefined) rmSync(root, { recursive: true, force: true })
    },
  }
  return started
}
