/**
 * Looks at registered servers when they are registered, and at intervals after that. It changes nothing on a
 * server. It signals service health while the target of a migration does not answer.
 */

import { isTerminalState } from '#kernel/operation.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { defineReconciler, type Reconciler } from '#plane/declare/reconciled.ts'
import type { PostgresDependencies } from '../../dependencies.ts'
import { findActive } from '../../domain/active-migration.ts'
import { attempt, failed, failureText, unlessEnded } from '../../domain/engine-failure.ts'
import { accessOf, type FlexibleServer, isNowhere, noAddress, type ServerSeen } from './model.ts'

const resyncSeconds = 15
const service = 'Database for PostgreSQL'
type Dependencies = Pick<PostgresDependencies, 'engine' | 'seal' | 'signals' | 'reader'>

export function serverReconciler(deps: Dependencies): Reconciler<FlexibleServer> {
  const { engine, seal, signals, reader } = deps
  return defineReconciler<FlexibleServer, ServerSeen, never>({
    deadlineSeconds: 120,
    retryAfterSeconds: 1,
    resyncSeconds,
    states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
    /** Signals at each look: another replica may have made the last one. What is signaled already changes nothing. */
    async observe({ desired, id }) {
      const key = `postgres${id.key}`
      const name = nameOf(id)
      if (desired === undefined) {
        // Nobody else would: the next server of its id is another one.
        await signals.clear(key, `The server '${name}' is not registered any more.`)
        return { kind: 'gone' }
      }
      const away = async (reason: string, refused: boolean): Promise<ServerSeen> => {
        const migration = (await findActive(reader, id))?.id.text
        if (migration !== undefined) {
          await signals.raise({
            key,
            service,
            title: `The server '${name}', which is being migrated to, does not answer`,
            summary: reason,
            level: 'Error',
            resourceIds: [id.text, migration],
          })
        }
        return { kind: 'away', migration, reason, refused }
      }
      if (isNowhere(desired.host)) return away(noAddress, false)
      const look = () => engine.inspect(accessOf(seal, desired))
      const facts = await attempt(() => unlessEnded(look))
      if (failed(facts)) return away(failureText(facts), !facts.passes)
      await signals.clear(key, `The server '${name}' answers again.`)
      const { version, major, dataBytes } = facts
      return { kind: 'ready', version, major, dataMegabytes: Math.ceil(dataBytes / 2 ** 20) }
    },
    next({ state }, seen) {
      if (seen.kind !== 'away') return { kind: 'done' }
      // A server that does not answer stays registered and is looked at again. A server that refuses was registered
      // wrongly.
      if (!seen.refused || state === 'Succeeded') return { kind: 'done' }
      if (isTerminalState(state)) return { kind: 'wait', seconds: resyncSeconds }
      return { kind: 'fail', code: 'ServerRefused', message: seen.reason }
    },
    async perform() {},
  })
}
