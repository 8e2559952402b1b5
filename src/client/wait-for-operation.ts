/**
 * Follows a long-running operation as the public SDKs do (client facts 1): the status address before
 * `Location` before the resource itself, at the pace the server asks for, up to a deadline.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { type Answer, readRetryAfter, textOf } from './answer.ts'
import type { Client } from './client.ts'
import { errorFrom } from './client-error.ts'

export interface WaitOptions {
  readonly deadlineSeconds?: number
  /** Seconds between two requests when the server names no time. */
  readonly pollSeconds?: number
  /** The wait before the first request. Each further wait is twice as long, up to the server's time. */
  readonly firstPollSeconds?: number
  readonly signal?: AbortSignal
  /** Called with each state that was read. */
  readonly onState?: (state: string) => void
}

/** The deadline passed; the operation goes on. */
export class OperationDeadline extends Error {
  readonly state: string
  constructor(url: string, state: string, deadlineSeconds: number) {
    super(`${url} was still ${state} after ${deadlineSeconds} seconds.`)
    this.name = 'OperationDeadline'
    this.state = state
  }
}

type Road =
  | { readonly kind: 'status'; readonly url: string; readonly location: string | undefined }
  | { readonly kind: 'location'; readonly url: string }
  | { readonly kind: 'resource'; readonly url: string }

/** The result of one request. */
type Look =
  | { readonly kind: 'running'; readonly state: string; readonly road: Road }
  | { readonly kind: 'done'; readonly answer: Answer }

const defaults = {
  deadlineSeconds: 1800,
  pollSeconds: 2,
  firstPollSeconds: Number.POSITIVE_INFINITY,
}

export async function waitForOperation(
  client: Pick<Client, 'request' | 'timing'>,
  first: Answer,
  given: WaitOptions = {},
): Promise<Answer> {
  const options = { ...defaults, ...given }
  const { timing } = client
  let road = findRoad(first)
  if (road === undefined) return first
  const endsAt = timing.now() + options.deadlineSeconds * 1000
  let latest = first
  let state = textOf(first.body, 'status') ?? provisioningState(first.body) ?? 'Accepted'
  for (let ownPace = options.firstPollSeconds * 1000; ; ownPace *= 2) {
    options.onState?.(state)
    const asked = readRetryAfter(latest.headers, timing.now()) ?? options.pollSeconds * 1000
    const wait = Math.min(asked, ownPace)
    if (timing.now() + wait > endsAt) {
      throw new OperationDeadline(road.url, state, options.deadlineSeconds)
    }
    await timing.sleep(wait, options.signal)
    const signal = options.signal ? { signal: options.signal } : {}
    latest = await client.request('GET', road.url, signal)
    const look = judge(road, latest)
    if (look.kind === 'done') {
      options.onState?.('Succeeded')
      return finish(client, road, first, look.answer)
    }
    state = look.state
    road = look.road
  }
}

function findRoad(answer: Answer): Road | undefined {
  const location = answer.headers.get('location') ?? undefined
  const status = statusAddress(answer.headers)
  if (status !== undefined) return { kind: 'status', url: status, location }
  if (answer.status === 202) {
    return location === undefined ? undefined : { kind: 'location', url: location }
  }
  const state = provisioningState(answer.body)
  const follows = ['PUT', 'PATCH'].includes(answer.method) && state !== undefined && !isEnd(state)
  return follows ? { kind: 'resource', url: answer.url } : undefined
}

/** `Vendor-AsyncOperation`, with whatever brand word the installation has. */
function statusAddress(headers: Answer['headers']): string | undefined {
  const plain = headers.get('operation-location')
  if (plain !== null) return plain
  for (const [name, value] of headers) if (name.endsWith('-asyncoperation')) return value
  return undefined
}

function judge(road: Road, answer: Answer): Look {
  const running = (state: string): Look => ({ kind: 'running', state, road: moved(road, answer) })
  if (road.kind === 'location') {
    return answer.status === 202 ? running('InProgress') : { kind: 'done', answer }
  }
  const state =
    road.kind === 'status'
      ? (textOf(answer.body, 'status') ?? (answer.status === 202 ? 'InProgress' : 'Succeeded'))
      : (provisioningState(answer.body) ?? 'Succeeded')
  if (!isEnd(state)) return running(state)
  if (state.toLowerCase() === 'succeeded') return { kind: 'done', answer }
  const error = isJsonObject(answer.body) ? answer.body['error'] : undefined
  throw errorFrom(error ?? { code: state, message: `The operation ended as ${state}.` }, answer)
}

/** Each answer may name a new address for the next request. */
function moved(road: Road, answer: Answer): Road {
  if (road.kind === 'resource') return road
  const location = answer.headers.get('location')
  if (road.kind === 'location') return location === null ? road : { ...road, url: location }
  return {
    kind: 'status',
    url: statusAddress(answer.headers) ?? road.url,
    location: location ?? road.location,
  }
}

/** What the call would have returned if it had completed at once. */
async function finish(
  client: Pick<Client, 'request'>,
  road: Road,
  first: Answer,
  last: Answer,
): Promise<Answer> {
  if (road.kind !== 'status') return last
  if (first.method === 'PUT' || first.method === 'PATCH') return client.request('GET', first.url)
  if (first.method === 'POST' && road.location !== undefined) {
    return client.request('GET', road.location)
  }
  return last
}

function provisioningState(body: unknown): string | undefined {
  return isJsonObject(body) ? textOf(body['properties'], 'provisioningState') : undefined
}

/** All other words, known or not, mean "still running" (facts 9.4). */
function isEnd(state: string): boolean {
  return ['succeeded', 'failed', 'canceled', 'cancelled'].includes(state.toLowerCase())
}
