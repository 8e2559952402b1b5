/**
 * The server is killed while container groups are created, updated and deleted, at various moments. The next start
 * must bring each group to the answered state, and leave nothing else in the engine.
 */

import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { DockerClient, type DockerTarget } from '#engines/containers/docker/client.ts'
import { type Json, listAt, textAt } from '#engines/containers/json.ts'
import { startPodman, testImage } from '#engines/containers/testing/podman.ts'
import {
  type Answer,
  freshHome,
  type Installation,
  startInstallation,
} from '../e2e/installation.ts'
import { type Random, seededRandom } from '../fuzz/random.ts'
import { isLong, someOf } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { snapshotOfSqlite } from './snapshot.ts'

/** The content of an engine, read without the server. */
interface Held {
  /** `<group of the engine> <part> <argument of its command>`, sorted. A sandbox has neither part nor command. */
  readonly containers: readonly string[]
  /** The group of the engine that each belongs to. */
  readonly volumes: readonly string[]
  readonly networks: readonly string[]
}

interface Fixture {
  readonly environment: Readonly<Record<string, string>>
  readonly image: string
  /** Milliseconds between the answers and the kill. Up to a third is added at random. */
  readonly moments: readonly number[]
  /** The longest time between creation and deletion of a group, in milliseconds. */
  readonly headStartMax: number
  /** An engine may need one of its own beside the two of each group. */
  readonly volumesOfGroup: number
  look(home: string): Promise<Held>
}

/** The command of a part names its group and version, and ends as soon as it is asked to. */
const marked = (mark: string): readonly string[] => [
  'sh',
  '-c',
  `trap 'exit 0' TERM; : mark=${mark}; sleep 1000 & wait`,
]
const markIn = (text: string): string => /mark=(\S+);/.exec(text)?.[1] ?? ''

function body(image: string, mark: string): object {
  const requests = { cpu: 0.1, memoryInGB: 0.1 }
  const main = (name: string) => ({
    name,
    properties: {
      image,
      command: marked(mark),
      resources: { requests },
      volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
    },
  })
  // A simulated container needs to be told how long it runs.
  const init = {
    name: 'init',
    properties: {
      image,
      command: ['sh', '-c', `: mark=${mark}; true`],
      environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'exit:0@0.2s' }],
    },
  }
  return {
    location: 'here',
    properties: {
      osType: 'Linux',
      initContainers: [init],
      containers: [main('web'), main('sidecar')],
      volumes: [
        { name: 'shared', emptyDir: {} },
        { name: 'files', secret: { key: Buffer.from('file').toString('base64') } },
      ],
    },
  }
}

const version = 'api-version=2025-09-01'
const looksMax = 1200
const lookMs = 50

class Groups {
  readonly #subscription: string
  readonly #image: string

  constructor(installation: Installation, image: string) {
    this.#subscription = installation.subscriptionId
    this.#image = image
  }

  path(name: string): string {
    const group = `/subscriptions/${this.#subscription}/resourceGroups/rg`
    return `${group}/providers/Vendor.ContainerInstance/containerGroups/${name}?${version}`
  }

