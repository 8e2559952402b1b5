/**
 * One run of a deployment: sends each resource when those it depends on are done, many at once, and follows the
 * operations they answer with. What it has in memory can be lost: every PUT may be sent again and then changes nothing.
 */

import { parseExactJson } from '#kernel/exact-json.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Clock } from '#kernel/ports.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { inRoom, type Room } from '#kernel/room.ts'
import type { Caller } from '#plane/caller.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { Outcome } from '#plane/plane.ts'
import type { JsonObject, Need, Tainted } from '#template/plan.ts'
import { refuseDeployment } from '../../errors.ts'
import type {
  Deployment,
  Progress,
  StepError,
  StepRecord,
} from '../../resources/deployments/model.ts'
import type { Late, Planned, PlannedNode } from '../evaluation/remote-plan.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'
import { type Asking, evaluateLate, fetchNeed, isLeftAlone, jsonOf, nodeOf } from './answers.ts'
import { AtOnce } from './at-once.ts'
import { attempt, errorOf } from './attempt.ts'
import type { Awaiting } from './awaited.ts'
import type { Expanded } from './expand.ts'
import { endedAs, followOperation } from './follow.ts'
import { membersOf } from './group-members.ts'
import { namesIn, nestedRunOf, type RunRecord, recordOfRun } from './kept-resources.ts'
import { withMaskedOutputs } from './masked-outputs.ts'
import { nestResourcesMax, shareOfNested } from './nested-share.ts'
import { assignNestedRun, type Nesting } from './nesting.ts'
import { assignRepeated, siblingOf } from './on-error.ts'
import { requireIncremental } from './request.ts'
import { failedError, withCause } from './run-error.ts'
import { RunSteps } from './run-steps.ts'

/**
 * Requests under way at once. Their writes are flushed together: bench `deployments`, 128 against 32, gave a
 * fifth more on a disk that flushes in 0.2 ms.
 */
const requestsAtOnceMax = 128
/** What one deployment in complete mode deletes at most: each is a step of its record, which is read and written whole. */
const deletionsMax = 5_000
/** The characters of one deployment's outputs as JSON: each list of deployments shows them. */
const outputsLengthMax = 512 * 1024
/** A step of the reconciler records its progress after this long. */
const stepSeconds = 1
const activeCode = 'DeploymentActive'
/** The version in which the fallback is sent. */
const recordVersion = '2025-03-01'

export interface RunDependencies {
  readonly caller: Caller
  readonly listTracked: PlaneServices['listTracked']
  readonly asRecorded: PlaneServices['asRecorded']
  readonly reader: Reader
  readonly clock: Clock
  sealOutputs(text: string, idKey: string, run: string): string
  openOutputs(sealed: string, idKey: string, run: string): string | undefined
  readonly awaiting: Awaiting
  /** Of nested deployments whose templates are elsewhere: each reads megabytes for a body of some characters. */
  readonly fetched: Room
}

export interface Run {
  readonly id: string
  progress(): Progress
  /** Checks the operations that are awaited. */
  look(): Promise<void>
  /** Sends what can be sent now. */
  advance(): Promise<void>
  /** It has ended, or is carried out elsewhere. */
  close(): void
}

interface RunOrigin {
  readonly id: ResourceId
  readonly model: Deployment
  readonly expanded: Expanded
  /** The last record, perhaps of an earlier run. */
  readonly last: Progress | undefined
}

export function openRun(deps: RunDependencies, origin: RunOrigin): Run {
  return new DeploymentRun(deps, origin)
}

class DeploymentRun implements Run {
  readonly id: string
  readonly #deps: RunDependencies
  readonly #model: Deployment
  readonly #deploymentId: ResourceId
  readonly #plan: Planned
  readonly #steps: RunSteps
  /** The runs of the nested deployments, by node key. */
  readonly #nested: ReadonlyMap<string, string>
  #outputs: Progress['outputs']
  #sealedOutputs: string | undefined
  #fallback: Progress['onError']
  #endedAt: number | undefined
  #endError: StepError | undefined
  #isSwept: boolean

