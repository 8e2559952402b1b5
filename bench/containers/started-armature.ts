/** A started Armature as a client of container groups sees it: PUT, wait, DELETE. Nothing of its internals. */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Access, commandOf, waitForAccess } from '../contestants/armature.ts'
import { Child } from '../harness/child.ts'
import type { Place } from '../scenario.ts'

const apiVersion = '2025-09-01'
const waitSecondsMax = 120

/** The part of a group that is read here. */
interface ShownGroup {
  readonly name: string
  readonly properties: {
    readonly provisioningState: string
    readonly instanceView?: { readonly state?: string; readonly events?: unknown }
  }
}

export class StartedArmature implements AsyncDisposable {
  readonly child: Child
  readonly #origin: string
  readonly #access: Access

  private constructor(child: Child, origin: string, access: Access) {
    this.child = child
    this.#origin = origin
    this.#access = access
  }

  /** `on` is where the server runs; `environment` holds its settings for containers. */
  static async start(
    place: Place,
    on: (command: readonly string[]) => readonly string[],
    environment: Readonly<Record<string, string>>,
  ): Promise<StartedArmature> {
    const given = commandOf(place)
    const child = new Child({
      ...given,
      command: on(given.command),
      environment: { ...given.environment, ...environment },
    })
    try {
      return new StartedArmature(child, place.origin, await waitForAccess(place, child))
    } catch (error) {
      await child.stop()
      throw error
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.child.stop()
  }

  async put(name: string, body: unknown): Promise<void> {
    const answer = await this.#send('PUT', this.#path(name), JSON.stringify(body))
    const text = await answer.text()
    if (answer.status !== 201) throw new Error(`${name} was not created: ${answer.status} ${text}`)
  }

  /** Polls until the group runs. */
  async running(name: string, lookMilliseconds: number): Promise<void> {
    await this.#look(name, lookMilliseconds, async (answer) => {
      // The server's own answer to a GET of a group.
      const { properties } = (await answer.json()) as ShownGroup
      if (['Failed', 'Canceled'].includes(properties.provisioningState)) {
        throw new Error(`${name} failed: ${JSON.stringify(properties.instanceView)}`)
      }
      return (
        properties.provisioningState === 'Succeeded' && properties.instanceView?.state === 'Running'
      )
    })
  }

  /** Deletes the groups, and waits until they are gone. */
  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) await (await this.#send('DELETE', this.#path(name))).arrayBuffer()
    for (const name of names) {
      await this.#look(name, 100, async (answer) => {
        await answer.arrayBuffer()
        return answer.status === 404
      })
    }
  }

  /** The number of groups by state. */
  async states(): Promise<ReadonlyMap<string, number>> {
    const counts = new Map<string, number>()
    let url: string | undefined = `${this.#origin}${this.#path()}`
    while (url !== undefined) {
      const answer: Response = await this.#fetch(url)
      if (answer.status !== 200) throw new Error(`no list: ${answer.status}`)
      // The server's own page of a list.
      const page = (await answer.json()) as { value: ShownGroup[]; nextLink?: string }
      for (const { properties } of page.value) {
        const state = properties.provisioningState
        counts.set(state, (counts.get(state) ?? 0) + 1)
      }
      url = page.nextLink
    }
    return counts
  }

  /** Reads the whole log of a container, keeps none of it, and returns its length. */
  async readLog(group: string, container: string): Promise<number> {
    const answer = await this.#send('GET', this.#path(group, `/containers/${container}/logs`))
    if (answer.status !== 200) throw new Error(`no log: ${answer.status} ${await answer.text()}`)
    let bytes = 0
    for await (const piece of answer.body ?? []) bytes += piece.byteLength
    return bytes
  }

  async #look(
    name: string,
    lookMilliseconds: number,
    done: (answer: Response) => Promise<boolean>,
  ): Promise<void> {
    const latest = performance.now() + waitSecondsMax * 1000
    while (performance.now() < latest) {
      this.child.assertRunning()
      if (await done(await this.#send('GET', this.#path(name)))) return
      await sleep(lookMilliseconds)
    }
    throw new Error(`${name} was not there in ${waitSecondsMax} s`)
  }

  #path(name?: string, below = ''): string {
    const groups =
      `/subscriptions/${this.#access.subscriptionId}/resourceGroups/bench` +
      `/providers/Vendor.ContainerInstance/containerGroups`
    const path = name === undefined ? groups : `${groups}/${name}${below}`
    return `${path}?api-version=${apiVersion}`
  }

  #send(method: string, path: string, body?: string): Promise<Response> {
    return this.#fetch(`${this.#origin}${path}`, method, body)
  }

  #fetch(url: string, method = 'GET', body?: string): Promise<Response> {
    return fetch(url, {
      method,
      headers: { ...this.#access.headers, 'content-type': 'application/json' },
      signal: AbortSignal.timeout(waitSecondsMax * 1000),
      ...(body === undefined ? {} : { body }),
    })
  }
}
