/**
 * The parts of `/metrics` that are not about requests: background work, the store, readiness checks, unhandled
 * errors.
 */

import type { MetricSource } from '#http/metrics.ts'
import type { Check } from '#http/open-endpoints.ts'
import type { Clock } from '#kernel/ports.ts'
import type { RunningPlane } from '#plane/create-plane.ts'
import type { Store } from '#stores/store.ts'

interface Measured {
  readonly plane: Pick<RunningPlane, 'reconciler'>
  readonly store: Pick<Store, 'sql' | 'nextDue'>
  readonly clock: Clock
  readonly readiness: () => Promise<readonly Check[]>
  readonly unhandledErrors: () => { readonly rejections: number; readonly exceptions: number }
}

const sizeOf = {
  sqlite: 'select page_count * page_size as bytes from pragma_page_count(), pragma_page_size()',
  postgres: 'select pg_database_size(current_database()) as bytes',
} as const

export function metricSources(measured: Measured): readonly MetricSource[] {
  const { plane, store, clock, readiness, unhandledErrors } = measured
  const { counts } = plane.reconciler
  return [
    {
      name: 'armature_unhandled_errors_total',
      type: 'counter',
      help: 'Errors that nobody handled: a fault of the server',
      values() {
        const { rejections, exceptions } = unhandledErrors()
        return [
          { value: rejections, labels: { kind: 'rejection' } },
          { value: exceptions, labels: { kind: 'exception' } },
        ]
      },
    },
    {
      name: 'armature_work_running',
      type: 'gauge',
      help: 'Resources that this process works on in the background',
      values: () => [{ value: counts().running }],
    },
    {
      name: 'armature_work_steps_total',
      type: 'counter',
      help: 'Steps of background work in this process, by outcome',
      values: () =>
        (['done', 'failed'] as const).map((outcome) => ({
          value: counts()[outcome],
          labels: { outcome },
        })),
    },
    {
      name: 'armature_work_late_seconds',
      type: 'gauge',
      help: 'How long the oldest due background work has waited, over all replicas, by the clock of the installation',
      values: async () => {
        const due = (await store.nextDue()) ?? clock.now()
        return [{ value: Math.max(0, clock.now() - due) / 1000 }]
      },
    },
    {
      name: 'armature_store_bytes',
      type: 'gauge',
      help: 'Size of the database',
      values: async () => {
        const [row] = await store.sql.all(sizeOf[store.sql.dialect])
        return [{ value: Number(row?.['bytes']) }]
      },
    },
    {
      name: 'armature_check_ok',
      type: 'gauge',
      help: 'The checks of /readyz: 1 when passed, 0 when failed',
      values: async () =>
        (await readiness()).map(({ name, ok }) => ({ value: Number(ok), labels: { check: name } })),
    },
  ]
}
