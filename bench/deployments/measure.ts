/** Measures deployments: expansion in this process, and 800 operations on a started server. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { templateLanguage } from '../../src/template/language.ts'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { DeploymentClient, deploymentBody, group } from './client.ts'
import { largeTemplate, operationsCount, smallTemplate } from './templates.ts'

const ways = ['alone', 'deployed'] as const
const templatesEach = 2_000
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
  const server = new DeploymentClient(place, await waitForAccess(place, child))
  await server.putService()
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
