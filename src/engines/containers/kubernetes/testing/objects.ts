/**
 * The objects of a fake cluster: unique names, versions that only grow, and watch events. It knows no HTTP and runs
 * nothing.
 */

import { randomUUID } from 'node:crypto'
import type { Clock } from '#kernel/ports.ts'
import { type Json, textAt } from '../../json.ts'

export interface ClusterObject {
  kind: string
  metadata: {
    name: string
    namespace: string
    uid: string
    resourceVersion: string
    creationTimestamp: string
    labels: Record<string, string>
    annotations: Record<string, string>
    deletionTimestamp?: string
    deletionGracePeriodSeconds?: number
  }
  spec?: Json
  data?: Json
  status?: Status
}

export interface Status {
  phase?: string
  reason?: string
  podIP?: string
  hostIP?: string
  initContainerStatuses?: ContainerStatus[]
  containerStatuses?: ContainerStatus[]
  loadBalancer?: { ingress?: { ip: string }[] }
}

interface Ended {
  exitCode: number
  reason: string
  startedAt: string
  finishedAt: string
}

export interface ContainerStatus {
  name: string
  image: string
  imageID: string
  ready: boolean
  restartCount: number
  state: { waiting?: { reason: string }; running?: { startedAt: string }; terminated?: Ended }
  lastState: { terminated?: Ended }
}

interface WatchEvent {
  readonly version: number
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly collection: string
  /** The object at that time. */
  readonly object: ClusterObject
}

/** An error answer in the API's form. */
export class Refusal extends Error {
  readonly code: number
  readonly reason: string

  constructor(code: number, reason: string, message: string) {
    super(message)
    this.code = code
    this.reason = reason
  }
}

export class Objects {
  readonly #clock: Clock
  readonly #things = new Map<string, ClusterObject>()
  readonly #watchers = new Set<(news: WatchEvent) => void>()
  #history: WatchEvent[] = []
  #version = 100

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get version(): number {
    return this.#version
  }

  /** Whole seconds, like the API's times. */
  now(): string {
    return new Date(this.#clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  }

  get(collection: string, name: string): ClusterObject {
    const found = this.find(collection, name)
    if (found !== undefined) return found
    throw new Refusal(404, 'NotFound', `${collection} "${name}" not found`)
  }

  find(collection: string, name: string): ClusterObject | undefined {
    return this.#things.get(`${collection}/${name}`)
  }

  list(collection: string): readonly ClusterObject[] {
    return [...this.#things].flatMap(([key, thing]) =>
      key.startsWith(`${collection}/`) ? [thing] : [],
    )
  }

  create(collection: string, thing: ClusterObject): ClusterObject {
    const { name } = thing.metadata
    if (this.find(collection, name) !== undefined) {
      throw new Refusal(409, 'AlreadyExists', `${collection} "${name}" already exists`)
    }
    thing.metadata.uid = randomUUID()
    thing.metadata.creationTimestamp = this.now()
    this.#things.set(`${collection}/${name}`, thing)
    this.#tell('ADDED', collection, thing)
    return thing
  }

  replace(collection: string, thing: ClusterObject): ClusterObject {
    const before = this.get(collection, thing.metadata.name)
    const wanted = thing.metadata.resourceVersion
    if (wanted !== '' && wanted !== before.metadata.resourceVersion) {
      throw new Refusal(409, 'Conflict', 'the object has been modified')
    }
    const { uid, creationTimestamp } = before.metadata
    Object.assign(thing.metadata, { uid, creationTimestamp })
    this.#things.set(`${collection}/${thing.metadata.name}`, thing)
    this.#tell('MODIFIED', collection, thing)
    return thing
  }

  /** `thing` was changed in place. */
  changed(collection: string, thing: ClusterObject): void {
    this.#tell('MODIFIED', collection, thing)
  }

  remove(collection: string, thing: ClusterObject): void {
    const { name, uid } = thing.metadata
    if (this.find(collection, name)?.metadata.uid !== uid) return
    this.#things.delete(`${collection}/${name}`)
    this.#tell('DELETED', collection, thing)
  }

  /** Reports all events after `version` and all new ones; undefined when that version is forgotten. */
  watch(version: number, watcher: (news: WatchEvent) => void): (() => void) | undefined {
    const oldest = this.#history[0]?.version ?? this.#version + 1
    if (version + 1 < oldest) return undefined
    for (const news of this.#history) if (news.version > version) watcher(news)
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** A switch: the history is gone, as after a compaction. */
  forgetHistory(): void {
    this.#history = []
    this.#version += 1
  }

  #tell(type: WatchEvent['type'], collection: string, thing: ClusterObject): void {
    this.#version += 1
    thing.metadata.resourceVersion = String(this.#version)
    const news = { version: this.#version, type, collection, object: structuredClone(thing) }
    this.#history.push(news)
    for (const watcher of this.#watchers) watcher(news)
  }
}

/** Whether an object has all the labels of `a=b,c=d`. */
export function isSelected(thing: ClusterObject, selector: string): boolean {
  return selector
    .split(',')
    .filter(Boolean)
    .every((each) => {
      const [key = '', value] = each.split('=')
      return textAt(thing.metadata.labels, key) === value
    })
}
