/** Makes the engines of an installation from its settings. */

import { lowCounts } from '#engines/containers/docker/machine-counts.ts'
import { workerEngine } from '#engines/copy/worker/worker-engine.ts'
import { isLoopback } from '#outbound/address.ts'
import type { Copying, Migrating } from '#providers/index.ts'
import { shareCookies } from '../config/containers.ts'
import { type ChosenEngine, chooseContainerEngine } from './container-engine.ts'
import type { Foundation } from './foundation.ts'
import { openMigrating } from './migration-engine.ts'

export interface Engines {
  readonly containers: ChosenEngine
  readonly migrating: Migrating
  readonly copying: Copying
}

export async function openEngines(
  base: Pick<
    Foundation,
    'config' | 'home' | 'record' | 'store' | 'clock' | 'timers' | 'outbound' | 'log'
  >,
  opened: AsyncDisposableStack,
): Promise<Engines> {
  const { config, home, record, clock, outbound, log } = base
  const containers = await chooseContainerEngine(config, {
    ...base,
    installation: record.tenantId,
    sql: base.store.sql,
  })
  opened.use(containers.engine)
  if (containers.isAwaited) {
    log.warn({ engine: containers.title }, 'container groups wait for their engine')
  } else log.debug({ engine: containers.title }, 'container engine')
  if (shareCookies(config)) {
    log.warn(
      { address: config.containersAddress },
      "containers publish their ports where this server may be reached: whoever opens a container's page gives it the cookies of their sign-in; set ARMATURE_CONTAINERS_ADDRESS to another address of this machine, or use https",
    )
  }
  const isOnThisMachine = containers.cpusMax !== undefined
  const isShared = config.publicUrl !== undefined || !isLoopback(config.host)
  const set = isOnThisMachine && isShared ? await lowCounts() : []
  if (set.length > 0) {
    log.warn(
      { set },
      'a program in one container can take what the kernel counts for the whole machine, which ends this server or refuses others; set these by sysctl on the machine of the container engine',
    )
  }
  const migrating = openMigrating(config, clock, outbound)
  opened.use(migrating.engine)
  return {
    containers,
    migrating,
    copying: {
      engine: workerEngine(config.outbound, home.temporaryFolder),
      root: config.shareRoot,
      databasesRoot: config.shareDatabases,
    },
  }
}
