/**
 * A process that deploys and is killed by whoever started it: `killed.ts {store} {resources}` carries out a deployment,
 * `killed.ts {store} {resources} stack` a stack that has managed as many others before. The store is a file or an address.
 */

import { defaultLimits } from '#kernel/limits.ts'
import type { Seal } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { openPostgres } from '#stores/postgres/open.ts'
import { openSqlite } from '#stores/sqlite/open.ts'
import type { Store } from '#stores/store.ts'
import { group, startDeployments, templateFor } from './start.ts'

/** Encrypts nothing: two processes have to open what one has sealed, and nothing here is a secret. */
export const openSeal: Seal = {
  seal: (text, context) => JSON.stringify([context, text]),
  open(sealed, context) {
    // Made by `seal` above.
    const [bound, text] = JSON.parse(sealed) as readonly [string, string]
    return bound === context ? text : undefined
  },
}

export const deploymentPath = `${group}/providers/Vendor.Resources/deployments/d`

export function openKilled(store: string): Promise<Store> {
  if (!store.startsWith('postgres')) return openFile(store)
  const { transactionRetriesMax } = defaultLimits
  const own = { poolSize: 4, clock: Date, migrations: [], words: contractWords }
  return openPostgres({ url: store, ...own, transactionRetriesMax })
}

export function openFile(path: string): Promise<Store> {
  const { transactionRetriesMax } = defaultLimits
  return openSqlite({ path, migrations: [], words: contractWords, transactionRetriesMax })
}

/** An even number of them: half by a loop in chains of ten, half by a serial one that asks for the first half. */
export function manyResources(count: number): object {
  const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
  const half = count / 2
  const chained = Array.from({ length: half }, (_, at) => ({
    ...vault,
    name: `v${at}`,
    dependsOn: at % 10 === 0 ? [] : [`v${at - 1}`],
  }))
  const asking = {
    ...vault,
    name: "[format('w{0}', copyIndex())]",
    copy: { name: 'asking', count: half, mode: 'serial', batchSize: Math.min(40, half) },
    tags: { of: "[reference(format('v{0}', copyIndex()), '2026-01-01', 'Full').name]" },
  }
  return { properties: { mode: 'Incremental', template: templateFor([asking, ...chained]) } }
}

export const stackPath = `${group}/providers/Vendor.Resources/deploymentStacks/s`
export const stackVersion = { version: '2024-03-01' }

/** A stack that protects its vaults and deletes those that it manages no more. */
function manyManaged(count: number, prefix: string): object {
  const vault = { type: 'Vendor.Secrets/vaults', apiVersion: '2026-01-01', location: 'local' }
  const copy = { name: 'all', count }
  const name = `[format('${prefix}{0}', copyIndex())]`
  return {
    properties: {
      template: templateFor([{ ...vault, name, copy }]),
      actionOnUnmanage: { resources: 'delete' },
      denySettings: { mode: 'denyWriteAndDelete' },
    },
  }
}

const [, script, place, count, kind] = process.argv
if (script === import.meta.filename && place !== undefined) {
  const started = await startDeployments({
    store: await openKilled(place),
    seal: openSeal,
    ...(place.startsWith('postgres') ? {} : { folder: `${place}-containers` }),
  })
  if (kind === 'stack') {
    await started.call('PUT', stackPath, manyManaged(Number(count), 'old'), stackVersion)
    await started.settle()
    await started.call('PUT', stackPath, manyManaged(Number(count), 'new'), stackVersion)
  } else await started.call('PUT', deploymentPath, manyResources(Number(count)))
  process.stdout.write('accepted\n')
  await started.settle()
  process.stdout.write('ended\n')
}
