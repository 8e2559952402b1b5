/** Groups and profiles under the contract that every type is put through. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { silentLog } from '#kernel/ports.ts'
import { contractWords } from '#kernel/vendor.ts'
import { createRegistry } from '#plane/registry.ts'
import { memoryWorkloads, testSeal } from '#plane/testing/provider-context.ts'
import { resourceContract } from '#plane/testing/resource-contract.ts'
import { realTimers } from '#plane/testing/start.ts'
import { containerInstanceProvider } from './provider.ts'
import { ids, startContainers } from './testing/start.ts'

const folder = mkdtempSync(join(tmpdir(), 'armature-declared-'))
const clock = { now: () => Date.now() }
const declared = containerInstanceProvider({
  engine: new SimulatedEngine({ folder, installation: 'test', clock, timers: realTimers }),
  reader: {
    get: async () => undefined,
    list: async () => [],
    async *each() {},
    page: async () => ({ items: [] }),
    count: async () => 0,
  },
  seal: testSeal,
  workloads: memoryWorkloads(),
  clock,
  ids,
  timers: realTimers,
  log: silentLog,
  tenantId: 'tenant',
})
rmSync(folder, { recursive: true })

resourceContract(createRegistry([declared], contractWords).types, () => startContainers())
