/**
 * One run of a deployment: sends each resource when those it depends on are done, many at once, and follows the
 * operations they answer with. What it has in memory can be lost: every PUT may be sent again and then changes nothing.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { isTerminalStatus, type OperationStatus } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Clock } from '#kernel/ports.ts'
import { isWithin, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { Caller } from '#plane/caller.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Outcome } from '#plane/plane.ts'
import type { PlanNode } from '#template/plan.ts'
import { type Asking, evaluateLate, jsonOf } from './answers.ts'
import { attempt } from './attempt.ts'
import type { Expanded } from './expand.ts'
import type { Deployment, Progress, StepError, StepRecord } from './model.ts'
import { redact, secretsIn } from './redact.ts'

/**
 * Requests under way at once. Their writes are flushed together: bench `deployments`, 128 against 32, gave a
 * fifth more on a disk that flushes in 0.2 ms.
 */
const requestsAtOnceMax = 128
/** One step records what it has done after this long. */
const stepSeconds = 1
const sweepPageSize = 500

export interface RunParts {
  readonly caller: Caller
  readonly listTracked: PlaneServices['listTracked']
  readonly clock: Clock
  /** The settling of this resource is of interest to the deployment. */
  awaiting(resourceKey: string, deploymentKey: string): void
}

export interface Run {
  readonly id: string
  progress(): Progress
  /** Looks after the operations that are waited for. */
  look(): Promise<void>
  /** Sends what can be sent now. */
  advance(): Promise<void>
}

export function openRun(
  parts: RunParts,
  id: ResourceId,
  model: Deployment,
  expanded: Expanded,
  last: Progress | undefined,
): Run {
  const { plan } = expanded
  const { caller, clock } = parts
  const principal = model.deployer
  const asking: Asking = { caller, principal, correlationId: model.correlationId, plan }
  const versions = new Map(plan.nodes.map((node) => [node.key, node.apiVersion]))
  const steps = new Map<string, StepRecord>()
  if (last?.run === model.run) for (const step of last.steps) steps.set(step.key, step)
  const secrets = new Set(expanded.secrets)
  /** Sent in this process, and not answered yet. */
  const underway = new Set<string>()
  let outputs = last?.run === model.run ? last.outputs : undefined
  let endedAt = last?.run === model.run ? last.endedAt : undefined
  let endError: StepError | undefined
  let swept = model.mode !== 'Complete'

  const isDone = (key: string): boolean => steps.get(key)?.state === 'Succeeded'
  const ready = (): readonly PlanNode[] =>
    plan.nodes.filter(
      (node) => !steps.has(node.key) && !underway.has(node.key) && node.dependsOn.every(isDone),
    )
  const waiting = (): readonly StepRecord[] =>
    [...steps.values()].filter((step) => step.state === 'Running')
  const failures = (): readonly StepRecord[] =>
    [...steps.values()].filter((step) => step.state === 'Failed')

  function settle(step: StepRecord, outcome: Partial<StepRecord>): void {
    const { error } = outcome
    const shown = error === undefined ? {} : { error: redact(error, [...secrets]) }
    steps.set(step.key, { ...step, ...outcome, ...shown })
  }

  function fail(step: StepRecord, error: StepError, status: number): void {
    settle(step, { state: 'Failed', error, status, endedAt: clock.now() })
  }

  function answered(step: StepRecord, { status, operation }: Outcome): void {
    if (operation === undefined) settle(step, { state: 'Succeeded', status, endedAt: clock.now() })
    else settle(step, { status, operation: operation.statusPath })
  }

  async function send(step: StepRecord, work: () => Promise<Outcome>): Promise<void> {
    underway.add(step.key)
    const done = await attempt(work).finally(() => underway.delete(step.key))
    if (done.kind === 'ok') answered(step, done.value)
    else fail(step, done.error, done.status)
  }

  function begin(key: string, resourceId: string, verb: StepRecord['verb']): StepRecord {
    return { key, id: resourceId, verb, state: 'Running', startedAt: clock.now() }
  }

  function sendNode(node: PlanNode): Promise<void> {
    if (node.existing) {
      const step = begin(node.key, node.id, 'Read')
      return send(step, () => Promise.resolve({ status: 200 }))
    }
    return send(begin(node.key, node.id, 'Create'), async () => {
      const { body, securePaths } = await evaluateLate(asking, node)
      for (const path of securePaths) {
        for (const secret of secretsIn(valueAt(body, path))) secrets.add(secret)
      }
      parts.awaiting(node.id.toLowerCase(), id.key)
      return caller.call({
        method: 'PUT',
        path: node.id,
        version: node.apiVersion,
        body: jsonOf(body),
        principal,
        correlationId: model.correlationId,
      })
    })
  }

  /** Complete: what the group holds and the template lacks. Children go with their parents. */
  async function sweep(): Promise<void> {
    const scope = scopeOf(id)
    const kept = plan.nodes.map((node) => node.id.toLowerCase())
    for await (const found of membersOf(parts.listTracked, scope)) {
      if (kept.some((key) => isWithin(key, found.key))) continue
      const version = found.version
      const step = begin(found.key, found.text, 'Delete')
      versions.set(found.key, version)
      if (steps.has(found.key)) continue
      await send(step, () => {
        parts.awaiting(found.key, id.key)
        const { correlationId } = model
        return caller.call({
          method: 'DELETE',
          path: found.text,
          version,
          principal,
          correlationId,
        })
      })
    }
    swept = true
  }

  async function outputsNow(): Promise<NonNullable<Progress['outputs']>> {
    const made: [string, { type: string; value?: unknown }][] = []
    for (const output of plan.outputs) {
      const value = await evaluateLate(asking, output)
      if (value === undefined) continue
      const { name, type } = output
      const isHidden = output.secure || value.secure
      const shown = isHidden ? {} : { value: redact(value.value, [...secrets]) }
      made.push([name, { type, ...shown }])
    }
    // fromEntries defines properties, so an output named `__proto__` stays data.
    return Object.fromEntries(made)
  }

  async function finish(): Promise<void> {
    const done = await attempt(outputsNow)
    if (done.kind === 'ok') outputs = done.value
    else endError = redact(done.error, [...secrets])
    endedAt = clock.now()
  }

  function phase(): Progress['phase'] {
    if (endedAt !== undefined) return endError === undefined ? 'done' : 'failed'
    if (ready().length > 0) return 'ready'
    if (waiting().length > 0) return 'waiting'
    if (failures().length > 0) return 'failed'
    return 'ready'
  }

  return {
    id: model.run,
    progress() {
      const failed = failures()
      const error = endError ?? (failed.length === 0 ? undefined : failedError(failed))
      const now = phase()
      return {
        run: model.run,
        phase: now,
        steps: [...steps.values()],
        ...(outputs === undefined ? {} : { outputs }),
        ...(endedAt === undefined ? {} : { endedAt }),
        ...(now === 'failed' && error !== undefined ? { error } : {}),
      }
    },
    async look() {
      for (const step of waiting()) {
        if (step.operation === undefined) continue
        await follow(step, step.operation)
      }
    },
    async advance() {
      const until = clock.now() + stepSeconds * 1000
      const going = new Set<Promise<void>>()
      const queue: PlanNode[] = []
      do {
        if (queue.length === 0) queue.push(...ready())
        while (going.size < requestsAtOnceMax && queue.length > 0 && clock.now() < until) {
          const node = queue.shift()
          if (node === undefined) break
          if (steps.has(node.key) || underway.has(node.key)) continue
          const work: Promise<void> = sendNode(node).finally(() => going.delete(work))
          going.add(work)
        }
        if (going.size > 0) await Promise.race(going)
      } while (going.size > 0 || (clock.now() < until && ready().length > 0))
      if (ready().length > 0 || waiting().length > 0 || failures().length > 0) return
      if (!swept) await sweep()
      if (waiting().length === 0 && failures().length === 0) await finish()
    },
  }

  async function follow(step: StepRecord, path: string): Promise<void> {
    const at = new URL(path, 'http://plane').searchParams.get('api-version') ?? ''
    const { correlationId } = model
    const asked = { method: 'GET', path, version: at, principal, correlationId } as const
    const seen = await attempt(() => caller.call(asked))
    if (seen.kind === 'refused') {
      fail(step, seen.error, seen.status)
      return
    }
    const operation = jsonOf(seen.value.body)
    if (!isJsonObject(operation)) return
    // An operation says so itself; the plane writes nothing else there.
    const status = operation['status'] as OperationStatus
    if (!isTerminalStatus(status)) return
    if (status === 'Succeeded') {
      settle(step, { state: 'Succeeded', endedAt: clock.now() })
      return
    }
    const error = operation['error'] as unknown as StepError | undefined
    fail(step, error ?? { code: status, message: `the operation ended: ${status}` }, 409)
  }
}

