/**
 * An HTTP client of a Docker API over a unix socket or plain TCP: bounded JSON, streams, uploads, and the
 * connection upgrade of exec and attach. It knows no containers; every failure becomes an `EngineError`.
 */

import http from 'node:http'
import type { Duplex } from 'node:stream'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { failureOfConnection, readAnswer } from '../answer.ts'
import { type Json, textAt } from '../json.ts'
import { failureOf } from './failure.ts'

export type DockerTarget =
  | { readonly kind: 'socket'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }

export function formatTarget(target: DockerTarget): string {
  return target.kind === 'socket' ? `unix://${target.path}` : `tcp://${target.host}:${target.port}`
}

export interface Call {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE'
  /** Docker's API when left out. The other is Podman's own, whose values have types. */
  readonly api?: 'docker' | 'libpod'
  /** Begins with `/`; the version is added in front. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Json
  /** A body of bytes, instead of `body`. */
  readonly upload?: AsyncIterable<Uint8Array>
  readonly headers?: Readonly<Record<string, string>>
  /** Used in error messages: `create the sandbox`. */
  readonly doing: string
  readonly signal?: AbortSignal
  /** How long the engine may send nothing. */
  readonly silentSeconds?: number
  /** What it takes the time of: `question` when left out. */
  readonly kind?: CallKind
  /** The error for an answer that says why it fails; where left out, what the engine says is told. */
  readonly failureOf?: typeof failureOf
}

/**
 * A `question` is answered at once. A `change` takes as long as somebody's program or files want: a stop waits for the program. A
 * `stream` takes as long as its reader or a registry. Each kind has connections of its own, so questions wait for nobody.
 */
type CallKind = 'question' | 'change' | 'stream'

/** Streams are bounded where they are begun: logs by principal, pulls by resource group. */
const connectionsMax: Readonly<Record<CallKind, number>> = {
  question: 64,
  change: 256,
  stream: Number.POSITIVE_INFINITY,
}

/** Docker before 29 speaks 1.41, and so does Podman. A newer engine that does not is used in its oldest version. */
const wantedVersion = 41
/** Podman 4 and 5 speak it. */
const libpodPrefix = '/v4.0.0/libpod'
const silentSecondsDefault = 60
export const noAnswerInTime = 'the engine does not answer in time'

interface Pinged {
  /** The same as long as the same engine answers. */
  readonly engine: string
  /** The version of a Podman. */
  readonly podman?: string
}

export class DockerClient implements AsyncDisposable {
  readonly target: DockerTarget
  readonly #agents: Readonly<Record<CallKind, http.Agent>>
  /** Bare connections, and requests for one: they are no agent's. */
  readonly #bare = new Set<{ destroy(): unknown }>()
  #prefix: Promise<string> | undefined

