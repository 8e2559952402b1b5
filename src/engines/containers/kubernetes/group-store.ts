/**
 * Finds, creates and removes the cluster's objects of one installation's groups. It stores nothing itself, and
 * never touches other objects.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { EngineError } from '../engine.ts'
import { type Json, listAt, textAt } from '../json.ts'
import type { KubernetesClient } from './client.ts'
import { unless } from './failure.ts'
import { annotationOf, isOwned, type Names, selectorOf } from './names.ts'

type Kind = 'pods' | 'secrets' | 'services'

interface Holding {
  readonly pods: readonly Json[]
  readonly services: readonly Json[]
  /** Only their metadata; the contents are not requested. */
  readonly secrets: readonly Json[]
}

const waitMsMin = 20
const waitMsMax = 500

export class GroupStore {
  readonly #client: KubernetesClient
  readonly #installation: string

  constructor(client: KubernetesClient, installation: string) {
    this.#client = client
    this.#installation = installation
  }

  async holding(group?: string): Promise<Holding> {
    const [pods, services, secrets] = await Promise.all([
      this.list('pods', group),
      this.list('services', group),
      this.list('secrets', group),
    ])
    return { pods, services, secrets }
  }

  /** Of all groups only metadata: their specs may be longer together than an answer that is read. */
  async list(kind: Kind, group?: string): Promise<readonly Json[]> {
    const answer = await this.#client.json({
      method: 'GET',
      path: this.#client.path(kind),
      query: selectorOf(this.#installation, group),
      metadataOnly: kind === 'secrets' || group === undefined,
      doing: `list the ${kind}`,
    })
    return listAt(answer, 'items').filter((each) => isOwned(each, this.#installation, group))
  }

  /** Undefined when it does not exist. `refused` when the name belongs to somebody else. */
  async get(kind: Kind, names: Names, name: string): Promise<Json> {
    const path = this.#client.path(kind, name)
    const found = await unless(
      'NotFound',
      this.#client.json({ method: 'GET', path, doing: `look at '${name}'` }),
    )
    if (found === undefined || isOwned(found, names.installation, names.group)) return found
    throw new EngineError('refused', `'${name}' in the namespace is not this installation's`)
  }

  /** Undefined when the name is taken. */
  async create(kind: Kind, name: string, body: Json): Promise<Json> {
    const path = this.#client.path(kind)
    const doing = `create '${name}'`
    return await unless('AlreadyExists', this.#client.json({ method: 'POST', path, body, doing }))
  }

  async replace(kind: Kind, name: string, body: Json): Promise<void> {
    const path = this.#client.path(kind, name)
    await this.#client.json({ method: 'PUT', path, body, doing: `replace '${name}'` })
  }

  /** Deletes this very object, and never one created later under its name. */
  async delete(kind: Kind, found: Json, graceSeconds?: number): Promise<void> {
    const name = textAt(found, 'metadata', 'name')
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      preconditions: { uid: textAt(found, 'metadata', 'uid') },
      ...(graceSeconds === undefined ? {} : { gracePeriodSeconds: graceSeconds }),
    }
    const path = this.#client.path(kind, name)
    const call = { method: 'DELETE', path, body, doing: `delete '${name}'` } as const
    // A conflict means that another object has the name by now, so the intended one is gone.
    await unless('Conflict', unless('NotFound', this.#client.json(call)))
  }

  /** Deletes Pods and waits until they are gone; `busy` when the cluster takes longer. */
  async endPods(pods: readonly Json[], graceSeconds: number, waitSeconds: number): Promise<void> {
    await Promise.all(pods.map((pod) => this.delete('pods', pod, graceSeconds)))
    await Promise.all(pods.map((pod) => this.#gone(pod, graceSeconds + waitSeconds)))
  }

  async #gone(pod: Json, waitSeconds: number): Promise<void> {
    const path = this.#client.path('pods', textAt(pod, 'metadata', 'name'))
    let waitMs = waitMsMin
    for (let waitedMs = 0; waitedMs < waitSeconds * 1000; waitedMs += waitMs) {
      const call = { method: 'GET', path, doing: 'wait for the end of the pod' } as const
      const found = await unless('NotFound', this.#client.json(call))
      if (textAt(found, 'metadata', 'uid') !== textAt(pod, 'metadata', 'uid')) return
      await sleep(waitMs)
      waitMs = Math.min(waitMsMax, waitMs * 2)
    }
    const group = annotationOf(pod, 'group')
    throw new EngineError('busy', `the pod of '${group}' has not ended after ${waitSeconds} s`)
  }
}
