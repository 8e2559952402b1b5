/**
 * Service health events over many subscriptions: pages of a list, and the cost of publishing by the number of
 * subscriptions concerned.
 */

import { readFileSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { commandOf, waitForAccess } from '../contestants/armature.ts'
import { ask } from '../contestants/ask.ts'
import { Child } from '../harness/child.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { Figures } from '../harness/results.ts'
import { takeTimes, timeRows } from '../harness/times.ts'
import { seedEvents, subscriptionAt } from '../health/seed.ts'
import type { FigureScenario } from '../scenario.ts'

const events = Number(process.env['ARMATURE_BENCH_EVENTS'] ?? 100_000)
const subscriptions = 5000
const published = 500

export const scenario: FigureScenario = {
  kind: 'figures',
  title: 'Service health events',
  about: `Pages of 100 out of ${events.toLocaleString('en')} events over ${subscriptions} subscriptions, one client, one request after the other; milliseconds. A tenth of the events touch everybody. SQLite, token checked and caller authorized at every request.`,
  measure,
}

/** The queries for a subscription, by their name in the table. */
const questions: Readonly<Record<string, string>> = {
  'the first page': '',
  'filter: active incidents': `&$filter=${encodeURIComponent("eventType eq 'ServiceIssue' and status eq 'Active'")}`,
  'filter: one service in one region': `&$filter=${encodeURIComponent("service eq 'Service 40' and region eq 'Region 0'")}`,
  'filter: on the text, nothing found': `&$filter=${encodeURIComponent("contains(title, 'nowhere')")}`,
}

async function measure(name: string, measuring: Measuring): Promise<Figures> {
  const place = await makePlace(measuring.dataFolder, name)
  const home = join(place.folder, 'home')
  const first = new Child(commandOf(place))
  await waitForAccess(place, first)
  // The server's own file.
  const { subscriptionId } = JSON.parse(readFileSync(join(home, 'running.json'), 'utf8'))
  await first.stop()
  measuring.progress(`${name}: ${events} events`)
  await seedEvents({
    database: join(home, 'armature.db'),
    events,
    subscriptions,
    asked: String(subscriptionId),
    now: Date.now(),
  })
  const given = commandOf(place)
  await using child = new Child({
    ...given,
    command: measuring.processors.forServer(given.command),
  })
  const { headers } = await waitForAccess(place, child)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const rows: Figures['rows'][number][] = []
  const note = (figure: string, times: readonly number[]): void => {
    rows.push(...timeRows(figure, 'Armature', times))
  }
  const timed = async (
    url: string,
    given: Parameters<typeof ask>[1] = {},
  ): Promise<{ milliseconds: number; next: string | undefined }> => {
    const began = performance.now()
    const { status, body } = await ask(url, { headers, agent, ...given })
    const milliseconds = performance.now() - began
    if (status >= 300) throw new Error(`${status} ${body}`)
    return { milliseconds, next: JSON.parse(body).nextLink }
  }
  const version = 'api-version=2025-05-01'
  const path = '/providers/Vendor.ResourceHealth/events'
  const list = `${place.origin}/subscriptions/${subscriptionId}${path}?${version}`
  for (const [figure, query] of Object.entries(questions)) {
    measuring.progress(`${name}: ${figure}`)
    note(figure, await takeTimes(async () => (await timed(list + query)).milliseconds))
  }
  const times: number[] = []
  let next: string | undefined = list
  while (next !== undefined && times.length < 1000) {
    const answer: Awaited<ReturnType<typeof timed>> = await timed(next)
    times.push(answer.milliseconds)
    next = answer.next
  }
  note(`by links, all ${times.length} pages`, times)
  const one: number[] = []
  const all: number[] = []
  const publish = async (id: string, touched: object): Promise<number> => {
    const impact = [
      { impactedService: 'S', impactedRegions: [{ impactedRegion: 'R', ...touched }] },
    ]
    const body = JSON.stringify({ properties: { eventType: 'RCA', title: 'T', impact } })
    const given = {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    }
    const { milliseconds } = await timed(`${place.origin}${path}/${id}/publish?${version}`, given)
    return milliseconds
  }
  for (let at = 0; at < published; at++) {
    one.push(await publish(`ONE-${at}`, { impactedSubscriptions: [subscriptionAt(at)] }))
    all.push(await publish(`ALL-${at}`, {}))
  }
  note('publish, touching one subscription', one)
  note('publish, touching every subscription', all)
  agent.destroy()
  return { rows, notes: [], skipped: [] }
}