  constructor(deps: RunDependencies, { id, model, expanded, last }: RunOrigin) {
    const recorded = last?.run === model.run ? last : undefined
    this.id = model.run
    this.#deps = deps
    // Its template is in the plan, and may have megabytes.
    this.#model = { ...model, template: {} }
    this.#deploymentId = id
    this.#plan = expanded.plan
    this.#steps = new RunSteps(expanded, recorded?.steps ?? [], deps.clock)
    this.#nested = new Map(
      expanded.plan.nodes.flatMap((node) =>
        node.nested ? [[node.key, nestedRunOf(model.run, node)] as const] : [],
      ),
    )
    this.#outputs = recorded?.outputs
    this.#sealedOutputs = recorded?.sealedOutputs
    this.#fallback = recorded?.onError
    this.#endedAt = recorded?.endedAt
    this.#endError = recorded?.endError
    this.#isSwept = model.mode !== 'Complete'
  }

  progress(): Progress {
    const failed = this.#steps.failed()
    const own = failed.length === 0 ? this.#endError : { ...failedError(failed), ...this.#endError }
    const error = own === undefined ? undefined : withCause(own, this.#fallback?.error)
    const phase = this.#phase()
    return {
      run: this.id,
      phase,
      steps: this.#steps.all(),
      ...(this.#outputs === undefined ? {} : { outputs: this.#outputs }),
      ...(this.#sealedOutputs === undefined ? {} : { sealedOutputs: this.#sealedOutputs }),
      ...(this.#fallback === undefined ? {} : { onError: this.#fallback }),
      ...(this.#endedAt === undefined ? {} : { endedAt: this.#endedAt }),
      ...(this.#endError === undefined ? {} : { endError: this.#endError }),
      ...(phase === 'failed' && error !== undefined ? { error } : {}),
    }
  }

  close(): void {
    this.#plan.release()
  }

  async look(): Promise<void> {
    if (this.#fallback?.state === 'Running') await this.#watchFallback()
    for (const step of this.#steps.waiting()) {
      const { operation, nextAt, readyBefore } = step
      if (nextAt !== undefined) continue
      if (readyBefore !== undefined) await this.#lookWhetherReady(step, readyBefore)
      else await (operation === undefined ? this.#watch(step) : this.#follow(step, operation))
    }
  }

  async advance(): Promise<void> {
    const { clock } = this.#deps
    const steps = this.#steps
    if (this.#ownPhase() === 'failed') {
      await this.#fallBack()
      return
    }
    const until = clock.now() + stepSeconds * 1000
    const going = new AtOnce()
    const queue: PlannedNode[] = []
    do {
      if (queue.length === 0) queue.push(...steps.ready())
      while (going.size < requestsAtOnceMax && queue.length > 0 && clock.now() < until) {
        const node = queue.shift()
        if (node === undefined) break
        if (steps.wasSent(node.key)) continue
        going.add(this.#sendNode(node))
      }
      if (going.size > 0) await going.next()
    } while (going.size > 0 || (clock.now() < until && steps.ready().length > 0))
    // Two may have ended at once, and the second may have failed.
    await going.next()
    const isOpen = (): boolean => steps.waiting().length > 0 || steps.failed().length > 0
    if (steps.ready().length > 0 || isOpen()) return
    if (!this.#isSwept) await this.#sweep()
    if (this.#endedAt === undefined && !isOpen()) await this.#finish()
  }

  /** A failed one continues with its fallback. */
  #phase(): Progress['phase'] {
    const phase = this.#ownPhase()
    if (phase !== 'failed' || this.#model.onError === undefined) return phase
    if (this.#fallback === undefined) return 'ready'
    return this.#fallback.state === 'Running' ? 'waiting' : 'failed'
  }

  #ownPhase(): Progress['phase'] {
    if (this.#endedAt !== undefined) return this.#endError === undefined ? 'done' : 'failed'
    if (this.#steps.ready().length > 0) return 'ready'
    if (this.#steps.waiting().length > 0) return 'waiting'
    return this.#steps.failed().length > 0 ? 'failed' : 'ready'
  }

  get #fallbackRun(): string {
    return uuidOf(`${this.id} on error`)
  }

  async #fallBack(): Promise<void> {
    const { onError } = this.#model
    if (onError === undefined || this.#fallback !== undefined) return
    const { awaiting, caller, reader } = this.#deps
    const path = siblingOf(this.#deploymentId, onError.deploymentName)
    const run = this.#fallbackRun
    const done = await attempt(async () => {
      // The type's `toModel` made the rows at its ids.
      const model = (await reader.get(path))?.model as Deployment | undefined
      // It was sent before a restart.
      if (model?.run === run) return
      if (model?.run !== onError.run) throw refuseDeployment.DeploymentReplaced({ id: path })
      const body = { properties: {} }
      assignRepeated(body, { run, model })
      await awaiting(path.toLowerCase(), this.#deploymentId.key, () =>
        caller.call({ method: 'PUT', path, version: recordVersion, body, ...this.#sender }),
      )
    })
    this.#fallback =
      done.kind === 'ok' ? { state: 'Running' } : { state: 'Failed', error: done.error }
  }

  async #watchFallback(): Promise<void> {
    const { onError } = this.#model
    if (onError === undefined) return
    const path = siblingOf(this.#deploymentId, onError.deploymentName)
    const record = await recordOfRun(this.#deps.reader, path, this.#fallbackRun)
    if (record === undefined) {
      const error = errorOf(refuseDeployment.DeploymentReplaced({ id: path }))
      this.#fallback = { state: 'Failed', error }
    } else if (isTerminalState(record.state)) {
      const error = record.progress?.error
      this.#fallback = { state: record.state, ...(error === undefined ? {} : { error }) }
    }
  }

  /** As the deploying caller. */
  get #sender(): Pick<Asking, 'principal' | 'correlationId'> {
    return { principal: this.#model.deployer, correlationId: this.#model.correlationId }
  }

  get #asking(): Asking {
    return { ...this.#sender, caller: this.#deps.caller, plan: this.#plan }
  }

  #send(step: StepRecord, work: () => Promise<Outcome>, isOnlyNew = false): Promise<void> {
    return this.#steps.during(step, async () => {
      const done = await attempt(work)
      if (done.kind === 'ok') await this.#answered(step, done.value)
      // Another writer made it after it was looked for: it is left alone.
      else if (isOnlyNew && done.status === 412) this.#steps.succeed(step, { status: 200 })
      else if (done.error.code === activeCode && (await this.#recordOf(step)) !== undefined) {
        // It was sent before a restart and runs: its record is followed.
        this.#steps.settle(step, { status: 202 })
      } else this.#steps.fail(step, done.error, done.status)
    })
  }

  #evaluate<T>(late: Late<T>): Promise<T> {
    return evaluateLate(this.#asking, late, (need) => this.#nestedAnswer(need))
  }

  /** Of a nested deployment: as it is shown, with the outputs that it masks as they are. */
  async #nestedAnswer(need: Need): Promise<Tainted | undefined> {
    const node = nodeOf(this.#plan, need)
    const step = node === undefined ? undefined : this.#steps.stepOf(node.key)
    const run = step === undefined ? undefined : this.#nestedRunOf(step)
    if (step === undefined || run === undefined) return undefined
    const answer = await fetchNeed(this.#asking, need)
    // After it was read: another may have written over it at any time.
    const record = await this.#recordOf(step)
    if (record === undefined && node?.onlyNew !== true) {
      throw refuseDeployment.DeploymentReplaced({ id: step.id })
    }
    const { sealedOutputs } = record?.progress ?? {}
    if (need.kind !== 'reference' || sealedOutputs === undefined) return answer
    const opened = this.#deps.openOutputs(sealedOutputs, step.id.toLowerCase(), run)
    if (opened === undefined) throw new Error(`the outputs of ${step.id} cannot be opened`)
    // Sealed by `#evaluateOutputs` alone.
    const value = withMaskedOutputs(answer.value, parseExactJson(opened) as JsonObject)
    return value === undefined ? answer : { ...answer, value }
  }

  async #answered(step: StepRecord, { status, operation }: Outcome): Promise<void> {
    if (operation === undefined) await this.#succeed(step, { status })
    else this.#steps.settle(step, { status, operation: operation.statusPath })
  }

  /** One that is waited for is done when it is ready. */
  async #succeed(
    { operation: _, ...step }: StepRecord,
    outcome: Pick<StepRecord, 'status' | 'names'>,
  ): Promise<void> {
    const { waitSeconds } = this.#steps.nodeOf(step) ?? {}
    if (waitSeconds === undefined) {
      this.#steps.succeed(step, outcome)
      return
    }
    const readyBefore = this.#deps.clock.now() + waitSeconds * 1000
    const waiting: StepRecord = { ...step, ...outcome, readyBefore }
    this.#steps.settle(waiting, {})
    await this.#lookWhetherReady(waiting, readyBefore)
  }

  /**
   * What cannot be read, or lacks what is asked of it, is not ready yet. A deployer who may no longer read it waits no
   * more.
   */
  async #lookWhetherReady(step: StepRecord, readyBefore: number): Promise<void> {
    const readiness = this.#steps.nodeOf(step)?.readiness
    if (readiness === undefined) throw new Error(`nothing is waited for of ${step.id}`)
    const seen = await attempt(() => evaluateLate(this.#asking, readiness))
    const { status = 200, names } = step
    if (seen.kind === 'ok' && seen.value?.value === true) {
      this.#steps.succeed(step, { status, ...(names === undefined ? {} : { names }) })
    } else if (seen.kind === 'refused' && (seen.status === 401 || seen.status === 403)) {
      this.#steps.fail(step, seen.error, seen.status)
    } else if (this.#deps.clock.now() >= readyBefore) {
      const reason = seen.kind === 'ok' ? '' : ` ${seen.error.message}`
      const error = errorOf(refuseDeployment.ResourceNotReady({ id: step.id, reason }))
      this.#steps.fail(step, error, 409)
    }
  }

  #sendNode(node: PlannedNode): Promise<void> {
    const { key, id, apiVersion: version } = node
    const { caller } = this.#deps
    if (node.existing) {
      const step = this.#steps.begin({ key, id, verb: 'Read' })
      return this.#send(step, async () => {
        if (node.retryOn === undefined) return { status: 200 }
        const read = { method: 'GET', path: id, version, ...this.#sender } as const
        const { status } = await caller.call(read)
        return { status }
      })
    }
    const step = this.#steps.begin({ key, id, verb: 'Create' })
    return this.#send(
      step,
      async () => {
        if (node.onlyNew && (await isLeftAlone(this.#asking, node))) return { status: 200 }
        const made = await this.#evaluate(node)
        const { debugLevel = '' } = this.#model
        const run = this.#nestedRunOf(step)
        // What a nested deployment is given is written into a copy.
        const body = run === undefined ? made.body : jsonOf(made.body)
        this.#steps.hide(body, made.securePaths)
        if (run !== undefined && isJsonObject(body)) {
          requireIncremental(body)
          const secrets = this.#steps.secretsBelow(body, made.securePaths)
          assignNestedRun(body, { run, nesting: this.#nestingBelow(), secrets })
        }
        const preconditions = node.onlyNew ? { ifNoneMatch: '*' } : {}
        const request = {
          method: 'PUT',
          path: id,
          version,
          body,
          preconditions,
          isOneOfMany: true,
        } as const
        const { awaiting } = this.#deps
        let answered: unknown
        try {
          const send = () => caller.call({ ...request, ...this.#sender })
          const { fetched } = this.#deps
          const owner = this.#model.deployer.id
          const sent = isFetched(node, body) ? () => inRoom(fetched, owner, send) : send
          const answer = await awaiting(id.toLowerCase(), this.#deploymentId.key, sent)
          // Nobody else reads it, and it may be large.
          if (debugLevel !== '') answered = jsonOf(answer.body)
          if (debugLevel.includes('responseContent')) {
            this.#steps.noteContent(node, { response: answered })
          }
          return answer
        } finally {
          // Also a refused one.
          if (debugLevel.includes('requestContent')) this.#noteRequest(node, body, answered)
        }
      },
      node.onlyNew,
    )
  }

  /** A nested deployment is not recorded: only its own template knows what is secure in it. */
  #noteRequest(node: PlannedNode, body: unknown, answer: unknown): void {
    if (this.#nested.has(node.key) || !isJsonObject(body)) return
    const { id: path, apiVersion: version } = node
    const request = this.#deps.asRecorded({ path, version, body, answer })
    this.#steps.noteContent(node, { request })
  }

  #nestingBelow(): Nesting {
    const { run, nesting } = this.#model
    const { root, depth } = nesting ?? { root: run, depth: 0 }
    const share = shareOfNested(
      nesting?.share ?? nestResourcesMax,
      this.#plan.nodes.length,
      this.#nested.size,
    )
    return { root, depth: depth + 1, parent: { id: this.#deploymentId.text, run }, share }
  }

  /** Complete mode: deletes what is in the group and not in the template or anything nested in it. */
  async #sweep(): Promise<void> {
    const { awaiting, caller, clock, listTracked } = this.#deps
    const id = this.#deploymentId
    const names = namesIn(this.#steps.all())
    if (names === undefined) {
      this.#endError = errorOf(refuseDeployment.NestedResourcesUnknown({ name: nameOf(id) }))
      this.#endedAt = clock.now()
      return
    }
    const kept = new Set(names)
    let left = deletionsMax - this.#steps.all().filter(({ verb }) => verb === 'Delete').length
    for await (const { key, text: path, version } of membersOf(listTracked, scopeOf(id))) {
      if (kept.has(key) || this.#steps.wasSent(key)) continue
      if (--left < 0) {
        const more = { name: nameOf(id), limit: deletionsMax }
        this.#endError = errorOf(refuseDeployment.DeploymentDeletesTooMany(more))
        break
      }
      await this.#send(this.#steps.begin({ key, id: path, verb: 'Delete' }), () =>
        awaiting(key, id.key, () =>
          caller.call({ method: 'DELETE', path, version, ...this.#sender }),
        ),
      )
    }
    this.#isSwept = true
  }

  async #finish(): Promise<void> {
    const done =
      this.#endError === undefined ? await attempt(() => this.#evaluateOutputs()) : undefined
    if (done?.kind === 'ok') this.#outputs = done.value
    else if (done !== undefined) this.#endError = this.#steps.redact(done.error)
    this.#endedAt = this.#deps.clock.now()
  }

  async #evaluateOutputs(): Promise<NonNullable<Progress['outputs']>> {
    const made: [string, { type: string; value?: unknown }][] = []
    const hidden: [string, unknown][] = []
    let length = 0
    for (const output of this.#plan.outputs) {
      const value = await this.#evaluate(output)
      if (value === undefined) continue
      const { name, type } = output
      const isHidden = output.secure || value.secure
      const redacted = this.#steps.redact(value.value)
      const shown = isHidden ? {} : { value: redacted }
      // What is masked is kept as it is, too: the outer template goes on with it.
      const isMasked = JSON.stringify(redacted) !== JSON.stringify(value.value)
      if (isHidden || isMasked) hidden.push([name, value.value])
      length += name.length + JSON.stringify(value.value).length
      if (length > outputsLengthMax) {
        throw refuseDeployment.DeploymentOutputsTooLarge({ name, limit: outputsLengthMax })
      }
      made.push([name, { type, ...shown }])
    }
    if (hidden.length > 0) {
      const text = JSON.stringify(Object.fromEntries(hidden))
      this.#sealedOutputs = this.#deps.sealOutputs(text, this.#deploymentId.key, this.id)
    }
    // fromEntries defines properties, so an output named `__proto__` stays data.
    return Object.fromEntries(made)
  }

  /** What a nested deployment made or named. */
  async #namedBy(step: StepRecord): Promise<Pick<StepRecord, 'names'>> {
    const record = await this.#recordOf(step)
    const names = record?.progress === undefined ? undefined : namesIn(record.progress.steps)
    return names === undefined ? {} : { names }
  }

  /** The record of a nested deployment, while it is of the run that was begun here. */
  async #recordOf(step: StepRecord): Promise<RunRecord | undefined> {
    const run = this.#nestedRunOf(step)
    return run === undefined ? undefined : recordOfRun(this.#deps.reader, step.id, run)
  }

  /** What is sent once more begins a run of its own. */
  #nestedRunOf({ key, attempts }: Pick<StepRecord, 'key' | 'attempts'>): string | undefined {
    const run = this.#nested.get(key)
    return run === undefined || attempts === undefined ? run : uuidOf(`${run} attempt ${attempts}`)
  }

  async #watch(step: StepRecord): Promise<void> {
    const record = await this.#recordOf(step)
    if (record === undefined) {
      const error = errorOf(refuseDeployment.DeploymentReplaced({ id: step.id }))
      this.#steps.fail(step, error, 409)
    } else if (record.state === 'Succeeded') {
      await this.#succeed(step, await this.#namedBy(step))
    } else if (isTerminalState(record.state)) {
      this.#steps.fail(step, record.progress?.error ?? endedAs(record.state), 409)
    }
  }

  async #follow(step: StepRecord, path: string): Promise<void> {
    const ended = await followOperation(this.#deps.caller, path, this.#sender)
    if (ended === undefined) return
    if (ended.error === undefined) await this.#succeed(step, await this.#namedBy(step))
    else this.#steps.fail(step, ended.error, ended.status)
  }
}

function isFetched({ nested }: PlannedNode, body: unknown): boolean {
  const properties = nested && isJsonObject(body) ? body['properties'] : undefined
  return isJsonObject(properties) && properties['templateLink'] !== undefined
}
