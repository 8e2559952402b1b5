/**
 * An installation inside a test's own process. The test controls its state, time and faults. Everything is in
 * memory except a folder of temporary files, which is removed with it.
 */

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createClient } from '#client/client.ts'
import { applySeed, readSeed, type Seed } from '#client/seed.ts'
import type { makeSigningPair } from '#identity/signing-pair.ts'
import { isUuid } from '#kernel/uuid.ts'
import { httpFetch } from '../cli/http-fetch.ts'
import { type Config, readConfig } from '../config.ts'
import { parseDuration } from '../control/duration.ts'
import type { FaultRule, FaultRuleStatus, Scenario } from '../control/faults.ts'
import { initialState } from '../control/snapshots.ts'
import type { Settings } from '../index.ts'
import { readFaultRule } from '../main/fault-rule.ts'
import { fixedIds } from '../main/fixed-ids.ts'
import { start as startServer } from '../main.ts'

export type { FaultRule, FaultRuleStatus, Scenario, Seed }

export interface TestOptions {
  /** The data at the start and after each reset: an object, or a file of YAML or JSON. */
  readonly seed?: Seed | string
  /** `fixed`: ids are the same in every run. Default: `random`. */
  readonly ids?: 'fixed' | 'random'
  /** `manual`: time can be moved; until then it passes as on the machine. Default: `system`. */
  readonly clock?: 'manual' | 'system'
  /** Further settings by their name in `armature.config.json`. By default containers are simulated. */
  readonly settings?: Settings
}

/** A saved state. */
export interface Snapshot {
  readonly name: string
}

export interface TestInstallation extends AsyncDisposable {
  readonly url: string
  /** A token of the owner. It is valid after each call of this object. */
  readonly token: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  /** A client that acts as the owner. */
  readonly client: Client
  /** The object id of a principal or group of the seed. */
  idOf(name: string): string
  /** A token as if the principal had signed in. Takes its object id, or its name in the seed. */
  tokenOf(principal: string): Promise<string>
  /** Restores the state after the start, seed included, and removes fault rules. */
  reset(): Promise<void>
  snapshot(): Promise<Snapshot>
  restore(snapshot: Snapshot): Promise<void>
  /** Advances the clock, and runs what comes due on the way: `2h`, `1d12h`, `PT30M`. */
  advance(span: string): Promise<void>
  /** The installation's time, in milliseconds since 1970. */
  now(): number
  /** Sets how fast time passes: 0 stops it. */
  setRate(rate: number): Promise<void>
  /** Adds a fault rule. The returned function removes it. */
  fail(rule: FaultRule): () => void
  /** Adds the rules of a named scenario. The returned function removes them. */
  play(scenario: Scenario): () => void
  /** The current fault rules, each with what it was applied to. */
  failures(): readonly FaultRuleStatus[]
  close(): Promise<void>
}

function configOf({ clock = 'system', settings }: TestOptions, home: string): Config {
  const read = readConfig({
    environment: {},
    settings: {
      port: 0,
      store: 'memory',
      containers: 'simulated',
      logLevel: 'error',
      throttle: false,
      control: 'local',
      clock,
      ...settings,
      home,
    },
  })
  // The requests belong to the test, which does not need those it did not wait for.
  return { ...read, limits: { ...read.limits, drainSeconds: 0 } }
}

/** Starts an installation whose first signing key uses this pair. */
export async function open(
  options: TestOptions,
  firstPair: typeof makeSigningPair,
): Promise<TestInstallation> {
  checkOptions(options)
  await using opened = new AsyncDisposableStack()
  const home = mkdtempSync(join(tmpdir(), 'armature-test-'))
  opened.defer(() => rmSync(home, { recursive: true, force: true }))
  const config = configOf(options, home)
  const server = opened.use(
    await startServer(config, {
      ...(options.ids === 'fixed' ? { idsFor: fixedIds } : {}),
      firstPair,
    }),
  )
  const { url, tenantId, subscriptionId, principalId, inside } = server
  let isClosed = false
  const issue = async (id: string): Promise<string> => {
    if (isClosed) throw new Error('the installation is closed')
    return (await inside.issueToken(id)).token
  }
  let token = await issue(principalId)
  const renew = async (): Promise<void> => {
    token = await issue(principalId)
  }
  const client = createClient({
    url,
    token: async () => issue(principalId),
    // Loading the built-in `fetch` would take a tenth of a start.
    fetch: httpFetch,
    wait: { firstPollSeconds: 0.02 },
  })
  const seed =
    typeof options.seed === 'string'
      ? readSeed((await import('yaml')).parse(readFileSync(options.seed, 'utf8')), options.seed)
      : options.seed && readSeed(options.seed, 'the seed')
  const ids =
    seed === undefined
      ? new Map<string, string>()
      : await applySeed(client, seed, { tenantId, subscriptionId, words: config.words })
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
  const close = (): Promise<void> => {
    isClosed = true
    return running.disposeAsync()
  }
  const idOf = (name: string): string => {
    const id = ids.get(name)
    if (id === undefined) throw new Error(`'${name}' is no principal of the seed`)
    return id
  }
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
    idOf,
    tokenOf: async (principal) => issue(isUuid(principal) ? principal : idOf(principal)),
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
    fail: (rule) => ending([faults().add(readFaultRule(rule))]),
    play: (scenario) => ending(faults().play(scenario)),
    failures: () => faults().list(),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Those who write JavaScript have no compiler that finds a mistyped word. */
function checkOptions(options: TestOptions): void {
  const unknown = Object.keys(options).find((name) => !optionNames.some((one) => one === name))
  if (unknown !== undefined) {
    throw new Error(`'${unknown}' is none of the options ${optionNames.join(', ')}`)
  }
  if (!['fixed', 'random', undefined].includes(options.ids)) {
    throw new Error(`ids are 'fixed' or 'random', not '${options.ids}'`)
  }
}

const optionNames: readonly (keyof TestOptions)[] = ['seed', 'ids', 'clock', 'settings']
