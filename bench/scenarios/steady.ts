/**
 * A large installation under a steady rate: what memory, times and the store do over the minutes, and what a thousand
 * deployments at once cost.
 */

import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Access, commandOf, homeOf, makeHome, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow, Figures } from '../harness/results.ts'
import {
  apiVersion,
  resourceBody,
  resourceName,
  resourcePath,
  stampPlaceholder,
} from '../payload.ts'
import type { FigureScenario, Place } from '../scenario.ts'

const size = (name: string, usual: number): number =>
  Number(process.env[`ARMATURE_BENCH_${name}`] ?? usual)
const resources = size('RESOURCES', 100_000)
const principals = size('PRINCIPALS', 1_000)
const assignments = size('ASSIGNMENTS', 10_000)
const minutes = size('MINUTES', 1)
const deployments = size('DEPLOYMENTS', 1_000)
const perSecond = 200
/** The time is reported in so many slices. */
const slices = 6

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'A steady rate',
  about:
    `${resources.toLocaleString('en')} resources, ${assignments.toLocaleString('en')} role assignments for ` +
    `${principals.toLocaleString('en')} groups of people; ${perSecond} requests a second for ${minutes} minutes: 60 % GET and 30 % ` +
    `PUT of a resource by a random id, 8 % a page of 100, 2 % a deployment of one resource. Before, ` +
    `${deployments.toLocaleString('en')} deployments at once. SQLite.`,
  measure,
}

interface Client {
  readonly origin: string
  readonly access: Access
  send(method: string, path: string, body?: string): Promise<number>
}

function clientOf(place: Place, access: Access, sockets: number): Client & Disposable {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })
  return {
    origin: place.origin,
    access,
    /** The milliseconds it took. */
    async send(method, path, body) {
      const began = performance.now()
      const answer = await ask(place.origin + path, {
        method,
        agent,
        headers: {
          ...access.headers,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body }),
      })
      if (answer.status >= 300)
        throw new Error(`${method} ${path}: ${answer.status} ${answer.body}`)
      return performance.now() - began
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}

async function measure(name: string, measuring: Measuring): Promise<Figures> {
  const place = await makePlace(measuring.dataFolder, name)
  measuring.progress(`${name}: ${resources} resources`)
  await makeHome(place, resources)
  const given = commandOf(place)
  await using child = new Child({
    ...given,
    command: measuring.processors.forServer(given.command),
  })
  const access = await waitForAccess(place, child)
  using client = clientOf(place, access, 32)
  measuring.progress(`${name}: ${assignments} assignments`)
  const subscriptions = await assignRoles(client)
  const rows: FigureRow[] = []
  const note = (figure: string, value: number, digits = 0): void => {
    rows.push(figureRow({ figure, contestant: 'Armature', values: [value], digits }))
    measuring.progress(`${name}: ${figure}: ${value.toFixed(digits)}`)
  }
  measuring.progress(`${name}: ${deployments} deployments at once`)
  const began = performance.now()
  await deployAtOnce(client, subscriptions)
  note(`${deployments} deployments at once, all done, s`, (performance.now() - began) / 1000, 1)
  for (let part = 1; part <= slices; part++) {
    measuring.progress(`${name}: part ${part} of ${slices}`)
    const label = (what: string): string => `${what}, part ${part} of ${slices}`
    // A token lasts an hour.
    using renewed = clientOf(place, await waitForAccess(place, child), 32)
    const before = child.figures()
    const times = await keepRate(renewed, (minutes * 60_000) / slices)
    const after = child.figures()
    const sorted = times.toSorted((a, b) => a - b)
    const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0
    note(label('p50, ms'), at(0.5), 2)
    note(label('p99, ms'), at(0.99), 2)
    if (before !== undefined && after !== undefined) {
      const spent = after.cpuMicroseconds - before.cpuMicroseconds
      note(label('processor time of a request, µs'), spent / Math.max(1, times.length))
      note(label('memory, MB'), after.residentBytes / 1e6)
    }
    note(label('store, MB'), storeBytes(place) / 1e6)
  }
  return { rows, notes: [], skipped: [] }
}

function storeBytes(place: Place): number {
  const file = join(homeOf(place.folder), 'armature.db')
  return [file, `${file}-wal`].reduce(
    (sum, one) => sum + (statSync(one, { throwIfNoEntry: false })?.size ?? 0),
    0,
  )
}

/** Does `work` for 0 to `count`, 32 at a time. */
async function atOnce(count: number, work: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: 32 }, lane))
}

/** An installation allows 4,000 in a subscription. */
const perSubscription = 3_900
/** Reader, contributor, the contributor of tags, billing reader. */
const roles = [
  'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  'b24988ac-6180-42a0-ab88-20f7382dd24c',
  '4a9ae827-6dc8-4573-8ac7-8239d42aa03f',
  'fa23ad8b-c56e-40d8-ac0c-ce449e1d2c64',
]

