/** One answer of the server, read completely within a bound. It is not judged here. */

import { isJsonObject } from '#kernel/patch.ts'

/** What is read of headers. Those of the built-in `fetch` are such. */
interface AnswerHeaders extends Iterable<[string, string]> {
  /** The name in any case; `null` when there is none. */
  get(name: string): string | null
  has(name: string): boolean
}

/** An answer whose body is still to be read. */
export interface FetchedAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: AsyncIterable<Uint8Array> | null
}

export interface Answer {
  readonly status: number
  readonly headers: AnswerHeaders
  /** Parsed where it is JSON, text where it is not, `undefined` when empty. */
  readonly body: unknown
  /** The body as it came. */
  readonly text: string
  /** A file, instead of the text. */
  readonly bytes?: Uint8Array
  /** The method of the request, for following a long-running operation. */
  readonly method: string
  readonly url: string
}

/** The answer is larger than the caller allows. */
export class AnswerTooLarge extends Error {
  constructor(bytesMax: number) {
    super(`the answer is larger than ${bytesMax} bytes`)
    this.name = 'AnswerTooLarge'
  }
}

interface AnswerReading {
  readonly bytesMax: number
  parseJson(text: string): unknown
}

export async function readAnswer(
  response: FetchedAnswer,
  method: string,
  url: string,
  { bytesMax, parseJson }: AnswerReading,
): Promise<Answer> {
  const { status, headers } = response
  if (/^application\/pdf\b/i.test(headers.get('content-type') ?? '')) {
    const bytes = await readBytes(response, bytesMax)
    return { status, headers, body: undefined, text: '', bytes, method, url }
  }
  const text = await readText(response, bytesMax)
  return { status, headers, body: parseBody(text, headers, parseJson), text, method, url }
}

async function readText(response: FetchedAnswer, bytesMax: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of chunksOf(response, bytesMax)) {
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

async function readBytes(response: FetchedAnswer, bytesMax: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(response, bytesMax)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

async function* chunksOf({ body }: FetchedAnswer, bytesMax: number): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body ?? []) {
    bytes += chunk.byteLength
    if (bytes > bytesMax) throw new AnswerTooLarge(bytesMax)
    yield chunk
  }
}

function parseBody(
  text: string,
  headers: AnswerHeaders,
  parseJson: AnswerReading['parseJson'],
): unknown {
  if (text === '') return undefined
  if (!/[/+]json\b/i.test(headers.get('content-type') ?? '')) return text
  try {
    return parseJson(text)
  } catch {
    // The server announced JSON and sent something else; the caller sees what it sent.
    return text
  }
}

/** The text under `key`, or `undefined` when there is none. */
export function textOf(value: unknown, key: string): string | undefined {
  const found = isJsonObject(value) ? value[key] : undefined
  return typeof found === 'string' ? found : undefined
}

/**
 * The time the server asks to wait, in milliseconds; `undefined` when it names none. Reads seconds, a date, and the
 * two forms in milliseconds that clients of this family know (client facts 1).
 */
export function readRetryAfter(headers: AnswerHeaders, now: number): number | undefined {
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const value = headers.get(name)
    if (value !== null && /^\d+$/.test(value)) return Number(value)
  }
  const value = headers.get('retry-after')
  if (value === null) return undefined
  if (/^\d+$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
