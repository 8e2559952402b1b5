/** Deletes or detaches what a stack no longer manages, in an order in which nothing blocks the next. */

import type { Clock } from '#kernel/ports.ts'
import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { freeTurn } from '#plane/next-turn.ts'
import type { FailedResource, StackProgress } from '../../resources/deployment-stacks/model.ts'
import type { StepError } from '../../resources/deployments/model.ts'
import { attempt } from '../deployments/attempt.ts'
import type { Awaiting } from '../deployments/awaited.ts'
import { followOperation } from '../deployments/follow.ts'
import { membersOf } from '../deployments/group-members.ts'
import { kindOf, rankOf } from './managed.ts'
import type { StackSender } from './run.ts'

/** The number of concurrent deletions: other deletions of the installation need a turn too. */
const underWayMax = 32
/** How often a failed deletion is retried after others succeeded. */
const passesMax = 5

interface RemovalDependencies extends Pick<PlaneServices, 'caller' | 'listTracked'> {
  readonly clock: Clock
  readonly stackKey: string
  readonly sender: StackSender
  versionOf(id: ResourceId): string
  readonly awaiting: Awaiting
  isDetached(key: string): boolean
  /** As shown. */
  textOf(key: string): string
}

type Recorded = Pick<StackProgress, 'unmanaged' | 'deleted' | 'detached' | 'failed' | 'operations'>

export class Removal {
  readonly #deps: RemovalDependencies
  readonly #unmanaged: Set<string>
  readonly #deleted: string[]
  readonly #detached: string[]
  readonly #failed: Map<string, FailedResource>
  /** The status addresses of running deletions, by resource key. */
  readonly #operations: Map<string, string>
  /** Of these that were recorded before: operations are forgotten, whatever has become of them. */
  readonly #recorded: Set<string>
  readonly #ranks = new Map<string, number>()
  /** Those that are known to be deleted, not detached. */
  readonly #toDelete = new Set<string>()
  #pass = 1
  #goneInPass = 0

  constructor(
    deps: RemovalDependencies,
    { unmanaged, deleted, detached, failed, operations = {} }: Recorded,
  ) {
    this.#deps = deps
    this.#operations = new Map(Object.entries(operations))
    this.#recorded = new Set(this.#operations.keys())
    this.#unmanaged = new Set(unmanaged)
    this.#deleted = [...deleted]
    this.#detached = [...detached]
    this.#failed = new Map(failed.map((one) => [one.id.toLowerCase(), one]))
  }

  add(keys: readonly string[]): void {
    for (const key of keys) this.#unmanaged.add(key)
  }

  /** Neither deletes nor detaches it after all. */
  keep(key: string): void {
    this.#unmanaged.delete(key)
  }

  has(key: string): boolean {
    return this.#unmanaged.has(key)
  }

  /** Adds another failure, which is shown with the rest. */
  note(failed: FailedResource): void {
    this.#failed.set(failed.id.toLowerCase(), failed)
  }

