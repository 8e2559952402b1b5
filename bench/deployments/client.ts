/** A client that makes the same operations of an API by one deployment, or by one PUT after the other. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Access } from '../contestants/armature.ts'
import type { Place } from '../scenario.ts'
import {
  operationBody,
  operationsCount,
  operationsTemplate,
  operationVersion,
  serviceName,
} from './templates.ts'

export const group = 'bench'
const lookMilliseconds = 5
const patienceMilliseconds = 120_000

/** The body of a deployment that gives this API its operations. */
export function deploymentBody(api: string): object {
  return { properties: { mode: 'Incremental', template: operationsTemplate(api, 'Measured.') } }
}

export class DeploymentClient {
  readonly #origin: string
  readonly #access: Access
  readonly #group: string

  constructor({ origin }: Place, access: Access) {
    this.#origin = origin
    this.#access = access
    this.#group = `/subscriptions/${access.subscriptionId}/resourceGroups/${group}`
  }

  /** The group and the service that the APIs are in. */
  async putService(): Promise<void> {
    await this.#put(this.#group, '2021-04-01', { location: 'local' })
    await this.#put(this.#service(), operationVersion, {
      location: 'local',
      sku: { name: 'Developer', capacity: 1 },
      properties: { publisherEmail: 'bench@example.test', publisherName: 'Bench' },
    })
  }

  putApi(api: string): Promise<void> {
    const properties = { displayName: api, path: api, protocols: ['https'] }
    return this.#put(`${this.#service()}/apis/${api}`, operationVersion, { properties })
  }

  async putOneByOne(api: string): Promise<void> {
    for (let index = 0; index < operationsCount; index++) {
      const path = `${this.#service()}/apis/${api}/operations/operation-${index}`
      await this.#put(path, operationVersion, operationBody(index, 'Measured.'))
    }
  }

  /** Waits until it has ended. */
  async deploy(name: string, body: object): Promise<void> {
    await this.#put(this.#deployment(name), '2025-03-01', body)
    const latest = performance.now() + patienceMilliseconds
    for (;;) {
      const { text } = await this.#send('GET', this.#deployment(name), '2025-03-01')
      if (text.includes('"provisioningState":"Succeeded"')) return
      if (text.includes('"provisioningState":"Failed"') || performance.now() > latest) {
        throw new Error(`the deployment did not succeed: ${text.slice(0, 1000)}`)
      }
      await sleep(lookMilliseconds)
    }
  }

  /** The seconds of one action of a deployment. */
  async timed(method: string, name: string, action: string, body: object): Promise<number> {
    const from = performance.now()
    const path = `${this.#deployment(name)}${action}`
    const { status, text } = await this.#send(method, path, '2025-03-01', body)
    if (status !== 200) throw new Error(`${action} was answered ${status}: ${text.slice(0, 1000)}`)
    return (performance.now() - from) / 1000
  }

  #service(): string {
    return `${this.#group}/providers/Vendor.ApiManagement/service/${serviceName}`
  }

  #deployment(name: string): string {
    return `${this.#group}/providers/Vendor.Resources/deployments/${name}`
  }

  async #put(path: string, version: string, body: object): Promise<void> {
    const { status, text } = await this.#send('PUT', path, version, body)
    if (status !== 200 && status !== 201)
      throw new Error(`${path}: ${status} ${text.slice(0, 1000)}`)
  }

  /** Over connections that stay open, as with any client. */
  async #send(
    method: string,
    path: string,
    version: string,
    body?: object,
  ): Promise<{ readonly status: number; readonly text: string }> {
    const answer = await fetch(`${this.#origin}${path}?api-version=${version}`, {
      method,
      headers: { ...this.#access.headers, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: answer.status, text: await answer.text() }
  }
}
