/**
 * Parses the two forms of a batch, JSON and multipart/mixed, into one list of parts, and writes the answers in the
 * same form. Time and memory are linear in the body.
 */

import { isJsonObject } from '#kernel/patch.ts'
import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { nextTurn } from '#stores/next-turn.ts'
import { refuse } from '../errors.ts'
import type { BusinessAnswer } from '../message.ts'
import { JsonChunk, readAnyJson } from './large-json.ts'
import { odataLimits } from './limits.ts'

export interface BatchPart {
  /** The name in answers and references: the `id` of JSON, the `Content-ID` of multipart. May be empty. */
  readonly id: string
  /** Parts of one group succeed or fail together. They are adjacent. */
  readonly group: string | undefined
  /** Ids of parts, or names of groups; this part is skipped unless they succeeded. */
  readonly dependsOn: readonly string[]
  readonly method: string
  readonly url: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Bytes | undefined
  /** A large body that was read. */
  readonly json?: Readonly<Record<string, unknown>> | undefined
}

export interface PartAnswer {
  readonly part: BatchPart
  readonly answer: BusinessAnswer
}

function badBatch(reason: string): Error {
  return refuse.BadRequest({ reason: `The batch is invalid: ${reason}.` })
}

function checkParts(parts: readonly BatchPart[]): readonly BatchPart[] {
  if (parts.length > odataLimits.batchRequestsMax) {
    throw badBatch(`it holds more than ${odataLimits.batchRequestsMax} requests`)
  }
  const ids = new Set<string>()
  const groups = new Set<string>()
  let last: string | undefined
  for (const { id, group, dependsOn, method } of parts) {
    if (!/^(?:GET|POST|PATCH|PUT|DELETE)$/.test(method)) {
      throw badBatch(`'${method.slice(0, 20)}' is no method of a request`)
    }
    if (id !== '' && (ids.has(id) || groups.has(id)))
      throw badBatch(`the id '${id.slice(0, 40)}' is used twice`)
    if (group !== undefined && group !== last && groups.has(group)) {
      throw badBatch(`the requests of the group '${group.slice(0, 40)}' do not stand together`)
    }
    if (dependsOn.some((one) => !ids.has(one) && !groups.has(one))) {
      throw badBatch(`'${id.slice(0, 40)}' depends on what does not stand before it`)
    }
    ids.add(id)
    if (group !== undefined) groups.add(group)
    last = group
  }
  return parts
}

export async function readJsonBatch(body: Bytes): Promise<readonly BatchPart[]> {
  const batch = await readAnyJson(body)
  const requests = isJsonObject(batch) ? batch['requests'] : undefined
  const list =
    requests instanceof JsonChunk
      ? await requests.elements(odataLimits.batchRequestsMax)
      : undefined
  if (list === undefined && !Array.isArray(requests))
    throw badBatch("a JSON object with the list 'requests' was expected")
  const parts: BatchPart[] = []
  for (const bytes of list?.texts() ?? []) {
    await nextTurn()
    parts.push(jsonPart(await readAnyJson(bytes), parts.length))
  }
  if (Array.isArray(requests)) parts.push(...requests.map(jsonPart))
  return checkParts(parts)
}

function jsonPart(value: unknown, at: number): BatchPart {
  if (!isJsonObject(value)) throw badBatch(`requests[${at}] is not an object`)
  const { id, method, url, headers = {}, body, atomicityGroup, dependsOn = [] } = value
  if (typeof id !== 'string' && typeof id !== 'number')
    throw badBatch(`requests[${at}] has no 'id'`)
  if (typeof method !== 'string' || typeof url !== 'string') {
    throw badBatch(`requests[${at}] must have the texts 'method' and 'url'`)
  }
  if (atomicityGroup !== undefined && typeof atomicityGroup !== 'string') {
    throw badBatch(`requests[${at}].atomicityGroup is not text`)
  }
  if (!Array.isArray(dependsOn) || !isJsonObject(headers) || headers instanceof JsonChunk) {
    throw badBatch(`requests[${at}]: 'dependsOn' is a list, 'headers' an object`)
  }
  const lower = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), String(text)])
  const hasBody = body !== undefined && body !== null
  return {
    id: String(id),
    group: atomicityGroup,
    dependsOn: dependsOn.map(String),
    method: method.toUpperCase(),
    url,
    headers: {
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
      ...Object.fromEntries(lower),
    },
    body: hasBody ? bytesOf(body) : undefined,
  }
}

