/** Draws the graph of a running deployment from its record and its operations. */

import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Connection } from './context.ts'
import {
  type DeploymentPlace,
  deploymentPath,
  deploymentVersion,
  operationsPath,
} from './deployments.ts'
import { green, red } from './output/print.ts'
import { type Column, printable } from './output/table.ts'
import type { Terminal } from './terminal.ts'

const everyMilliseconds = 400
/** The number of lines, where the terminal does not tell its size. */
const linesMax = 20

type StepState = 'Waiting' | 'Running' | 'Succeeded' | 'Failed'

/** One resource of the deployment, in drawing order. */
interface Step {
  readonly id: string
  readonly type: string
  readonly name: string
  readonly state: StepState
  /** The names of its dependencies. */
  readonly after: readonly string[]
  readonly duration: string
  readonly error?: { readonly code: string; readonly message: string }
}

export const stepColumns: readonly Column<Step>[] = [
  { title: 'STATE', of: (step) => step.state },
  { title: 'TYPE', of: (step) => step.type },
  { title: 'NAME', of: (step) => step.name },
  { title: 'DURATION', of: (step) => step.duration },
  {
    title: 'MESSAGE',
    of: (step) => (step.error ? `${step.error.code}: ${step.error.message}` : ''),
  },
]

export interface Watched {
  readonly deployment: unknown
  readonly state: string
  readonly steps: readonly Step[]
}

/** Follows a deployment until it ends, and draws it on a terminal. */
export async function watchDeployment(
  terminal: Terminal,
  connection: Connection,
  { place, name }: { readonly place: DeploymentPlace; readonly name: string },
  draws: boolean,
): Promise<Watched> {
  const path = await deploymentPath(connection, place, name)
  const operations = await operationsPath(connection, place, name)
  let drawn = 0
  for (;;) {
    const seen = await look(connection, path, operations)
    if (draws) drawn = draw(terminal, seen, drawn)
    if (['Succeeded', 'Failed', 'Canceled'].includes(seen.state)) return seen
    await sleep(everyMilliseconds)
  }
}

async function look(connection: Connection, path: string, operations: string): Promise<Watched> {
  const query = { 'api-version': deploymentVersion }
  const { client } = connection
  const deployment = (await client.request('GET', path, { query })).body
  const done: unknown[] = []
  let next: string | undefined = operations
  let asked: Readonly<Record<string, string>> = query
  while (next !== undefined) {
    const page: unknown = (await client.request('GET', next, { query: asked })).body
    done.push(...listOf(page, 'value'))
    next = textOf(page, 'nextLink')
    asked = {}
  }
  const properties = propertiesOf(deployment)
  const state = textOf(properties, 'provisioningState') ?? ''
  return { deployment, state, steps: stepsOf(listOf(properties, 'dependencies'), done) }
}

/** Resources that run or are done, according to the operations, then those that wait. */
function stepsOf(
  dependencies: readonly unknown[],
  operations: readonly unknown[],
): readonly Step[] {
  const waits = new Map<string, { resource: unknown; after: readonly string[] }>()
  for (const resource of dependencies) {
    const dependsOn = listOf(resource, 'dependsOn')
    const after = dependsOn.map((one) => textOf(one, 'resourceName') ?? '')
    waits.set(keyOf(resource), { resource, after })
  }
  const started = operations.map((operation): Step => {
    const properties = propertiesOf(operation)
    const target = properties['targetResource']
    const told = textOf(properties, 'provisioningState')
    const message = properties['statusMessage']
    const error = isJsonObject(message) ? message['error'] : undefined
    return {
      ...namesOf(target),
      state: told === 'Succeeded' || told === 'Failed' ? told : 'Running',
      after: waits.get(keyOf(target))?.after ?? [],
      duration: secondsOf(textOf(properties, 'duration')),
      ...(error === undefined
        ? {}
        : {
            error: { code: textOf(error, 'code') ?? '', message: textOf(error, 'message') ?? '' },
          }),
    }
  })
  const known = new Set(started.map((step) => step.id.toLowerCase()))
  const waiting = [...waits].flatMap(([key, { resource, after }]): readonly Step[] =>
    known.has(key) ? [] : [{ ...namesOf(resource), state: 'Waiting', after, duration: '' }],
  )
  return [...started, ...waiting]
}

function namesOf(resource: unknown): Pick<Step, 'id' | 'type' | 'name'> {
  return {
    id: textOf(resource, 'id') ?? '',
    type: textOf(resource, 'resourceType') ?? '',
    name: textOf(resource, 'resourceName') ?? '',
  }
}

function keyOf(resource: unknown): string {
  return (textOf(resource, 'id') ?? '').toLowerCase()
}

/** `PT1.5S` becomes `1.5 s`. */
function secondsOf(duration: string | undefined): string {
  const seconds = /^PT([\d.]+)S$/.exec(duration ?? '')?.[1]
  return seconds === undefined ? '' : `${seconds} s`
}

const order: readonly StepState[] = ['Failed', 'Running', 'Waiting', 'Succeeded']

/** Redraws in place, and counts what does not fit. Returns the number of lines. */
function draw(terminal: Terminal, { state, steps }: Watched, drawn: number): number {
  const fits = Math.max(1, (terminal.size()?.rows ?? linesMax) - 3)
  // When not all fit, failed and running ones come first.
  const chosen =
    steps.length <= fits
      ? steps
      : steps.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).slice(0, fits)
  const counts = (['Succeeded', 'Running', 'Waiting', 'Failed'] as const)
    .map((one) => [steps.filter((step) => step.state === one).length, one] as const)
    .filter(([count]) => count > 0)
    .map(([count, one]) => `${count} ${one.toLowerCase()}`)
  const head = `${printable(state)}: ${counts.join(', ') || 'nothing begun yet'}`
  const lines = [head, ...chosen.map((step) => stepLine(terminal, step))]
  const up = drawn === 0 ? '' : `\u001b[${drawn}A`
  // Clears the old lines when there are fewer new ones.
  terminal.error(`${up}\u001b[0J${lines.map((line) => `${line}\n`).join('')}`)
  return lines.length
}

function stepLine(terminal: Terminal, step: Step): string {
  const { state, type, name, after, duration, error } = step
  const text = printable(`${type}/${name}`)
  if (state === 'Succeeded') return `  ${green(terminal, '+')} ${text} ${duration}`
  if (state === 'Failed') {
    return `  ${red(terminal, 'x')} ${text} ${red(terminal, printable(error?.code ?? 'Failed'))}`
  }
  if (state === 'Running') return `  > ${text}`
  return `  . ${text} after ${printable(after.join(', '))}`
}
