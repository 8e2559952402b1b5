/**
 * `armature-plane/testcontainers`: the image as a module of Testcontainers, for tests that want a server beside them. Its state,
 * its time and its failures are in the test's hand by the operations below `/_armature/`.
 */

import { readFileSync } from 'node:fs'
import {
  AbstractStartedContainer,
  GenericContainer,
  type StartedTestContainer,
  Wait,
} from 'testcontainers'
import { textOf } from '#client/answer.ts'
import { type Client, createClient } from '#client/client.ts'
import { clientCredentialsToken } from '#client/oauth.ts'
import { applySeed, readSeed, type Seed } from '#client/seed.ts'
import { systemTiming } from '#client/timing.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { FaultRule } from '../control/faults.ts'

const port = 8080
const settings = {
  ARMATURE_CONTROL: 'anywhere',
  ARMATURE_CLOCK: 'manual',
  ARMATURE_THROTTLE: 'false',
}
/** The image has no shell. */
const readHome = `const { readFileSync } = require('node:fs')
  const read = (name) => JSON.parse(readFileSync('/data/' + name))
  console.log(JSON.stringify({ ...read('running.json'), ...read('owner.json') }))`
/** The name of the state that `reset` restores. */
const seeded = 'seeded'
/** A token is replaced when fewer seconds than this are left. */
const marginSeconds = 60

interface Home {
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly clientId: string
  readonly clientSecret: string
  readonly words: VendorWords
}

/** A saved state. */
export interface ContainerSnapshot {
  readonly name: string
}

/** `image` is the one that `npm run image` makes. Settings are given by `withEnvironment`. */
export class ArmatureContainer extends GenericContainer {
  #seed: Seed | undefined

  constructor(image: string) {
    super(image)
    this.withExposedPorts(port)
      .withEnvironment(settings)
      .withWaitStrategy(Wait.forHttp('/readyz', port))
  }

  /** The data at the start and after each reset: an object, or a file of JSON. */
  withSeed(seed: Seed | string): this {
    this.#seed =
      typeof seed === 'string'
        ? readSeed(JSON.parse(readFileSync(seed, 'utf8')), seed)
        : readSeed(seed, 'the seed')
    return this
  }

  override async start(): Promise<StartedArmatureContainer> {
    const started = await super.start()
    const { stdout } = await started.exec(['node', '-e', readHome])
    const container = new StartedArmatureContainer(started, JSON.parse(stdout))
    await container.begin(this.#seed)
    return container
  }
}

export class StartedArmatureContainer extends AbstractStartedContainer {
  readonly url: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  /** A client that acts as the owner. */
  readonly client: Client
  readonly #home: Home
  #token = ''
  #renewAt = 0
  #ids: ReadonlyMap<string, string> = new Map()
  #snapshots = 0

  constructor(started: StartedTestContainer, home: Home) {
    super(started)
    this.url = `http://${started.getHost()}:${started.getMappedPort(port)}`
    this.tenantId = home.tenantId
    this.subscriptionId = home.subscriptionId
    this.principalId = home.principalId
    this.#home = home
    this.client = createClient({
      url: this.url,
      token: async () => this.#good(),
      wait: { firstPollSeconds: 0.02 },
    })
  }

  /** A token of the owner. It is valid after each call of this object. */
  get token(): string {
    return this.#token
  }

  /** The object id of a principal or group of the seed. */
  idOf(name: string): string {
    const id = this.#ids.get(name)
    if (id === undefined) throw new Error(`the seed names no '${name}'`)
    return id
  }

  /** Called once by the code that starts the container. */
  async begin(seed: Seed | undefined): Promise<void> {
    await this.#good()
    const { tenantId, subscriptionId, words } = this.#home
    if (seed !== undefined) {
      this.#ids = await applySeed(this.client, seed, { tenantId, subscriptionId, words })
    }
    await this.#control('PUT', `snapshots/${seeded}`)
  }

  /** Restores the state after the start, seed included, and removes fault rules. */
  async reset(): Promise<void> {
    await this.#control('DELETE', 'faults')
    await this.restore({ name: seeded })
  }

  async snapshot(): Promise<ContainerSnapshot> {
    const name = `snapshot-${++this.#snapshots}`
    await this.#control('PUT', `snapshots/${name}`)
    return { name }
  }

  async restore({ name }: ContainerSnapshot): Promise<void> {
    await this.#control('POST', `snapshots/${name}/restore`)
    await this.#renew()
  }

  /** Advances the clock, and runs what comes due on the way: `2h`, `1d12h`, `PT30M`. */
  async advance(span: string): Promise<void> {
    await this.#control('POST', 'clock/advance', { by: span })
    await this.#renew()
  }

  /** Sets how fast time passes: 0 stops it. */
  async setRate(rate: number): Promise<void> {
    await this.#control('PATCH', 'clock', { rate })
    await this.#renew()
  }

  /** Adds a fault rule. The returned function removes it. */
  async fail(rule: FaultRule): Promise<() => Promise<void>> {
    const id = textOf(await this.#control('POST', 'faults', rule), 'id') ?? ''
    return async () => {
      await this.#control('DELETE', `faults/${id}`)
    }
  }

  async #control(method: string, path: string, body?: object): Promise<unknown> {
    const given = body === undefined ? {} : { body }
    return (await this.client.request(method, `/_armature/${path}`, given)).body
  }

  async #good(): Promise<string> {
    if (systemTiming.now() >= this.#renewAt) await this.#renew()
    return this.#token
  }

  async #renew(): Promise<void> {
    const { clientId, clientSecret } = this.#home
    const { accessToken, expiresInSeconds } = await clientCredentialsToken({
      url: this.url,
      clientId,
      clientSecret,
    })
    this.#token = accessToken
    this.#renewAt = systemTiming.now() + (expiresInSeconds - marginSeconds) * 1000
  }
}
