/**
 * An installation inside a test's own process, with its state, its time and its failures in the test's hand. Everything is in
 * memory but for a folder of temporary files, which goes with it.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '#client/client.ts'
import { applySeed, readSeed, type Seed } from '#client/seed.ts'
import type { makeSigningPair } from '#identity/signing-pair.ts'
import { readConfig } from '../config.ts'
import { parseDuration } from '../control/duration.ts'
import type { FaultRule, KeptRule, Scenario } from '../control/faults.ts'
import { initialState } from '../control/states.ts'
import type { Settings } from '../index.ts'
import { start as startServer } from '../main.ts'
import { fixedIds } from './fixed-ids.ts'

export type { FaultRule, KeptRule, Scenario, Seed }

export interface TestOptions {
  /** What is there at the beginning and after each reset: data, or a file of YAML or JSON. */
  readonly seed?: Seed | string
  /** `fixed`: ids come out the same in every run. Default: `random`. */
  readonly ids?: 'fixed' | 'random'
  /** `manual`: time can be moved. It passes as on the machine until it is. Default: `system`. */
  readonly clock?: 'manual' | 'system'
  /** Further settings by their name in `armature.config.json`. Default: containers are simulated. */
  readonly settings?: Settings
}

/** A state that was kept. */
export interface Snapshot {
  readonly name: string
}

export interface TestInstallation extends AsyncDisposable {
  readonly url: string
  /** The owner's; a good one after each call of this object. */
  readonly token: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  /** Acts as the owner. */
  readonly client: Client
  /** The object id of a principal or group of the seed. */
  idOf(name: string): string
  /** A token as if the principal had signed in: by its object id, or its name in the seed. */
  tokenOf(principal: string): Promise<string>
  /** The state after the start, seed included; rules of failure end. */
  reset(): Promise<void>
  snapshot(): Promise<Snapshot>
  restore(snapshot: Snapshot): Promise<void>
  /** Lets time pass, with all that comes due on the way: `2h`, `1d12h`, `PT30M`. */
  advance(span: string): Promise<void>
  /** The installation's time, in milliseconds since 1970. */
  now(): number
  /** How fast time passes: 0 stops it. */
  setRate(rate: number): Promise<void>
  /** Adds a rule of failure; ends it when called. */
  fail(rule: FaultRule): () => void
  /** Adds the rules of a named scenario; ends them when called. */
  play(scenario: Scenario): () => void
  /** The rules there are, each with what it met. */
  failures(): readonly KeptRule[]
  close(): Promise<void>
}

/** Starts an installation whose first signing key has this pair. */
export async function open(
  options: TestOptions,
  firstPair: typeof makeSigningPair,
): Promise<TestInstallation> {
  await using opened = new AsyncDisposableStack()
  const home = mkdtempSync(join(tmpdir(), 'armature-test-'))
  opened.defer(() => rmSync(home, { recursive: true, force: true }))
  const read = readConfig({
    environment: {},
    settings: {
      port: 0,
      store: 'memory',
      containers: 'simulated',
      logLevel: 'error',
      throttle: false,
      control: 'local',
      clock: options.clock ?? 'system',
      ...options.settings,
      home,
    },
  })
  // The requests are the test's own: what it did not wait for, it does not need.
  const config = { ...read, limits: { ...read.limits, drainSeconds: 0 } }
  const server = opened.use(
    await startServer(config, {
      ...(options.ids === 'fixed' ? { idsFor: fixedIds } : {}),
      firstPair,
    }),
  )
  const { url, tenantId, subscriptionId, principalId, inside } = server
  const issue = async (id: string): Promise<string> => (await inside.issueToken(id)).token
  let token = await issue(principalId)
  const renew = async (): Promise<void> => {
    token = await issue(principalId)
  }
  const client = createClient({
    url,
    token: async () => issue(principalId),
    wait: { firstPollSeconds: 0.02 },
  })
  const seed =
    typeof options.seed === 'string'
      ? readSeed((await import('yaml')).parse(readFileSync(options.seed, 'utf8')), options.seed)
      : options.seed
  const ids =
    seed === undefined
      ? new Map<string, string>()
      : await applySeed(client, seed, { subscriptionId, words: config.words })
  if (seed !== undefined) await inside.states.save(initialState)
  const clock = () => {
    if (inside.clock !== undefined) return inside.clock
    throw new Error("the clock is the machine's: start with { clock: 'manual' } to move it")
  }
  const faults = () => {
    if (inside.faults !== undefined) return inside.faults
    throw new Error("nothing fails on purpose where the setting 'control' is 'off'")
  }
  const ending = (ids: readonly string[]) => (): void => {
    const there = faults()
      .list()
      .map(({ id }) => id)
    for (const id of ids) if (there.includes(id)) faults().clear(id)
  }
  let snapshots = 0
  const running = opened.move()
  const close = (): Promise<void> => running.disposeAsync()
  const restore = async (name: string): Promise<void> => {
    await inside.states.restore(name)
    await renew()
  }
  return {
    url,
    get token() {
      return token
    },
    tenantId,
    subscriptionId,
    principalId,
    client,
    idOf(name) {
      const id = ids.get(name)
      if (id === undefined) throw new Error(`'${name}' is no principal of the seed`)
      return id
    },
    tokenOf: (principal) => issue(ids.get(principal) ?? principal),
    async reset() {
      inside.faults?.clear()
      await restore(initialState)
    },
    async snapshot() {
      const name = `snapshot-${++snapshots}`
      await inside.states.save(name)
      return { name }
    },
    restore: ({ name }) => restore(name),
    async advance(span) {
      const milliseconds = parseDuration(span)
      if (milliseconds === undefined) throw new Error(`'${span}' is no span of time such as 2h`)
      await clock().advance(milliseconds)
      await renew()
    },
    now: () => inside.now(),
    async setRate(rate) {
      clock().setRate(rate)
      await renew()
    },
    fail: (rule) => ending([faults().add(rule)]),
    play: (scenario) => ending(faults().play(scenario)),
    failures: () => faults().list(),
    close,
    [Symbol.asyncDispose]: close,
  }
}