/** Resolves to the subscriptions that they are in. */
async function assignRoles({ origin, access, send }: Client): Promise<readonly string[]> {
  const ids: string[] = []
  await atOnce(principals, async (index) => {
    const { status, body } = await ask(`${origin}/directory/groups`, {
      method: 'POST',
      headers: { ...access.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ displayName: `group ${index}` }),
    })
    if (status !== 201) throw new Error(`no group was made: ${status} ${body}`)
    ids.push(String(JSON.parse(body).id))
  })
  const subscriptions = Array.from({ length: Math.ceil(assignments / perSubscription) }, randomUUID)
  for (const [at, id] of subscriptions.entries()) {
    const body = JSON.stringify({ displayName: `subscription ${at}` })
    await send('PUT', `/subscriptions/${id}?api-version=2019-11-01`, body)
  }
  await atOnce(assignments, async (index) => {
    const scope = `/subscriptions/${subscriptions[Math.floor(index / perSubscription)]}`
    const path = `${scope}/providers/Vendor.Authorization/roleAssignments/${randomUUID()}?api-version=2022-04-01`
    const roleDefinitionId = `${scope}/providers/Vendor.Authorization/roleDefinitions/${roles[Math.floor((index % perSubscription) / ids.length)]}`
    const principalId = ids[index % ids.length]
    await send('PUT', path, JSON.stringify({ properties: { roleDefinitionId, principalId } }))
  })
  return subscriptions
}

const deploymentVersion = '2025-03-01'

function deploymentPath(
  { access }: Client,
  name: string,
  subscription = access.subscriptionId,
): string {
  const path = `/subscriptions/${subscription}/providers/Vendor.Resources/deployments/${name}`
  return `${path}?api-version=${deploymentVersion}`
}

/** One resource group, made or replaced. */
function deploymentBody(group: string): string {
  return JSON.stringify({
    location: 'local',
    properties: {
      mode: 'Incremental',
      template: {
        $schema: 'https://schema.example/schemas/2018-05-01/subscriptionDeploymentTemplate.json#',
        contentVersion: '1.0.0.0',
        resources: [
          {
            type: 'Vendor.Resources/resourceGroups',
            apiVersion,
            name: group,
            location: 'local',
          },
        ],
      },
    },
  })
}

/** A scope keeps 800, so they are spread. */
async function deployAtOnce(client: Client, subscriptions: readonly string[]): Promise<void> {
  const scopes = [client.access.subscriptionId, ...subscriptions]
  const pathOf = (index: number): string =>
    deploymentPath(client, `burst-${index}`, scopes[index % Math.min(scopes.length, 4)])
  await atOnce(deployments, async (index) => {
    const url = client.origin + pathOf(index)
    const headers = { ...client.access.headers, 'content-type': 'application/json' }
    const body = deploymentBody(`burst-${index}`)
    for (;;) {
      const answer = await ask(url, { method: 'PUT', headers, body })
      if (answer.status < 300) return
      if (answer.status !== 429) throw new Error(`no deployment: ${answer.status} ${answer.body}`)
      // One principal has an allowance of evaluations of templates.
      await sleep(1000)
    }
  })
  await atOnce(deployments, async (index) => {
    for (;;) {
      const { body } = await ask(client.origin + pathOf(index), {
        headers: client.access.headers,
      })
      const state: unknown = JSON.parse(body).properties?.provisioningState
      if (state === 'Succeeded') return
      if (state === 'Failed' || state === undefined) throw new Error(`a deployment failed: ${body}`)
      await sleep(100)
    }
  })
}

/** Requests at the rate, whatever the answers take; the milliseconds of each. */
async function keepRate(client: Client, milliseconds: number): Promise<readonly number[]> {
  const { subscriptionId } = client.access
  const page = `/subscriptions/${subscriptionId}/resourcegroups?api-version=${apiVersion}&$top=100`
  const body = resourceBody('local')
  const times: number[] = []
  const open: Promise<void>[] = []
  let failure: unknown
  let sent = 0
  let deployed = 0
  const one = (): Promise<number> => {
    const path = resourcePath(subscriptionId, resourceName(Math.floor(Math.random() * resources)))
    const kind = Math.random()
    if (kind < 0.6) return client.send('GET', path)
    if (kind < 0.9) {
      const stamp = String(++sent).padStart(stampPlaceholder.length, '0')
      return client.send('PUT', path, body.replace(stampPlaceholder, stamp))
    }
    if (kind < 0.98) return client.send('GET', page)
    const name = `steady-${++deployed % 500}`
    return client.send('PUT', deploymentPath(client, name), deploymentBody(name))
  }
  const began = performance.now()
  for (let due = 0; performance.now() - began < milliseconds; due++) {
    const wait = began + (due * 1000) / perSecond - performance.now()
    if (wait > 1) await sleep(wait)
    if (failure !== undefined) throw failure
    open.push(
      one().then(
        (took) => void times.push(took),
        (error: unknown) => {
          failure = error
        },
      ),
    )
  }
  await Promise.all(open)
  if (failure !== undefined) throw failure
  return times
}
