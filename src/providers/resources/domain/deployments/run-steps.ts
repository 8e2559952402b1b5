/**
 * The steps of one run: what was sent, its result, and what can be sent next. Everything is in memory; a restart
 * needs only the records of `all`.
 */

import type { Clock } from '#kernel/ports.ts'
import type { Outcome } from '#plane/plane.ts'
import type { StepError, StepRecord } from '../../resources/deployments/model.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'
import type { Expanded } from './expand.ts'
import { Redaction, secretsAt } from './redact.ts'

/** The characters of all recorded requests and answers of one deployment. */
const contentLengthMax = 256 * 1024

export class RunSteps {
  readonly #nodes: readonly PlannedNode[]
  readonly #clock: Clock
  readonly #steps: Map<string, StepRecord>
  readonly #secrets: Set<string>
  /** For the secrets at the time it was made. */
  #redaction: Redaction | undefined
  readonly #contents = new Map<string, Pick<StepRecord, 'request' | 'response'>>()
  #contentLeft = contentLengthMax
  /** Sent by this process, and not answered yet. */
  readonly #underway = new Set<string>()

  constructor({ plan, secrets }: Expanded, recorded: readonly StepRecord[], clock: Clock) {
    this.#nodes = plan.nodes
    this.#clock = clock
    this.#steps = new Map(recorded.map((step) => [step.key, step]))
    this.#secrets = new Set(secrets)
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
    return this.#nodes.filter((node) => !this.wasSent(node.key) && node.dependsOn.every(isDone))
  }

  wasSent(key: string): boolean {
    return this.#steps.has(key) || this.#underway.has(key)
  }

  begin({ key, id, verb }: Pick<StepRecord, 'key' | 'id' | 'verb'>): StepRecord {
    return { key, id, verb, state: 'Running', startedAt: this.#clock.now() }
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

  answered(step: StepRecord, { status, operation }: Outcome): void {
    if (operation === undefined) this.succeed(step, { status })
    else this.settle(step, { status, operation: operation.statusPath })
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
    this.settle(step, { state: 'Failed', error, status, endedAt: this.#clock.now() })
  }

  /** Masks the values at these paths in everything that is recorded from now on. */
  hide(body: unknown, paths: readonly string[]): void {
    const before = this.#secrets.size
    for (const secret of secretsAt(body, paths)) this.#secrets.add(secret)
    if (this.#secrets.size > before) this.#redaction = undefined
  }

  redact<T>(value: T): T {
    this.#redaction ??= new Redaction(
      this.#secrets,
      this.#nodes.map(({ id }) => id),
    )
    return this.#redaction.of(value)
  }
}

function contentLength({ request, response }: Pick<StepRecord, 'request' | 'response'>): number {
  const nothing = request === undefined && response === undefined
  return nothing ? 0 : JSON.stringify([request, response]).length
}