export interface Member {
  readonly key: string
  readonly text: string
  readonly version: string
}

/** The resources of a group that are nobody's children, with the newest version of their types. */
export async function* membersOf(
  listTracked: PlaneServices['listTracked'],
  scope: ResourceId,
): AsyncGenerator<Member> {
  let after: string | undefined
  do {
    const page = await listTracked({
      under: scope,
      limit: sweepPageSize,
      ...(after === undefined ? {} : { after }),
    })
    for (const { resource, compiled } of page.items) {
      const { id } = resource
      if (id.segments.length !== 2 || id.segments[1]?.types.length !== 1) continue
      const version = compiled.dates === 'any' ? '' : (compiled.dates[0] ?? '')
      yield { key: id.key, text: id.text, version }
    }
    after = page.next
  } while (after !== undefined)
}

function failedError(failed: readonly StepRecord[]): StepError {
  const details: ErrorDetail[] = failed.map(({ id, error }) => ({
    code: error?.code ?? 'ResourceDeploymentFailure',
    message: error?.message ?? 'failed',
    target: id,
  }))
  const first = details[0]
  const message = `At least one resource deployment operation failed. ${first?.target}: ${first?.message}`
  return { code: 'DeploymentFailed', message, details }
}

/** `properties.items[0].secret` in a body. */
export function valueAt(body: unknown, path: string): unknown {
  let at: unknown = body
  for (const name of path.split(/[.[\]]+/)) {
    if (name === '') continue
    if (Array.isArray(at)) at = at[Number(name)]
    else at = isJsonObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}
