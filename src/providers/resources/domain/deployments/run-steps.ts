/**
 * The steps of one run: what was sent, its result, and what can be sent next. Everything is in memory; a restart
 * needs only the records of `all`.
 */

import type { Clock } from '#kernel/ports.ts'
import type { StepError, StepRecord } from '../../resources/deployments/model.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'
import type { Expanded } from './expand.ts'
import { Redaction, secretsAt, secretsMax } from './redact.ts'

/** The characters of all recorded requests and answers of one deployment. */
const contentLengthMax = 256 * 1024

export class RunSteps {
  readonly #nodes: readonly PlannedNode[]
  /** Those that may not have ended: they are looked through each time that one ends. */
  #open: readonly PlannedNode[]
  readonly #nodeByKey: ReadonlyMap<string, PlannedNode>
  readonly #clock: Clock
  readonly #steps: Map<string, StepRecord>
  readonly #secrets: Set<string>
  readonly #given: readonly string[]
  /** For the secrets at the time it was made. It may be large, and many runs wait for hours. */
  #redaction: WeakRef<Redaction> | undefined
  readonly #contents = new Map<string, Pick<StepRecord, 'request' | 'response'>>()
  #contentLeft = contentLengthMax
  /** Sent by this process, and not answered yet. */
  readonly #underway = new Set<string>()

  constructor({ plan, secrets }: Expanded, recorded: readonly StepRecord[], clock: Clock) {
    this.#nodes = plan.nodes
    this.#open = plan.nodes
    this.#nodeByKey = new Map(plan.nodes.map((node) => [node.key, node]))
    this.#clock = clock
    this.#steps = new Map(recorded.map((step) => [step.key, step]))
    this.#secrets = new Set(secrets)
    this.#given = secrets
    this.#contentLeft -= recorded.reduce((sum, one) => sum + contentLength(one), 0)
  }

  all(): readonly StepRecord[] {
    return [...this.#steps.values()]
  }

  waiting(): readonly StepRecord[] {
    return this.all().filter(({ state }) => state === 'Running')
  }

  failed(): readonly StepRecord[] {
    return this.all().filter(({ state }) => state === 'Failed')
  }

  ready(): readonly PlannedNode[] {
    const isDone = (key: string): boolean => this.#steps.get(key)?.state === 'Succeeded'
    const hasEnded = (key: string): boolean =>
      isDone(key) || this.#steps.get(key)?.state === 'Failed'
    this.#open = this.#open.filter(({ key }) => !hasEnded(key))
    return this.#open.filter((node) => !this.wasSent(node.key) && node.dependsOn.every(isDone))
  }

  /** One that is due again counts as not sent. */
  wasSent(key: string): boolean {
    if (this.#underway.has(key)) return true
    const step = this.#steps.get(key)
    return step !== undefined && !(step.nextAt !== undefined && step.nextAt <= this.#clock.now())
  }

  begin({ key, id, verb }: Pick<StepRecord, 'key' | 'id' | 'verb'>): StepRecord {
    const { attempts } = this.#steps.get(key) ?? {}
    const before = attempts === undefined ? {} : { attempts }
    return { key, id, verb, state: 'Running', startedAt: this.#clock.now(), ...before }
  }

  /** The step counts as sent while the work runs. */
  async during(step: StepRecord, work: () => Promise<void>): Promise<void> {
    this.#underway.add(step.key)
    try {
      await work()
    } finally {
      this.#underway.delete(step.key)
    }
  }

  settle(step: StepRecord, outcome: Partial<StepRecord>): void {
    const { error } = outcome
    const shown = error === undefined ? {} : { error: this.redact(error) }
    this.#steps.set(step.key, { ...step, ...this.#contents.get(step.key), ...outcome, ...shown })
  }

  stepOf(key: string): StepRecord | undefined {
    return this.#steps.get(key)
  }

  /** Undefined for what is deleted. */
  nodeOf({ key }: Pick<StepRecord, 'key'>): PlannedNode | undefined {
    return this.#nodeByKey.get(key)
  }

  /** Recorded with the step when it is settled. */
  noteContent(
    { key }: Pick<StepRecord, 'key'>,
    content: Pick<StepRecord, 'request' | 'response'>,
  ): void {
    const shown = this.redact(content)
    const length = contentLength(shown)
    if (length > this.#contentLeft) return
    this.#contentLeft -= length
    this.#contents.set(key, { ...this.#contents.get(key), ...shown })
  }

  succeed(step: StepRecord, outcome: Pick<StepRecord, 'status' | 'names'>): void {
    this.settle(step, { ...outcome, state: 'Succeeded', endedAt: this.#clock.now() })
  }

  fail(step: StepRecord, error: StepError, status: number): void {
    const { attempts = 0 } = step
    const { retryOn } = this.nodeOf(step) ?? {}
    if (retryOn !== undefined && attempts < retryOn.count && isNamed(retryOn.codes, error)) {
      const seconds = Math.min(2 ** attempts, retrySecondsMax)
      this.#steps.set(step.key, {
        ...this.begin(step),
        attempts: attempts + 1,
        nextAt: this.#clock.now() + seconds * 1000,
        error: this.redact(error),
      })
      return
    }
    this.settle(step, { state: 'Failed', error, status, endedAt: this.#clock.now() })
  }

  /** Masks the values at these paths in everything that is recorded from now on. */
  hide(body: unknown, paths: readonly string[]): void {
    const before = this.#secrets.size
    for (const secret of secretsAt(body, paths)) this.#secrets.add(secret)
    if (this.#secrets.size > before) this.#redaction = undefined
  }

  /** What a nested deployment with this body masks: what is at these paths, and what this one was given. */
  secretsBelow(body: unknown, paths: readonly string[]): readonly string[] {
    return [...new Set([...secretsAt(body, paths), ...this.#given])].slice(0, secretsMax + 1)
  }

  redact<T>(value: T): T {
    const known = this.#redaction?.deref()
    if (known !== undefined) return known.of(value)
    const ids = this.#nodes.map(({ id }) => id)
    const redaction = new Redaction(this.#secrets, ids)
    this.#redaction = new WeakRef(redaction)
    return redaction.of(value)
  }
}

/** Between two attempts; it begins with one second and doubles. */
const retrySecondsMax = 60

/** Is its code, or that of a cause, among these? */
function isNamed(codes: readonly string[], error: StepError): boolean {
  const all = [error, ...(error.details ?? [])]
  return all.some(({ code }) => codes.includes(code.toLowerCase()))
}

function contentLength({ request, response }: Pick<StepRecord, 'request' | 'response'>): number {
  const nothing = request === undefined && response === undefined
  return nothing ? 0 : JSON.stringify([request, response]).length
}