  constructor(target: DockerTarget) {
    this.target = target
    this.#agents = {
      question: agentFor('question'),
      change: agentFor('change'),
      stream: agentFor('stream'),
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const agent of Object.values(this.#agents)) agent.destroy()
    for (const one of this.#bare) one.destroy()
  }

  /** The answer's JSON; undefined for an empty answer. Statuses 2xx and 304 are success. */
  async json(call: Call): Promise<Json> {
    return readAnswer(await this.stream(call), call.doing)
  }

  /**
   * Which engine answers, and in which version. To answer `/version`, Podman starts programs, and waits for each container whose
   * program holds it.
   */
  async ping(doing: string): Promise<Pinged> {
    const response = await this.stream({ method: 'GET', path: '/_ping', doing })
    response.resume()
    const { server, 'api-version': api, 'libpod-api-version': libpod } = response.headers
    const engine = [server, api, libpod].join(' ')
    return typeof libpod === 'string' ? { engine, podman: libpod } : { engine }
  }

  /** The headers of a HEAD; also those of the answer that nothing is there. */
  async headers(call: Omit<Call, 'method'>): Promise<http.IncomingHttpHeaders> {
    const response = await this.#answerTo({ method: 'HEAD', ...call })
    response.resume()
    const status = response.statusCode ?? 0
    if (status >= 300 && status !== 404) throw failureOf(status, '', call.doing)
    return response.headers
  }

  /** The answer as a stream. The caller must read it to its end or destroy it. */
  async stream(call: Call): Promise<http.IncomingMessage> {
    const response = await this.#answerTo(call)
    const status = response.statusCode ?? 0
    if ((status >= 200 && status < 300) || status === 304) return response
    throw (call.failureOf ?? failureOf)(status, await firstText(response), call.doing)
  }

  async #answerTo(call: Call): Promise<http.IncomingMessage> {
    const prefix = await this.#prefixOf(call)
    const text = call.body === undefined ? undefined : JSON.stringify(call.body)
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
    const request = http.request(
      {
        ...this.#address(),
        agent: this.#agents[call.kind ?? 'question'],
        method: call.method,
        path: `${prefix}${call.path}${search(call.query)}`,
        headers: { ...contentOf(text, call), ...call.headers },
        timeout: (call.silentSeconds ?? silentSecondsDefault) * 1000,
        ...(call.signal === undefined ? {} : { signal: call.signal }),
      },
      resolve,
    )
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error(noAnswerInTime)))
    if (call.upload === undefined) request.end(text)
    // A failed upload appears as the request's own error; the answer has the details.
    else pipeline(Readable.from(call.upload), request).catch(reject)
    try {
      return await promise
    } catch (cause) {
      throw failureOfConnection(cause, call.doing)
    }
  }

  /** Requests the bare connection (exec, attach). The caller owns what it carries. */
  async upgrade(call: Call): Promise<{ readonly socket: Duplex; readonly head: Buffer }> {
    const prefix = await this.#version()
    const text = JSON.stringify(call.body ?? {})
    const { promise, resolve, reject } = Promise.withResolvers<{ socket: Duplex; head: Buffer }>()
    const request = http.request({
      ...this.#address(),
      agent: false,
      method: call.method,
      path: `${prefix}${call.path}${search(call.query)}`,
      headers: { ...contentOf(text, call), connection: 'Upgrade', upgrade: 'tcp' },
      timeout: silentSecondsDefault * 1000,
    })
    this.#keep(request)
    request.on('upgrade', (_response, socket, head) => {
      this.#keep(socket)
      socket.setTimeout(0)
      // Whoever reads gets the error. Until somebody does, it must not end the process.
      socket.on('error', () => {})
      resolve({ socket, head })
    })
    request.on('response', (response) => {
      firstText(response).then(
        (body) => reject(failureOf(response.statusCode ?? 0, body, call.doing)),
        reject,
      )
    })
    request.on('error', reject)
    request.on('timeout', () => request.destroy(new Error(noAnswerInTime)))
    request.end(text)
    try {
      return await promise
    } catch (cause) {
      throw failureOfConnection(cause, call.doing)
    }
  }

  #keep(one: http.ClientRequest | Duplex): void {
    this.#bare.add(one)
    one.on('close', () => this.#bare.delete(one))
  }

  #address(): http.RequestOptions {
    return this.target.kind === 'socket'
      ? { socketPath: this.target.path }
      : { host: this.target.host, port: this.target.port }
  }

  async #prefixOf({ api, path }: Call): Promise<string> {
    if (path === '/version' || path === '/_ping') return ''
    return api === 'libpod' ? libpodPrefix : await this.#version()
  }

  #version(): Promise<string> {
    // Only a success is remembered, so that an engine that starts later is found.
    this.#prefix ??= this.#findVersion()
    this.#prefix.catch(() => {
      this.#prefix = undefined
    })
    return this.#prefix
  }

  async #findVersion(): Promise<string> {
    const doing = 'ask for the version'
    if ((await this.ping(doing)).podman !== undefined) return `/v1.${wantedVersion}`
    const version = await this.json({ method: 'GET', path: '/version', doing })
    const oldest = /^1\.(\d+)$/.exec(textAt(version, 'MinAPIVersion'))?.[1]
    return `/v1.${Math.max(wantedVersion, Number(oldest ?? wantedVersion))}`
  }
}

function agentFor(kind: CallKind): http.Agent {
  return new http.Agent({ keepAlive: true, maxSockets: connectionsMax[kind] })
}

function contentOf(text: string | undefined, call: Call): Record<string, string | number> {
  const host = { host: 'engine' }
  if (text !== undefined) {
    const length = Buffer.byteLength(text)
    return { ...host, 'content-type': 'application/json', 'content-length': length }
  }
  if (call.upload !== undefined) return { ...host, 'content-type': 'application/x-tar' }
  return call.method === 'GET' || call.method === 'HEAD' ? host : { ...host, 'content-length': 0 }
}

function search(query: Readonly<Record<string, string>> | undefined): string {
  return query === undefined ? '' : `?${new URLSearchParams(query)}`
}

const errorBytesMax = 64 * 1024

async function firstText(response: http.IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length > errorBytesMax) break
  }
  return text
}
