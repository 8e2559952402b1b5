/**
 * Rounds of writing, hurting, recovering and checking. Choices come from the seed, but the timing of processes does
 * not, so the same seed may not meet the same moment twice.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { type Random, seededRandom } from '../fuzz/random.ts'
import { audit, isSettled } from './audit.ts'
import { createFixture, type SimulationFixture, type StoreKind } from './fixture.ts'
import { Ledger } from './ledger.ts'
import { absent, type GroupModel, going } from './model.ts'
import type { Replica } from './server-process.ts'
import { Writer } from './writer.ts'

interface SimulationOptions {
  readonly seed: number
  readonly store: StoreKind
  readonly roundsMax: number
  /** No round begins after this. */
  readonly secondsMax: number
  readonly writers: number
  readonly say: (line: string) => void
}

interface SimulationReport {
  readonly rounds: number
  readonly acknowledged: number
  readonly refused: number
  readonly doubtful: number
  readonly operations: number
}

/** A promise was broken. The message has what is needed to investigate it. */
export class BrokenPromise extends Error {}

const settleSecondsMax = 60
const problemsMax = 20

export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, store, say } = options
  const random = seededRandom(seed)
  const until = Date.now() + options.secondsMax * 1000
  await using fixture = await createFixture(store)
  const ledger = new Ledger()
  const problems: string[] = []
  const writers: Writer[] = []
  for (let number = 0; number < options.writers; number++) {
    writers.push(
      new Writer({
        number,
        random: seededRandom(random.below(2 ** 32)),
        replicas: fixture.replicas,
        subscriptionId: fixture.subscriptionId,
        ownerToken: fixture.ownerToken,
        reader: await fixture.createReader(`reader-${number}`),
        ledger,
        problem: (text) => problems.push(text),
      }),
    )
  }
  let rounds = 0
  let operations = 0
  while (rounds < options.roundsMax && Date.now() < until) {
    rounds++
    const hurt = await writeAndHurt(fixture, writers, random)
    const stage = `round ${rounds} (${hurt})`
    report(problems, stage, fixture, options)
    problems.push(...audit(await settledConnection(fixture), ledger))
    report(problems, `${stage}, as it lay`, fixture, options)
    await fixture.recover(random)
    await settle(fixture, problems)
    problems.push(...audit(await fixture.snapshot(), ledger))
    for (const writer of writers) operations += await check(fixture, writer, random, problems)
    problems.push(...faultsIn(fixture.replicas))
    report(problems, `${stage}, recovered`, fixture, options)
    say(
      `${store} ${stage}: ${ledger.count('acknowledged')} acknowledged, ` +
        `${ledger.count('refused')} refused, ${ledger.count('doubtful')} doubtful`,
    )
  }
  return {
    rounds,
    acknowledged: ledger.count('acknowledged'),
    refused: ledger.count('refused'),
    doubtful: ledger.count('doubtful'),
    operations,
  }
}

/** Writers go on while one replica is down, and for a moment when nothing answers. */
async function writeAndHurt(
  fixture: SimulationFixture,
  writers: readonly Writer[],
  random: Random,
): Promise<string> {
  let isOver = false
  const written = Promise.all(writers.map((writer) => writer.run(() => isOver)))
  await sleep(100 + random.below(700))
  const hurt = await fixture.hurt(random)
  const goesOn = fixture.replicas.some((replica) => replica.started !== undefined)
  await sleep(goesOn ? random.below(600) : random.below(30))
  isOver = true
  await written
  return hurt
}

/** The store's own recovery may take a moment. */
async function settledConnection(
  fixture: SimulationFixture,
): Promise<Awaited<ReturnType<SimulationFixture['snapshot']>>> {
  for (let tries = 0; ; tries++) {
    try {
      return await fixture.snapshot()
    } catch (error) {
      if (tries === 100) throw error
      await sleep(50)
    }
  }
}

/** Every running operation ends by itself. */
async function settle(fixture: SimulationFixture, problems: string[]): Promise<void> {
  const until = Date.now() + settleSecondsMax * 1000
  for (;;) {
    const snapshot = await fixture.snapshot()
    if (isSettled(snapshot)) return
    if (Date.now() > until) {
      const running = snapshot.operations.filter((one) => one.running === 1)
      problems.push(`not settled: ${JSON.stringify(running)} work: ${[...snapshot.work].join(' ')}`)
      return
    }
    await sleep(50)
  }
}

