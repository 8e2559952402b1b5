/**
 * Looks at registered servers when they are registered, and at intervals after that. It changes nothing on a
 * server. It signals service health while the target of a migration does not answer.
 */

import { isTerminalState } from '#kernel/operation.ts'
import { nameOf } from '#kernel/resource-id.ts'
import { defineReconciler, type Reconciler } from '#plane/declare/reconciled.ts'
import type { PostgresDependencies } from '../../dependencies.ts'
import { findActive } from '../../domain/active-migration.ts'
import { attempt, failed, failureText } from '../../domain/engine-failure.ts'
import { accessOf, type FlexibleServer, isNowhere, noAddress, type ServerSeen } from './model.ts'

const resyncSeconds = 15
const service = 'Database for PostgreSQL'
type Dependencies = Pick<PostgresDependencies, 'engine' | 'seal' | 'signals' | 'reader'>
type Away = Extract<ServerSeen, { kind: 'away' }>
type Tell = { readonly kind: 'raise'; readonly seen: Away } | { readonly kind: 'clear' }

export function serverReconciler(deps: Dependencies): Reconciler<FlexibleServer> {
  const { engine, seal, signals, reader } = deps
  /** The last signal of this process for each server. A new process sends it again, which changes nothing. */
  const told = new Map<string, Tell['kind']>()
  const signalOf = (key: string): string => `postgres${key}`
  return defineReconciler<FlexibleServer, ServerSeen, Tell>({
    deadlineSeconds: 120,
    retryAfterSeconds: 1,
    resyncSeconds,
    states: { creating: 'Creating', updating: 'Updating', deleting: 'Deleting' },
    async observe({ desired, id }) {
      if (desired === undefined) {
        // Nobody else would: the next server of its id is another one.
        await signals.clear(
          signalOf(id.key),
          `The server '${nameOf(id)}' is not registered any more.`,
        )
        told.delete(id.key)
        return { kind: 'gone' }
      }
      const last = told.get(id.key)
      const away = async (reason: string, refused: boolean): Promise<Away> => {
        const active = await findActive(reader, id)
        const isNews = active !== undefined && last !== 'raise'
        return { kind: 'away', isNews, migration: active?.id.text, reason, refused }
      }
      if (isNowhere(desired.host)) return away(noAddress, false)
      const facts = await attempt(() => engine.inspect(accessOf(seal, desired)))
      if (failed(facts)) return away(failureText(facts), !facts.passes)
      const { version, major, dataBytes } = facts
      const dataMegabytes = Math.ceil(dataBytes / 2 ** 20)
      return { kind: 'ready', isNews: last !== 'clear', version, major, dataMegabytes }
    },
    next({ state }, seen) {
      if (seen.kind === 'gone') return { kind: 'done' }
      if (seen.isNews) {
        return {
          kind: 'step',
          step: seen.kind === 'away' ? { kind: 'raise', seen } : { kind: 'clear' },
        }
      }
      if (seen.kind === 'ready') return { kind: 'done' }
      // A server that does not answer stays registered and is looked at again. A server that refuses was registered
      // wrongly.
      if (!seen.refused || state === 'Succeeded') return { kind: 'done' }
      if (isTerminalState(state)) return { kind: 'wait', seconds: resyncSeconds }
      return { kind: 'fail', code: 'ServerRefused', message: seen.reason }
    },
    async perform({ id }, tell) {
      const key = signalOf(id.key)
      if (tell.kind === 'clear') {
        await signals.clear(key, `The server '${nameOf(id)}' answers again.`)
      } else {
        const { reason, migration } = tell.seen
        await signals.raise({
          key,
          service,
          title: `The server '${nameOf(id)}', which is being migrated to, does not answer`,
          summary: reason,
          level: 'Error',
          resourceIds: [id.text, ...(migration === undefined ? [] : [migration])],
        })
      }
      told.set(id.key, tell.kind)
    },
  })
}
