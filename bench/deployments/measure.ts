/** Measures deployments: expansion in this process, and 800 operations on a started server. */

import { execFile } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { templateLanguage } from '../../src/template/language.ts'
import { type Access, commandOf, waitForAccess } from '../contestants/armature.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import type { Place } from '../scenario.ts'
import {
  largeTemplate,
  operationBody,
  operationsCount,
  operationsTemplate,
  operationVersion,
  serviceName,
  smallTemplate,
} from './templates.ts'

const ways = ['alone', 'deployed'] as const
const lookMilliseconds = 5
const templatesEach = 2_000
const patienceMilliseconds = 120_000
const group = 'bench'
const contestant = 'Armature'

export function measureExpansion(name: string, measuring: Measuring): readonly FigureRow[] {
  const { text, expressions } = largeTemplate()
  const seconds: number[] = []
  for (let round = 0; round < Math.max(3, measuring.rounds); round++) {
    measuring.progress(`${name}: expansion, round ${round + 1}`)
    const from = performance.now()
    const read = templateLanguage.parseTemplate(text)
    if (!read.ok) throw new Error(JSON.stringify(read.problems[0]))
    const made = templateLanguage.expand(read.value, {}, context)
    if (!made.ok) throw new Error(JSON.stringify(made.problems[0]))
    if (made.value.nodes.length !== operationsCount) throw new Error('resources are missing')
    seconds.push((performance.now() - from) / 1000)
  }
  const small = smallTemplate()
  const templates: number[] = []
  for (let round = 0; round < Math.max(3, measuring.rounds); round++) {
    const from = performance.now()
    for (let one = 0; one < templatesEach; one++) expandSmall(small)
    templates.push(templatesEach / ((performance.now() - from) / 1000))
  }
  const what = `${(text.length / 2 ** 20).toFixed(1)} MB, ${operationsCount} resources`
  return [
    figureRow({
      figure: 'a template of four resources: read and expanded, per second',
      contestant,
      values: templates,
    }),
    figureRow({ figure: `${what}: read and expanded, s`, contestant, values: seconds, digits: 3 }),
    figureRow({
      figure: `${what}: expressions per second`,
      contestant,
      values: seconds.map((one) => expressions / one),
    }),
  ]
}

function expandSmall(text: string): void {
  const read = templateLanguage.parseTemplate(text)
  const made = read.ok ? templateLanguage.expand(read.value, {}, context) : read
  if (!made.ok || made.value.nodes.length !== 4) throw new Error('the template was not expanded')
}

const subscriptionId = '11111111-2222-4333-8444-555555555555'
const context = {
  scope: 'resourceGroup',
  tenant: { tenantId: 'bench' },
  subscription: { id: `/subscriptions/${subscriptionId}`, subscriptionId },
  resourceGroup: {
    id: `/subscriptions/${subscriptionId}/resourceGroups/${group}`,
    name: group,
    location: 'local',
  },
  deploymentName: 'bench',
  deployer: { objectId: 'bench' },
  environment: { name: 'bench' },
  now: 0,
  uuid: () => '00000000-0000-4000-8000-000000000000',
  zones: () => [],
} as const

interface CorpusFigures {
  readonly templates: number
  readonly expanded: number
  readonly rates: readonly number[]
  readonly slowest: number
  readonly memory: number
}

/** In a process of its own, to measure its memory. */
export async function measureCorpus(
  name: string,
  folder: string,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  measuring.progress(`${name}: published templates`)
  const script = fileURLToPath(new URL('expand-corpus.ts', import.meta.url))
  const rounds = String(Math.max(3, measuring.rounds))
  // As a server runs it: with more room for young objects the engine keeps twice as much garbage.
  const heap = '--max-semi-space-size=8'
  const options = [heap, '--disable-warning=ExperimentalWarning', script, folder, rounds]
  const { stdout } = await promisify(execFile)(process.execPath, options)
  // The script prints nothing else.
  const { templates, expanded, rates, slowest, memory } = JSON.parse(stdout) as CorpusFigures
  const what = `${templates} published templates, ${expanded} of which expand`
  return [
    figureRow({ figure: `${what}: per second`, contestant, values: rates }),
    figureRow({ figure: 'the slowest of them, ms', contestant, values: [slowest] }),
    figureRow({ figure: 'memory of the process at most, MB', contestant, values: [memory] }),
  ]
}

export async function measureDeployments(
  name: string,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const place = await makePlace(measuring.dataFolder, 'deployments')
  const given = commandOf(place)
  await using child = new Child({
    ...given,
    command: measuring.processors.forServer(given.command),
  })
  const server = new Server(place, await waitForAccess(place, child))
  await server.furnish()
  const rates: Record<'alone' | 'deployed', number[]> = { alone: [], deployed: [] }
  const seconds: Record<'validate' | 'whatIf of new' | 'whatIf of the same', number[]> = {
    validate: [],
    'whatIf of new': [],
    'whatIf of the same': [],
  }
  // The first round warms up both ways and is not counted: a server runs for longer than one deployment.
  for (let round = 0; round <= measuring.rounds; round++) {
    measuring.progress(`${name}: ${operationsCount} operations, round ${round}`)
    const alone = `alone-${round}`
    const together = `together-${round}`
    await server.putApi(alone)
    await server.putApi(together)
    const body = deploymentBody(together)
    const taken = {
      validate: await server.timed('POST', together, '/validate', body),
      'whatIf of new': await server.timed('POST', together, '/whatIf', body),
    }
    // In turns, so that neither way always profits from the other's warm-up.
    for (const way of round % 2 === 0 ? ways : [...ways].reverse()) {
      const from = performance.now()
      if (way === 'alone') await server.putOneByOne(alone)
      else await server.deploy(together, body)
      if (round > 0) rates[way].push(operationsCount / ((performance.now() - from) / 1000))
    }
    const same = await server.timed('POST', together, '/whatIf', body)
    if (round === 0) continue
    seconds.validate.push(taken.validate)
    seconds['whatIf of new'].push(taken['whatIf of new'])
    seconds['whatIf of the same'].push(same)
  }
  const figure = `${operationsCount} operations, resources per second`
  return [
    figureRow({
      figure,
      contestant: 'one PUT after the other',
      values: rates.alone,
      to: rates.alone,
    }),
    figureRow({ figure, contestant: 'deployment', values: rates.deployed, to: rates.alone }),
    ...Object.entries(seconds).map(([what, values]) =>
      figureRow({ figure: `${what}, s`, contestant: 'deployment', values, digits: 2 }),
    ),
  ]
}

function deploymentBody(api: string): object {
  return { properties: { mode: 'Incremental', template: operationsTemplate(api, 'Measured.') } }
}

class Server {
  readonly #origin: string
  readonly #access: Access
  readonly #group: string

  constructor({ origin }: Place, access: Access) {
    this.#origin = origin
    this.#access = access
    this.#group = `/subscriptions/${access.subscriptionId}/resourceGroups/${group}`
  }

  async furnish(): Promise<void> {
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