  progress(): Recorded {
    return {
      unmanaged: [...this.#unmanaged],
      deleted: this.#deleted,
      detached: this.#detached,
      failed: [...this.#failed.values()],
      ...(this.#operations.size === 0 ? {} : { operations: Object.fromEntries(this.#operations) }),
    }
  }

  get isWaiting(): boolean {
    const { size } = this.#operations
    return size >= underWayMax || (size > 0 && this.#next().length === 0)
  }

  get isDone(): boolean {
    return this.#operations.size === 0 && this.#next().length === 0
  }

  get notDeleted(): readonly FailedResource[] {
    return [...this.#failed].flatMap(([key, one]) => (this.#unmanaged.has(key) ? [one] : []))
  }

  /** Returns the keys of those that are gone by now. */
  async look(): Promise<readonly string[]> {
    const gone: string[] = []
    for (const [key, path] of this.#operations) {
      const ended = await followOperation(this.#deps.caller, path, this.#deps.sender)
      if (ended === undefined) continue
      this.#operations.delete(key)
      const isKnown = !this.#recorded.delete(key)
      // It is sent once more, as one that is gone answers.
      if (!isKnown && ended.status === 404) continue
      if (ended.error === undefined || ended.status === 404) gone.push(this.#isGone(key))
      else this.#isLeft(key, ended.error)
    }
    this.#tryAgain()
    return gone
  }

  /** Returns the keys of those that are gone or detached. */
  async advance(until: number): Promise<readonly string[]> {
    const gone: string[] = []
    for (const key of [...this.#unmanaged]) {
      if (this.#toDelete.has(key)) continue
      await freeTurn()
      if (!this.#deps.isDetached(key)) {
        this.#toDelete.add(key)
        continue
      }
      this.#unmanaged.delete(key)
      this.#detached.push(this.#deps.textOf(key))
      gone.push(key)
    }
    while (this.#deps.clock.now() < until) {
      const keys = this.#next().slice(0, Math.max(0, underWayMax - this.#operations.size))
      if (keys.length === 0) break
      const ended = await Promise.all(keys.map((key) => this.#delete(key)))
      gone.push(...ended.flatMap((key) => key ?? []))
      this.#tryAgain()
    }
    return gone
  }

  /** Those of the lowest rank that neither run nor failed; none while one of a lower rank is running. */
  #next(): readonly string[] {
    let lowest = Number.POSITIVE_INFINITY
    let next: string[] = []
    for (const key of this.#unmanaged) {
      const rank = this.#failed.has(key) ? undefined : this.#rankOf(key)
      if (rank === undefined || rank > lowest) continue
      if (rank < lowest) next = []
      lowest = rank
      if (!this.#operations.has(key)) next.push(key)
    }
    return next
  }

  /** Thousands are looked at for each that is deleted. */
  #rankOf(key: string): number {
    const rank = this.#ranks.get(key) ?? rankOf(key)
    this.#ranks.set(key, rank)
    return rank
  }

  async #delete(key: string): Promise<string | undefined> {
    const id = parseResourceId(key)
    if (id === undefined) throw new Error(`${key} is no id`)
    const { caller, sender, versionOf, awaiting, stackKey } = this.#deps
    if (kindOf(id) === 'resourceGroups' && (await this.#holdsOthers(id))) {
      this.#isLeft(key, notEmpty)
      return undefined
    }
    const request = { method: 'DELETE', path: id.text, version: versionOf(id) } as const
    const sent = await attempt(() =>
      awaiting(key, stackKey, () => caller.call({ ...request, ...sender })),
    )
    if (sent.kind === 'refused' && sent.status !== 404) this.#isLeft(key, sent.error)
    else if (sent.kind === 'ok' && sent.value.operation !== undefined) {
      this.#operations.set(key, sent.value.operation.statusPath)
    } else return this.#isGone(key)
    return undefined
  }

  /** Deleting a group deletes everything in it, including what the stack does not manage or detaches. */
  async #holdsOthers(id: ResourceId): Promise<boolean> {
    const members = membersOf(this.#deps.listTracked, id)
    const first = await members.next()
    return first.done !== true
  }

  #isGone(key: string): string {
    this.#unmanaged.delete(key)
    this.#deleted.push(this.#deps.textOf(key))
    this.#goneInPass++
    return key
  }

  #isLeft(key: string, error: StepError): void {
    this.#failed.set(key, { id: this.#deps.textOf(key), error })
  }

  #tryAgain(): void {
    const failed = [...this.#failed.keys()].filter((key) => this.#unmanaged.has(key))
    if (failed.length === 0 || !this.isDone) return
    if (this.#goneInPass === 0 || this.#pass >= passesMax) return
    this.#pass++
    this.#goneInPass = 0
    for (const key of failed) this.#failed.delete(key)
  }
}

const notEmpty: StepError = {
  code: 'DeploymentStackResourceGroupNotEmpty',
  message: 'The resource group holds resources that the stack does not delete.',
}