/** Every path of a writer has one of its possible values, and all replicas agree. */
async function check(
  fixture: SimulationFixture,
  writer: Writer,
  random: Random,
  problems: string[],
): Promise<number> {
  for (const group of writer.groups) {
    for (const path of [group.path, ...group.assignments]) {
      const found = new Set<string>()
      for (const replica of fixture.replicas) {
        found.add((await writer.read(path, replica)) ?? 'nothing')
      }
      const [value = 'nothing', ...others] = found
      const possible = [...group.possible(path)].filter((one) => one !== going)
      if (others.length > 0) problems.push(`${path}: replicas differ: ${[...found].join(', ')}`)
      if (!possible.includes(value)) {
        problems.push(`${path} holds ${value}; possible: ${possible.join(', ')}`)
      }
      if (path === group.path && value === absent) group.groupGone()
      else group.settle(path, value)
    }
    group.isUnknown = false
    await checkGrants(fixture, writer, group, problems)
  }
  await checkList(writer, random, problems, fixture)
  return checkOperations(fixture, writer, problems)
}

async function checkGrants(
  fixture: SimulationFixture,
  writer: Writer,
  group: GroupModel,
  problems: string[],
): Promise<void> {
  for (const replica of fixture.replicas) {
    const allowed = await writer.isGranted(group, replica)
    if (allowed === group.grants) continue
    problems.push(
      `${group.path}: ${replica.name} ${allowed ? 'lets in' : 'refuses'} the reader, against its assignments`,
    )
  }
}

/** The list of a group's assignments, page by page, equals the single reads. */
async function checkList(
  writer: Writer,
  random: Random,
  problems: string[],
  fixture: SimulationFixture,
): Promise<void> {
  for (const group of writer.groups) {
    if (group.may(group.path, absent)) continue
    const expected = group.assignments.filter((path) => !group.may(path, absent))
    const names = await pages(
      fixture,
      `${group.path}/providers/Vendor.Authorization/roleAssignments?api-version=2022-04-01&$top=${1 + random.below(3)}`,
    )
    const inside = names.filter((id) => id.toLowerCase().startsWith(`${group.path}/`.toLowerCase()))
    const lower = (paths: readonly string[]): string =>
      paths
        .map((path) => path.toLowerCase())
        .sort()
        .join('\n')
    if (lower(inside) !== lower(expected)) {
      problems.push(
        `${group.path} lists\n${lower(inside)}\nand single reads found\n${lower(expected)}`,
      )
    }
  }
}

async function pages(fixture: SimulationFixture, first: string): Promise<readonly string[]> {
  const ids: string[] = []
  let next: string | undefined = first
  for (let count = 0; next !== undefined && count < 100; count++) {
    const { value, nextLink } = await ask(fixture, next)
    ids.push(...value.map(({ id }) => id))
    next = nextLink === undefined ? undefined : pathOf(nextLink)
  }
  return ids
}

function pathOf(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}

/** All started operations have succeeded. */
async function checkOperations(
  fixture: SimulationFixture,
  writer: Writer,
  problems: string[],
): Promise<number> {
  const operations = writer.operations.splice(0)
  for (const path of operations) {
    const { status } = await ask(fixture, path)
    if (status !== 'Succeeded') problems.push(`${path} is ${status}`)
  }
  return operations.length
}

/** The shapes of the answers asked for: a page, or an operation's status. */
interface Asked {
  readonly value: readonly { readonly id: string }[]
  readonly nextLink?: string
  readonly status: string
}

async function ask(fixture: SimulationFixture, path: string): Promise<Asked> {
  const [replica] = fixture.replicas
  const response = await fetch(`${replica?.started?.url}${path}`, {
    headers: { authorization: `Bearer ${fixture.ownerToken}` },
  })
  const text = await response.text()
  if (!response.ok) throw new BrokenPromise(`GET ${path} answered ${response.status} ${text}`)
  return JSON.parse(text) as Asked
}

/** A fault of ours in a log is a failure even if every answer was right. */
function faultsIn(replicas: readonly Replica[]): readonly string[] {
  return replicas.flatMap(({ name, words }) =>
    words
      .split('\n')
      .filter((line) => line.includes('"level":50') && !line.includes('StoreUnavailable'))
      .map((line) => `${name} logged ${line.slice(0, 1500)}`),
  )
}

function report(
  problems: readonly string[],
  stage: string,
  fixture: SimulationFixture,
  { seed, store, writers, roundsMax }: SimulationOptions,
): void {
  if (problems.length === 0) return
  fixture.keep()
  const words = fixture.replicas.map(({ name, words }) => `${name} said:\n${words.slice(-4000)}`)
  throw new BrokenPromise(
    [
      `Promises were broken in ${stage}:`,
      ...problems.slice(0, problemsMax).map((problem) => `- ${problem}`),
      ...(problems.length > problemsMax ? [`… and ${problems.length - problemsMax} more`] : []),
      `To repeat: npm run simulate -- --seed ${seed} --store ${store} --writers ${writers} --rounds ${roundsMax}`,
      `What was left is in ${fixture.folder}`,
      ...words,
    ].join('\n'),
  )
}