  put(on: Installation, name: string, mark: string): Promise<Answer> {
    return on.request('PUT', this.path(name), { body: body(this.#image, mark) })
  }

  delete(on: Installation, name: string): Promise<Answer> {
    return on.request('DELETE', this.path(name))
  }
}

/** The operation of an answer has succeeded. Another server than the one that answered may be asked. */
async function succeeded(on: Installation, accepted: Answer): Promise<void> {
  const status = accepted.headers.get('vendor-asyncoperation')
  assert.ok(status, `${accepted.status} without an operation: ${accepted.text}`)
  const { pathname, search } = new URL(status)
  for (let looks = 0; ; looks++) {
    const answer = await on.request('GET', pathname + search)
    assert.equal(answer.status, 200, answer.text)
    const found = answer.at('status')
    if (found === 'Succeeded') return
    assert.ok(found !== 'Failed' && found !== 'Canceled', answer.text)
    assert.ok(looks < looksMax, `it never ended: ${answer.text}`)
    await sleep(lookMs)
  }
}

/** 200 and 204 mean that the group is gone, 202 leads to an operation. */
async function removed(on: Installation, answer: Answer): Promise<void> {
  if (answer.status === 202) await succeeded(on, answer)
  else assert.ok([200, 204].includes(answer.status), answer.text)
}

/** Undefined if the server was killed before it answered. */
function unlessKilled(asked: Promise<Answer>): Promise<Answer | undefined> {
  return asked.catch(() => undefined)
}

/** Every expected group runs in its last version. The others are not found. */
async function assertShown(
  on: Installation,
  groups: Groups,
  wanted: ReadonlyMap<string, string | undefined>,
): Promise<void> {
  for (const [name, mark] of wanted) {
    const shown = await on.request('GET', groups.path(name))
    if (mark === undefined) {
      assert.equal(shown.status, 404, `${name} is there: ${shown.text}`)
      continue
    }
    assert.equal(shown.status, 200, shown.text)
    assert.equal(shown.at('properties.provisioningState'), 'Succeeded', shown.text)
    assert.equal(shown.at('properties.instanceView.state'), 'Running', shown.text)
    for (const index of [0, 1]) {
      const part = `properties.containers.${index}.properties`
      assert.equal(markIn(String(shown.at(`${part}.command.2`))), mark, shown.text)
      assert.equal(shown.at(`${part}.instanceView.currentState.state`), 'Running', shown.text)
    }
  }
}

/** The engine has the containers and volumes of the existing groups, in their last version, once. */
function assertHeld(
  held: Held,
  wanted: ReadonlyMap<string, string | undefined>,
  perGroup: number,
): void {
  const marks = [...wanted.values()].filter((mark) => mark !== undefined)
  const tokenOf = new Map(
    held.containers.flatMap((line) => {
      const [token = '', part, mark = ''] = line.split(' ')
      return part === 'web' ? [[mark, token] as const] : []
    }),
  )
  const tokens = marks.map((mark) => tokenOf.get(mark) ?? `nothing of ${mark}`)
  assert.deepEqual(
    held.containers,
    marks
      .flatMap((mark, at) => [
        `${tokens[at]}  `,
        ...['init', 'web', 'sidecar'].map((part) => `${tokens[at]} ${part} ${mark}`),
      ])
      .sort(),
  )
  const volumes = tokens.flatMap((token) => Array.from({ length: perGroup }, () => token))
  assert.deepEqual(held.volumes, volumes.sort())
  assert.deepEqual(held.networks, [], 'networks were made')
}

/**
 * In each round one group is created, the previous one updated and the one before that deleted, and another is
 * created and deleted at once. Then the server is killed.
 */
async function killed(t: TestContext, fixture: Fixture, random: Random): Promise<void> {
  const home = freshHome()
  const start = () => startInstallation({ home, environment: fixture.environment })
  const wanted = new Map<string, string | undefined>()
  let running = await start()
  try {
    const groups = new Groups(running, fixture.image)
    const first = ['g0', 'g1'].map((name) => {
      wanted.set(name, `${name}-1`)
      return groups.put(running, name, `${name}-1`)
    })
    for (const answer of await Promise.all(first)) await succeeded(running, answer)
    assertHeld(await fixture.look(home), wanted, fixture.volumesOfGroup)
    const interrupted: number[] = []
    for (const [round, moment] of fixture.moments.entries()) {
      const [gone, changed, made] = [`g${round}`, `g${round + 1}`, `g${round + 2}`]
      wanted.set(made, `${made}-1`).set(changed, `${changed}-2`).set(gone, undefined)
      const on = running
      const fleeting = `f${round}`
      wanted.set(fleeting, undefined)
      const puts = [
        groups.put(on, made, `${made}-1`),
        groups.put(on, changed, `${changed}-2`),
        groups.put(on, fleeting, `${fleeting}-1`),
      ]
      // A deletion is answered when the group is gone, so most are unanswered at the kill.
      const deletions = [unlessKilled(groups.delete(on, gone))]
      const answers = await Promise.all(puts)
      // Its containers may still be starting when they are no longer wanted.
      await sleep(random.below(1 + fixture.headStartMax))
      deletions.push(unlessKilled(groups.delete(on, fleeting)))
      await sleep(moment + random.below(1 + moment / 3))
      await running.kill()
      await running[Symbol.asyncDispose]()
      const { operations } = snapshotOfSqlite(join(home, 'armature.db'))
      interrupted.push(operations.filter((one) => one.running === 1).length)
      running = await start()
      for (const answer of answers.slice(0, 2)) await succeeded(running, answer)
      for (const [at, name] of [gone, fleeting].entries()) {
        // Without an answer nothing was promised, so the caller asks again.
        await removed(running, (await deletions[at]) ?? (await groups.delete(running, name)))
      }
      await assertShown(running, groups, wanted)
      assertHeld(await fixture.look(home), wanted, fixture.volumesOfGroup)
    }
    t.diagnostic(`operations under way at each kill: ${interrupted.join(', ')}`)
    assert.ok(
      interrupted.some((count) => count > 0),
      'no kill came while anything was under way',
    )
    const left = [...wanted].filter(([, mark]) => mark !== undefined).map(([name]) => name)
    const deleted = await Promise.all(left.map((name) => groups.delete(running, name)))
    for (const answer of deleted) await removed(running, answer)
    for (const name of left) wanted.set(name, undefined)
    assertHeld(await fixture.look(home), wanted, fixture.volumesOfGroup)
  } finally {
    await running[Symbol.asyncDispose]()
    rmSync(home, { recursive: true, force: true })
  }
}

/** The simulated engine has one file per group. A file that was being replaced at the kill is no group. */
async function lookAtFiles(home: string): Promise<Held> {
  const folder = join(home, 'simulated-containers', 'groups')
  // Written by the simulated engine of this test.
  const found = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json)
  const containers = found.flatMap((group) => [
    `${textAt(group, 'group')}  `,
    ...listAt(group, 'parts').map(
      (part) =>
        `${textAt(group, 'group')} ${textAt(part, 'name')} ${markIn(listAt(part, 'command').join(' '))}`,
    ),
  ])
  const volumes = found.flatMap((group) =>
    listAt(group, 'volumes').map(() => textAt(group, 'group')),
  )
  return { containers: containers.sort(), volumes: volumes.sort(), networks: [] }
}

/** The default network of an engine. Podman and its Docker API give it different names. */
const everybodys = new Set(['podman', 'bridge'])

/** Everything in the throwaway engine, whatever its labels: nobody else uses it. */
async function lookAtPodman(target: DockerTarget): Promise<Held> {
  await using client = new DockerClient(target)
  const get = (path: string) => client.json({ method: 'GET', path, doing: 'look' })
  const label = (one: Json, name: string) => textAt(one, 'Labels', `armature.${name}`)
  const lines: string[] = []
  for (const one of listAt(await get('/containers/json?all=1'))) {
    const whole = await get(`/containers/${textAt(one, 'Id')}/json`)
    const words = [...listAt(whole, 'Config', 'Entrypoint'), ...listAt(whole, 'Config', 'Cmd')]
    const mark = markIn(words.join(' '))
    lines.push(`${label(one, 'group')} ${label(one, 'part')} ${mark}`)
  }
  const volumes = listAt(await get('/volumes'), 'Volumes').map((one) => label(one, 'group'))
  // Networks belong to the machine, so those of another test may be among them.
  const networks = listAt(await get('/networks'))
    .filter((one) => textAt(one, 'Labels', 'of-a-test') !== 'yes')
    .map((one) => textAt(one, 'Name'))
  return {
    containers: lines.sort(),
    volumes: volumes.sort(),
    networks: networks.filter((name) => !everybodys.has(name)),
  }
}

const seed = isLong ? randomInt(2 ** 31) : 1

test('simulated container groups outlive kill -9 of the server', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const fixture: Fixture = {
    environment: { ARMATURE_CONTAINERS: 'simulated' },
    image: 'registry.example/web:1',
    moments: someOf([0, 10, 30, 80, 150, 300], 2, 1),
    headStartMax: 100,
    volumesOfGroup: 2,
    look: lookAtFiles,
  }
  await killed(t, fixture, seededRandom(seed))
})

test('container groups on Podman outlive kill -9 of the server', async (t) => {
  t.diagnostic(`seed ${seed}`)
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using engine = podman
  const { target } = engine
  assert.ok(target.kind === 'socket')
  const before = new Set((await lookAtPodman(target)).networks)
  const fixture: Fixture = {
    environment: {
      ARMATURE_CONTAINERS: 'docker',
      ARMATURE_DOCKER_HOST: `unix://${target.path}`,
    },
    image: testImage,
    moments: someOf([0, 80, 250, 500, 900], 2, 1),
    headStartMax: 400,
    volumesOfGroup: 3,
    look: async () => {
      const held = await lookAtPodman(target)
      return { ...held, networks: held.networks.filter((name) => !before.has(name)) }
    },
  }
  await killed(t, fixture, seededRandom(seed))
})
