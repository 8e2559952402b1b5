/**
 * The checks of `/readyz`. Ready means that writes are stored, so a small row is written and flushed. The state of
 * the container engine is reported but does not make the process unready: requests are accepted and carried out
 * later, and every replica shares that engine. Anyone may ask, so answers are shared and contain no paths and
 * hosts.
 */

import { randomBytes } from 'node:crypto'
import type { Check } from '#http/open-endpoints.ts'
import type { Log } from '#kernel/ports.ts'
import type { Sql } from '#stores/store.ts'

interface ReadinessDependencies {
  readonly sql: Sql
  readonly engine: { describe(): Promise<unknown> }
  readonly log: Log
  /** Milliseconds that never go back. */
  ticks(): number
}

/** How long one answer is shared by all callers. */
const sharedMilliseconds = 2_000
/** The check counts as failed after this time; its work continues. */
const answerMilliseconds = 4_000
/** Random bytes, so that a page of the store is really written, not found unchanged. */
const probeBytes = 4_096

export function openReadiness(deps: ReadinessDependencies): () => Promise<readonly Check[]> {
  const store = sharedCheck(deps, {
    name: 'store',
    failed: 'the store takes no writes now',
    run: () => writeProbe(deps.sql),
  })
  const engine = sharedCheck(deps, {
    name: 'container engine',
    failed:
      'the container engine does not answer; what is asked of it waits (ARMATURE_CONTAINERS chooses another)',
    required: false,
    run: () => deps.engine.describe(),
  })
  return () => Promise.all([store(), engine()])
}

/** Written and flushed like every other write. All processes use the same row. */
function writeProbe(sql: Sql): Promise<unknown> {
  return sql.transact((tx) =>
    tx.run(
      `insert into installation (name, value) values ('readiness', ?)
        on conflict (name) do update set value = excluded.value`,
      randomBytes(probeBytes).toString('base64'),
    ),
  )
}

interface Probe {
  readonly name: string
  /** The reason that anyone may read. The log has the details. */
  readonly failed: string
  readonly required?: false
  run(): Promise<unknown>
}

/** Runs at most once at a time, and shares one answer among all callers within a short while. */
function sharedCheck({ ticks, log }: ReadinessDependencies, probe: Probe): () => Promise<Check> {
  let answered: { readonly at: number; readonly check: Check } | undefined
  let running: Promise<Check> | undefined
  const { name } = probe
  const optional = probe.required === false ? { required: false } : {}
  const bad: Check = { name, ok: false, reason: probe.failed, ...optional }

  async function run(): Promise<Check> {
    const check = await probe.run().then(
      (): Check => ({ name, ok: true, ...optional }),
      (error: unknown) => {
        // Logged once, not at every request of a load balancer.
        if (answered?.check.ok !== false) log.warn({ err: error, check: name }, 'not ready')
        return bad
      },
    )
    answered = { at: ticks(), check }
    return check
  }

  return async () => {
    if (answered !== undefined && ticks() - answered.at < sharedMilliseconds) return answered.check
    running ??= run().finally(() => {
      running = undefined
    })
    return withinTime(running, bad)
  }
}

function withinTime(running: Promise<Check>, late: Check): Promise<Check> {
  const { promise, resolve } = Promise.withResolvers<Check>()
  const timer = setTimeout(() => resolve(late), answerMilliseconds)
  void running.then((check) => {
    clearTimeout(timer)
    resolve(check)
  })
  return promise
}
