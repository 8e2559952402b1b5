/**
 * One run of a deployment: sends each resource when those it depends on are done, many at once, and follows the
 * operations they answer with. What it has in memory can be lost: every PUT may be sent again and then changes nothing.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { isTerminalState, isTerminalStatus, type OperationStatus } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Clock } from '#kernel/ports.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { Caller } from '#plane/caller.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { Outcome } from '#plane/plane.ts'
import { refuseDeployment } from '../../errors.ts'
import type {
  Deployment,
  Progress,
  StepError,
  StepRecord,
} from '../../resources/deployments/model.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'
import { type Asking, evaluateLate, jsonOf } from './answers.ts'
import { attempt, errorOf } from './attempt.ts'
import type { Expanded } from './expand.ts'
import { namesIn, nestedRunOf, type RunRecord, recordOfRun } from './kept-resources.ts'
import { nestResourcesMax, shareOfNested } from './nested-share.ts'
import { assignNestedRun } from './nesting.ts'
import { redact, secretsIn } from './redact.ts'
import { modeOf } from './request.ts'

/**
 * Requests under way at once. Their writes are flushed together: bench `deployments`, 128 against 32, gave a
 * fifth more on a disk that flushes in 0.2 ms.
 */
const requestsAtOnceMax = 128
/** Characters of the outputs of one deployment, as JSON: each list of deployments shows them. */
const outputsLengthMax = 512 * 1024
/** One step records what it has done after this long. */
const stepSeconds = 1
const sweepPageSize = 500
const activeCode = 'DeploymentActive'
/** Of types that take every version. */
const anyDate = '2025-01-01'

export interface RunDependencies {
  readonly caller: Caller
  readonly listTracked: PlaneServices['listTracked']
  readonly reader: Reader
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
  deps: RunDependencies,
  id: ResourceId,
  model: Deployment,
  expanded: Expanded,
  last: Progress | undefined,
): Run {
  const { plan } = expanded
  const { caller, clock } = deps
  const principal = model.deployer
  const asking: Asking = { caller, principal, correlationId: model.correlationId, plan }
  const nested = new Map(
    plan.nodes.flatMap((node) =>
      node.nested ? [[node.key, nestedRunOf(model.run, node)] as const] : [],
    ),
  )
  const share = shareOfNested(
    model.nesting?.share ?? nestResourcesMax,
    plan.nodes.length,
    nested.size,
  )
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
  const ready = (): readonly PlannedNode[] =>
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
    try {
      const done = await attempt(work)
      if (done.kind === 'ok') answered(step, done.value)
      else if (done.error.code === activeCode && (await recordOf(step)) !== undefined) {
        // It was sent before a restart and runs: it is followed by its record.
        settle(step, { status: 202 })
      } else fail(step, done.error, done.status)
    } finally {
      underway.delete(step.key)
    }
  }

  function begin(key: string, resourceId: string, verb: StepRecord['verb']): StepRecord {
    return { key, id: resourceId, verb, state: 'Running', startedAt: clock.now() }
  }

  function sendNode(node: PlannedNode): Promise<void> {
    if (node.existing) {
      const step = begin(node.key, node.id, 'Read')
      return send(step, () => Promise.resolve({ status: 200 }))
    }
    return send(begin(node.key, node.id, 'Create'), async () => {
      const made = await evaluateLate(asking, node)
      const body = jsonOf(made.body)
      for (const path of made.securePaths) {
        for (const secret of secretsIn(valueAt(body, path))) secrets.add(secret)
      }
      const run = nested.get(node.key)
      if (run !== undefined && isJsonObject(body)) {
        requireIncremental(body)
        const { root, depth } = model.nesting ?? { root: model.run, depth: 0 }
        const parent = { id: id.text, run: model.run }
        assignNestedRun(body, { run, nesting: { root, depth: depth + 1, parent, share } })
      }
      deps.awaiting(node.id.toLowerCase(), id.key)
      return caller.call({
        method: 'PUT',
        path: node.id,
        version: node.apiVersion,
        body,
        principal,
        correlationId: model.correlationId,
      })
    })
  }

  /** Complete: what the group holds and the template, with all that is nested in it, lacks. */
  async function sweep(): Promise<void> {
    const names = namesIn([...steps.values()])
    if (names === undefined) {
      endError = errorOf(refuseDeployment.NestedResourcesUnknown({ name: nameOf(id) }))
      endedAt = clock.now()
      return
    }
    const kept = new Set(names)
    for await (const found of membersOf(deps.listTracked, scopeOf(id))) {
      if (kept.has(found.key)) continue
      const { version } = found
      const step = begin(found.key, found.text, 'Delete')
      if (steps.has(found.key)) continue
      await send(step, () => {
        deps.awaiting(found.key, id.key)
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
    let length = 0
    for (const output of plan.outputs) {
      const value = await evaluateLate(asking, output)
      if (value === undefined) continue
      const { name, type } = output
      const isHidden = output.secure || value.secure
      const shown = isHidden ? {} : { value: redact(value.value, [...secrets]) }
      length += name.length + JSON.stringify(shown).length
      if (length > outputsLengthMax) {
        throw refuseDeployment.DeploymentOutputsTooLarge({ name, limit: outputsLengthMax })
      }
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
        await (step.operation === undefined ? watch(step) : follow(step, step.operation))
      }
    },
    async advance() {
      const until = clock.now() + stepSeconds * 1000
      const going = new Set<Promise<void>>()
      const queue: PlannedNode[] = []
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
      if (endedAt !== undefined) return
      if (waiting().length === 0 && failures().length === 0) await finish()
    },
  }

  /** What a nested deployment made or named. */
  async function namedBy(step: StepRecord): Promise<Pick<StepRecord, 'names'>> {
    const record = await recordOf(step)
    const names = record?.progress === undefined ? undefined : namesIn(record.progress.steps)
    return names === undefined ? {} : { names }
  }

  /** The record of a nested deployment, while it is of the run that was begun here. */
  async function recordOf({ key, id }: StepRecord): Promise<RunRecord | undefined> {
    const run = nested.get(key)
    return run === undefined ? undefined : recordOfRun(deps.reader, id, run)
  }

  async function watch(step: StepRecord): Promise<void> {
    const record = await recordOf(step)
    if (record === undefined) {
      fail(step, errorOf(refuseDeployment.DeploymentReplaced({ id: step.id })), 409)
    } else if (record.state === 'Succeeded') {
      settle(step, { state: 'Succeeded', endedAt: clock.now(), ...(await namedBy(step)) })
    } else if (isTerminalState(record.state)) {
      fail(step, record.progress?.error ?? endedAs(record.state), 409)
    }
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
      settle(step, { state: 'Succeeded', endedAt: clock.now(), ...(await namedBy(step)) })
      return
    }
    const error = operation['error'] as unknown as StepError | undefined
    fail(step, error ?? endedAs(status), 409)
  }
}

/** Throws for a nested deployment in complete mode: only a deployment that a client sends may delete. */
export function requireIncremental(body: unknown): void {
  const { properties } = isJsonObject(body) ? body : {}
  const mode = isJsonObject(properties) ? properties['mode'] : undefined
  if (modeOf(mode) === 'Complete') throw refuseDeployment.NestedDeploymentMode()
}

function endedAs(status: string): StepError {
  return { code: status, message: `the operation ended: ${status}` }
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
      const version = compiled.dates === 'any' ? anyDate : (compiled.dates[0] ?? '')
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