function bytesOf(body: unknown): Bytes {
  if (body instanceof JsonChunk) return body.bytes
  return new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Bodies are inserted unchanged: they are JSON already. */
export function writeJsonBatch(answers: readonly PartAnswer[]): string {
  const responses = answers.map(({ part, answer }) => {
    const { status, headers, body } = answer
    const isJson = /^application\/json/i.test(headers['Content-Type'] ?? '')
    const lower = Object.entries(headers).map(([name, text]) => [name.toLowerCase(), text])
    const head = JSON.stringify({
      id: part.id,
      ...(part.group === undefined ? {} : { atomicityGroup: part.group }),
      status,
      headers: Object.fromEntries(lower),
    })
    if (body === undefined) return head
    return `${head.slice(0, -1)},"body":${isJson ? body : JSON.stringify(body)}}`
  })
  return `{"responses":[${responses.join(',')}]}`
}

const boundaryPattern = /;\s*boundary\s*=\s*(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i

export function boundaryOf(contentType: string): string {
  const match = boundaryPattern.exec(contentType)
  const boundary = match?.[1] ?? match?.[2]
  if (boundary === undefined) throw badBatch("the Content-Type 'multipart/mixed' names no boundary")
  return boundary
}

export async function readMultipartBatch(
  body: Bytes,
  boundary: string,
): Promise<readonly BatchPart[]> {
  const parts: BatchPart[] = []
  for (const [at, one] of (await splitParts(body, boundary)).entries()) {
    // Of a body in a file each line is read by itself.
    await nextTurn()
    const { headers, rest } = readHead(one)
    const type = headers['content-type'] ?? ''
    if (!/^multipart\/mixed/i.test(type)) {
      parts.push(httpPart(headers, rest, undefined))
      continue
    }
    for (const inner of await splitParts(rest, boundaryOf(type))) {
      await nextTurn()
      const head = readHead(inner)
      const part = httpPart(head.headers, head.rest, `changeset ${at + 1}`)
      if (part.method === 'GET') throw badBatch('a change set holds no GET')
      parts.push(part)
    }
    // More than may be: they are refused below.
    if (parts.length > odataLimits.batchRequestsMax) break
  }
  return checkParts(parts)
}

/** The parts between the boundaries, without the line breaks around them. */
async function splitParts(bytes: Bytes, boundary: string): Promise<readonly Bytes[]> {
  const mark = Buffer.from(`\n--${boundary}`)
  const parts: Bytes[] = []
  for (let here = await findMark(bytes, mark, 0); ; ) {
    if (here === undefined) throw badBatch(`the closing boundary '--${boundary}--' is missing`)
    if (bufferOf(bytes, here.to, here.to + 2).toString('latin1') === '--') return parts
    if (parts.length >= odataLimits.batchRequestsMax) {
      throw badBatch(`it holds more than ${odataLimits.batchRequestsMax} requests`)
    }
    const next = await findMark(bytes, mark, here.to)
    if (next !== undefined) parts.push(withinLines(bytes.subarray(here.to, next.from)))
    here = next
  }
}

interface Mark {
  readonly from: number
  readonly to: number
}

/** The bytes searched between two pauses; some milliseconds where each of them may begin what is searched. */
const searchedAtOnce = 512 * 1024

/** The next boundary. It begins a line; the first line has no line break before it. */
async function findMark(bytes: Bytes, mark: Buffer, after: number): Promise<Mark | undefined> {
  const isFirst = after === 0 && bufferOf(bytes, 0, mark.length - 1).equals(mark.subarray(1))
  if (isFirst) return { from: 0, to: mark.length - 1 }
  for (let at = after; at < bytes.length; at += searchedAtOnce) {
    await nextTurn()
    const found = bufferOf(bytes, at, at + searchedAtOnce + mark.length - 1).indexOf(mark)
    if (found >= 0) return { from: at + found, to: at + found + mark.length }
  }
  return undefined
}

/** Without the end of the line before it, which may contain only blanks, and of its own last line. */
function withinLines(part: Bytes): Bytes {
  const { line, end } = lineAt(part, 0)
  const from = end > line.length && /^[ \t]*$/.test(line) ? end : 0
  const last = readBytes(part, part.length - 1)[0]
  return part.subarray(from, last === carriageReturn ? part.length - 1 : part.length)
}

function readHead(bytes: Bytes): { headers: Record<string, string>; rest: Bytes } {
  const headers: Record<string, string> = {}
  let from = 0
  for (let count = 0; ; count++) {
    const { line, end } = lineAt(bytes, from)
    from = end
    if (line === '') return { headers, rest: bytes.subarray(from, bytes.length) }
    const colon = line.indexOf(':')
    const fits = colon > 0 && line.length <= odataLimits.batchLineLengthMax
    if (!fits || count >= odataLimits.batchHeadersMax) {
      throw badBatch(`'${line.slice(0, 40)}' is no header, or there are too many`)
    }
    headers[line.slice(0, colon).trim().toLowerCase()] = line.slice(colon + 1).trim()
  }
}

const [lineFeed, carriageReturn, blank] = [0x0a, 0x0d, 0x20]

/** Lines end with LF, with or without CR before it. Of a line that is too long, its beginning, which is more than may be. */
function lineAt(bytes: Bytes, from: number): { readonly line: string; readonly end: number } {
  const read = bufferOf(bytes, from, from + 4 * odataLimits.batchLineLengthMax + 4)
  const found = read.indexOf(lineFeed)
  const to = found < 0 ? read.length : found
  const isPair = found > 0 && read[found - 1] === carriageReturn
  const line = read.toString('utf8', 0, isPair ? to - 1 : to)
  return { line, end: from + (found < 0 ? to : to + 1) }
}

function bufferOf(bytes: Bytes, from: number, to: number): Buffer {
  const { buffer, byteOffset, length } = readBytes(bytes, from, to)
  return Buffer.from(buffer, byteOffset, length)
}

function httpPart(
  outer: Readonly<Record<string, string>>,
  bytes: Bytes,
  group: string | undefined,
): BatchPart {
  if (!/^application\/http/i.test(outer['content-type'] ?? '')) {
    throw badBatch("a part must have the Content-Type 'application/http'")
  }
  const first = lineAt(bytes, 0)
  const line = first.line.trim()
  const [method = '', url = '', protocol, ...more] = line.split(' ')
  const isHttp = protocol === undefined || /^HTTP\/1\.[01]$/.test(protocol)
  if (url === '' || !isHttp || more.length > 0 || line.length > odataLimits.batchLineLengthMax) {
    throw badBatch(`'${line.slice(0, 60)}' is no request line`)
  }
  const { headers, rest } = readHead(bytes.subarray(first.end, bytes.length))
  const body = withoutBlanks(rest)
  return {
    id: outer['content-id'] ?? headers['content-id'] ?? '',
    group,
    dependsOn: [],
    method: method.toUpperCase(),
    url,
    headers,
    body: body.length === 0 ? undefined : body,
  }
}

/** Blanks that are left out at either end; a body may have more. */
const blanksMax = 4096

function withoutBlanks(bytes: Bytes): Bytes {
  const isBlank = (code: number): boolean => code <= blank
  const first = readBytes(bytes, 0, blanksMax).findIndex((code) => !isBlank(code))
  const from = first < 0 ? Math.min(bytes.length, blanksMax) : first
  const behind = Math.max(from, bytes.length - blanksMax)
  const last = readBytes(bytes, behind).findLastIndex((code) => !isBlank(code))
  return bytes.subarray(from, behind + last + 1)
}

/** `answers` in order. Those of one group are in a part of their own; a refused group is one answer. */
export function writeMultipartBatch(answers: readonly PartAnswer[], boundary: string): string {
  let text = ''
  for (let at = 0; at < answers.length; ) {
    // at < length
    const { part } = answers[at] as PartAnswer
    const { group } = part
    let to = at + 1
    while (group !== undefined && answers[to]?.part.group === group) to++
    const together = answers.slice(at, to)
    // The last one is why the others were taken back.
    const refused = together.findLast(({ answer }) => answer.status >= 400)
    text += `--${boundary}\r\n`
    if (group === undefined || refused !== undefined) {
      text += answerPart(refused ?? { part, answer: (answers[at] as PartAnswer).answer })
    } else {
      const inner = `${boundary}_${at}`
      text += `Content-Type: multipart/mixed; boundary=${inner}\r\n\r\n`
      for (const one of together) text += `--${inner}\r\n${answerPart(one)}`
      text += `--${inner}--\r\n`
    }
    at = to
  }
  return `${text}--${boundary}--\r\n`
}

function answerPart({ part, answer }: PartAnswer): string {
  const { status, headers, body = '' } = answer
  const id = part.id === '' ? '' : `Content-ID: ${part.id.replace(/[\r\n]/g, '')}\r\n`
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `Content-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n${id}\r\nHTTP/1.1 ${status} ${phrases[status] ?? 'Answer'}\r\n${lines.join('')}\r\n${body}\r\n`
}

const phrases: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  204: 'No Content',
  400: 'Bad Request',
  403: 'Forbidden',
  404: 'Not Found',
  409: 'Conflict',
  412: 'Precondition Failed',
  424: 'Failed Dependency',
}
