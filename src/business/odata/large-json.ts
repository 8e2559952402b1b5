/**
 * Reads a large JSON object in steps: its long lists and objects stay bytes, and are parsed element by element when
 * they are used. So a body of any size takes little more memory than its bytes, or next to none where they are in a file, and
 * no step of it takes long.
 */

import { isUtf8 } from 'node:buffer'
import { closingQuote } from '#kernel/json-size.ts'
import { type Bytes, readBytes } from '#kernel/stored-bytes.ts'
import { nextTurn } from '#stores/next-turn.ts'
import type { BusinessRequest } from '../message.ts'
import { odataLimits } from './limits.ts'
import {
  isLargeJson,
  jsonBytesMax,
  notJson,
  type ParsedRequest,
  parseJson,
  tooLong,
  unreadable,
} from './request.ts'

/** Lists and objects up to this size are parsed with the object they are in. */
const smallMax = 16 * 1024
/** The bytes looked through between two pauses; some milliseconds. */
const bytesAtOnce = 128 * 1024
/** Long lists and objects in one object. A document has one: its lines. */
const longValuesMax = 16
/** Elements of all long lists of a body, or of all bodies of a change set. */
const elementsMax = 2 * odataLimits.nestedLinesMax

const [quote, comma] = [0x22, 0x2c]
const [openList, closeList, openObject, closeObject] = [0x5b, 0x5d, 0x7b, 0x7d]

type JsonObject = Readonly<Record<string, unknown>>

/** The bytes of a list or of an object that is not parsed yet. */
export class JsonChunk {
  readonly bytes: Bytes

  constructor(bytes: Bytes) {
    this.bytes = bytes
  }

  /** Undefined: it is no list. Of a list with more than `most` elements, one more than that. */
  async elements(most: number): Promise<JsonList | undefined> {
    const { bytes } = this
    if (readBytes(bytes, 0, 1)[0] !== openList) return undefined
    const ends: number[] = []
    const steps = walk(bytes, ({ at, code, depth }) => {
      if (depth === 1 && (code === comma || code === closeList)) ends.push(at)
      return ends.length <= most
    })
    await inTurns(steps)
    if (ends.length <= most && ends.at(-1) !== bytes.length - 1) throw notJson()
    return new JsonList(bytes, ends)
  }
}

/** The elements of a list, each parsed when it is its turn. */
export class JsonList implements Iterable<unknown> {
  readonly #bytes: Bytes
  /** The place behind each element. */
  readonly #ends: readonly number[]

  constructor(bytes: Bytes, ends: readonly number[]) {
    this.#bytes = bytes
    this.#ends = ends
  }

  get length(): number {
    return this.#ends.length
  }

  *[Symbol.iterator](): Iterator<unknown> {
    for (const text of this.texts()) yield parseJson(text)
  }

  *texts(): Iterable<Bytes> {
    let from = 1
    for (const end of this.#ends) {
      yield this.#bytes.subarray(from, end)
      from = end + 1
    }
  }
}

/** The request with its body, if that is large. */
export async function withLargeBody(
  parsed: ParsedRequest,
  request: BusinessRequest,
): Promise<ParsedRequest> {
  if (!('path' in parsed) || parsed.kind === 'action') return parsed
  const body = request.json ?? (await largeBodyOf(request))
  return body === undefined ? parsed : { ...parsed, body }
}

/** How many elements of long lists there is room for. */
interface ListRoom {
  left: number
}

export function createListRoom(): ListRoom {
  return { left: elementsMax }
}

/** The body of a write, if it is large. Its long lists are `JsonList`s with at most one element too many. */
export async function largeBodyOf(
  { method, body }: Pick<BusinessRequest, 'method' | 'body'>,
  room = createListRoom(),
): Promise<JsonObject | undefined> {
  if (body === undefined || method === 'DELETE' || !isLargeJson(body)) return undefined
  const entries: [string, unknown][] = []
  for (const [name, value] of Object.entries(await readLargeObject(body))) {
    entries.push([name, value instanceof JsonChunk ? await listOf(value, room) : value])
  }
  return Object.fromEntries(entries)
}

async function listOf(piece: JsonChunk, room: ListRoom): Promise<JsonList | JsonChunk> {
  const { nestedLinesMax } = odataLimits
  const list = await piece.elements(Math.min(nestedLinesMax, room.left))
  if (list === undefined) return piece
  // It is whole, or longer than any list may be.
  if (list.length > room.left) {
    throw unreadable(`at most ${elementsMax} elements in all long lists together`)
  }
  room.left -= list.length
  return list
}

/** JSON of any size; long lists and objects in a large object are `JsonChunk`s. */
export async function readAnyJson(bytes: Bytes): Promise<unknown> {
  return isLargeJson(bytes) ? await readLargeObject(bytes) : parseJson(bytes)
}

