/** A process that deploys on a store of its own and is killed by whoever started it: `killed.ts {file} {resources}`. */

import { defaultLimits } from '#kernel/limits.ts'
import type { Seal } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
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

const [, script, file, count] = process.argv
if (script === import.meta.filename && file !== undefined) {
  const started = await startDeployments({
    store: await openFile(file),
    seal: openSeal,
    folder: `${file}-containers`,
  })
  await started.call('PUT', deploymentPath, manyResources(Number(count)))
  process.stdout.write('accepted\n')
  await started.settle()
  process.stdout.write('ended\n')
}
