/**
 * The request fuzzer: many broken requests over the whole route table of a running server, by its address alone.
 * The server must never answer 5xx, always answer errors of the right family, stay alive, and keep its memory
 * bounded.
 */

import { type RawAnswer, rawRequest } from '#http/testing/raw-request.ts'
import type { ErrorFamily } from '#kernel/error.ts'
import { seededRandom } from './random.ts'
import { type FuzzCase, type FuzzFixture, makeCase } from './request-case.ts'

interface FuzzOptions extends FuzzFixture {
  readonly url: string
  readonly seed: number
  /** Requests to send. */
  readonly count: number
  /** Stops earlier after this time. */
  readonly secondsMax: number
  readonly atOnce?: number
  /** How much the server process may grow after the first third of the run, by its own `/metrics`. */
  readonly growthBytesMax?: number
  /** The address of `/metrics`, if it is not below `url`. */
  readonly metricsUrl?: string
}

interface FuzzReport {
  readonly sent: number
  /** Answers by status; `none` if the connection was closed without one. */
  readonly statuses: Readonly<Record<string, number>>
  /** What was wrong, each with the number of its request. Empty means success. */
  readonly findings: readonly string[]
}

const findingsMax = 20
const cutOffBytes = 1024 * 1024

/** Sends requests `0` to `count`; with `only`, just that one, to investigate a finding. */
export async function fuzzRequests(options: FuzzOptions, only?: number): Promise<FuzzReport> {
  const port = Number(new URL(options.url).port)
  const findings: string[] = []
  const statuses: Record<string, number> = {}
  const until = performance.now() + options.secondsMax * 1000
  let next = only ?? 0
  let sent = 0
  const end = only === undefined ? options.count : only + 1

  async function worker(limit: number): Promise<void> {
    while (next < limit && findings.length < findingsMax && performance.now() < until) {
      const index = next++
      const one = makeCase(options, seededRandom(options.seed * 1_000_003 + index))
      const [answer] = (
        await rawRequest(port, [one.bytes], {
          bodyless: one.method === 'HEAD',
          hangsUp: one.incomplete,
          quietSeconds: 20,
        })
      ).filter(({ status }) => status >= 200)
      sent += 1
      const status = answer === undefined ? 'none' : String(answer.status)
      statuses[status] = (statuses[status] ?? 0) + 1
      for (const problem of judge(one, answer)) {
        findings.push(`seed ${options.seed}, request ${index}: ${problem}: ${one.summary}`)
      }
      if (index % 200 === 0) await alive(index)
    }
  }

  async function alive(index: number): Promise<void> {
    const [answer] = await rawRequest(port, ['GET /healthz HTTP/1.1\r\nHost: h\r\n\r\n'])
    if (answer?.status !== 200) findings.push(`seed ${options.seed}, after ${index}: not alive`)
  }

  async function run(limit: number): Promise<void> {
    await Promise.all(Array.from({ length: options.atOnce ?? 8 }, () => worker(limit)))
  }

  await run(only === undefined ? Math.ceil(end / 3) : end)
  const metricsUrl = options.metricsUrl ?? options.url
  const before = await residentBytes(metricsUrl)
  await run(end)
  await alive(sent)
  const growth = (await residentBytes(metricsUrl)) - before
  const growthMax = options.growthBytesMax ?? 256 * 1024 * 1024
  if (Number.isNaN(growth)) findings.push('/metrics does not tell the memory of the process')
  if (growth > growthMax) findings.push(`memory grew by ${growth} bytes, more than ${growthMax}`)
  return { sent, statuses, findings }
}

async function residentBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1])
}

/** What is wrong with an answer; usually nothing. */
function judge(one: FuzzCase, answer: RawAnswer | undefined): readonly string[] {
  if (answer === undefined) {
    // An answer to a head that cannot be parsed may be lost when the connection is reset while the client still
    // sends megabytes.
    const isCutOff = one.incomplete || one.bytes.length > cutOffBytes
    return isCutOff ? [] : ['no answer']
  }
  const { status, body, headers } = answer
  // 501 refuses to make what cannot be made here; all other answers from 500 on are faults.
  if (status >= 500 && status !== 501) return [` ${status} ${body.slice(0, 300)}`]
  // 302 redirects from `/` to the sign-in page.
  if (status < 400) return status >= 300 && ![302, 304].includes(status) ? [`status ${status}`] : []
  if (one.method === 'HEAD') return []
  if (headers['content-type'] !== 'application/json; charset=utf-8') {
    return [`${status} of type ${headers['content-type']}`]
  }
  const families = familiesOf(body)
  if (!families.some((family) => one.families.has(family))) {
    return [
      `${status} in the wrong family, not ${[...one.families].join(' or ')}: ${body.slice(0, 300)}`,
    ]
  }
  // Messages may contain the product's name and paths in any case. Internal names are in lower case.
  const told = body.replaceAll(/dbforpostgresql/gi, '').replaceAll(/PostgreS(QL|ql)/g, '')
  return /node:\w|file:\/\/|\n {4}at |SQLITE|postgres/i.test(told)
    ? [`shows its inside: ${body.slice(0, 300)}`]
    : []
}

const code = /^[A-Z][A-Za-z0-9]+$/

/** The families that a body can be read as (contract, "Errors"). */
export function familiesOf(body: string): readonly ErrorFamily[] {
  const value = parsed(body)
  if (!isObject(value)) return []
  if (isDetail(value) && hasOnly(value, ['code', 'message', 'details'])) {
    const { details } = value
    return details === undefined || typeof details === 'string' ? ['health'] : []
  }
  const { error } = value
  if (!hasOnly(value, ['error']) || !isObject(error) || !isDetail(error)) return []
  const { target, details, additionalInfo } = error
  if (target !== undefined && typeof target !== 'string') return []
  if (details !== undefined && !(Array.isArray(details) && details.every(isDetail))) return []
  if (!hasOnly(error, ['code', 'message', 'target', 'details', 'additionalInfo'])) return []
  return additionalInfo === undefined ? ['resource-manager', 'data-share'] : ['resource-manager']
}

/** Undefined if a body is no JSON: that is a finding, not a fault of the fuzzer. */
function parsed(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isDetail(value: unknown): boolean {
  if (!isObject(value)) return false
  const { code: given, message } = value
  return (
    typeof given === 'string' && code.test(given) && typeof message === 'string' && message !== ''
  )
}

function hasOnly(value: object, names: readonly string[]): boolean {
  return Object.keys(value).every((name) => names.includes(name))
}