/** A long value and its name, as places in the bytes of its object. */
interface Cut {
  readonly name: readonly [from: number, to: number]
  readonly from: number
  readonly to: number
}

async function readLargeObject(bytes: Bytes): Promise<JsonObject> {
  if (!(await isText(bytes))) throw notJson()
  const cuts: Cut[] = []
  let name: Cut['name'] = [0, 0]
  let from = 0
  const steps = walk(bytes, ({ at, end, code, depth }) => {
    // The last string before a list or an object is its name.
    if (depth === 1 && code === quote) name = [at, end]
    else if (depth === 2 && (code === openList || code === openObject)) from = at
    else if (depth === 2 && isClosing(code) && end - from > smallMax) {
      cuts.push({ name, from, to: end })
      if (cuts.length > longValuesMax) {
        throw unreadable(`at most ${longValuesMax} long lists and objects in one object`)
      }
    }
    return true
  })
  await inTurns(steps)
  return withCuts(bytes, cuts)
}

/** Whether the bytes are UTF-8. */
async function isText(bytes: Bytes): Promise<boolean> {
  const space = spaceFor(bytes, bytesAtOnce)
  for (let from = 0; from < bytes.length; ) {
    await nextTurn()
    const read = readBytes(bytes, from, from + bytesAtOnce, space)
    const isLast = from + read.length === bytes.length
    const length = isLast ? read.length : wholeCharacters(read)
    if (length === 0 || !isUtf8(read.subarray(0, length))) return false
    from += length
  }
  return true
}

/** Without the last character, which may go on behind the bytes; 0 where there is no such place in UTF-8. */
function wholeCharacters(bytes: Uint8Array): number {
  const first = Math.max(0, bytes.length - 4)
  for (let at = bytes.length - 1; at >= first; at--) {
    if (((bytes[at] ?? 0) & 0xc0) !== 0x80) return at
  }
  return 0
}

/** Where bytes of a file are read to, again and again. */
function spaceFor(bytes: Bytes, length: number): Uint8Array | undefined {
  return bytes instanceof Uint8Array ? undefined : Buffer.allocUnsafeSlow(length)
}

function withCuts(bytes: Bytes, cuts: readonly Cut[]): JsonObject {
  const rest: Bytes[] = []
  let behind = 0
  for (const { from, to } of cuts) {
    rest.push(bytes.subarray(behind, from), Buffer.from('null'))
    behind = to
  }
  rest.push(bytes.subarray(behind, bytes.length))
  if (rest.reduce((sum, { length }) => sum + length, 0) > jsonBytesMax) throw tooLong()
  const object = parseJson(Buffer.concat(rest.map((one) => readBytes(one))))
  if (typeof object !== 'object' || object === null || Array.isArray(object)) {
    throw unreadable('a JSON object was expected')
  }
  const entries = new Map<string, unknown>(Object.entries(object))
  for (const { name, from, to } of cuts) {
    const key = String(JSON.parse(Buffer.from(readBytes(bytes, ...name)).toString()))
    // Of duplicate names the last one counts.
    if (entries.get(key) === null) entries.set(key, new JsonChunk(bytes.subarray(from, to)))
  }
  return Object.fromEntries(entries)
}

/** A string, or a sign of the structure. An opening and a closing one are at the depth of what they enclose. */
interface Sign {
  readonly at: number
  readonly end: number
  readonly code: number
  readonly depth: number
}

/** Visits the signs of the first two levels until `visit` says no. Yields where the work may pause. */
function* walk(bytes: Bytes, visit: (sign: Sign) => boolean): Generator<void> {
  let depth = 0
  // A string that begins in the step ends in what is read with it, or is too long.
  const readAtOnce = bytesAtOnce + jsonBytesMax
  const space = spaceFor(bytes, readAtOnce)
  for (let from = 0, at = 0; from < bytes.length; ) {
    const read = readBytes(bytes, from, from + readAtOnce, space)
    const stepEnd = Math.min(bytesAtOnce, read.length)
    for (; at < stepEnd; at++) {
      const start = at
      const code = read[at] ?? 0
      if (code === quote) {
        const limit = Math.min(read.length, at + jsonBytesMax)
        at = closingQuote(read, at, limit)
        if (at < 0) throw from + limit === bytes.length ? notJson() : tooLong()
      } else if (code === openList || code === openObject) depth++
      else if (code !== comma && !isClosing(code)) continue
      if (depth <= 2 && !visit({ at: from + start, end: from + at + 1, code, depth })) return
      if (isClosing(code)) depth--
    }
    from += at
    at = 0
    if (from < bytes.length) yield
  }
}

/** Begins with a pause, so that many short ones are no long one. */
async function inTurns(steps: Iterable<void>): Promise<void> {
  await nextTurn()
  for (const _ of steps) await nextTurn()
}

function isClosing(code: number): boolean {
  return code === closeList || code === closeObject
}
