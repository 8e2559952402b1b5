/**
 * An HTTP client of a Kubernetes API server: bounded JSON and streams, with a token or a client certificate. It
 * knows no Pods; every failure becomes an `EngineError`.
 */

import { readFile } from 'node:fs/promises'
import http from 'node:http'
import https from 'node:https'
import type { Readable } from 'node:stream'
import { type ClientOptions, createWebSocketStream, WebSocket } from 'ws'
import { tlsOutward } from '#outbound/tls.ts'
import { failureOfConnection, readAnswer } from '../answer.ts'
import { EngineError } from '../engine.ts'
import type { Json } from '../json.ts'
import { failureOf } from './failure.ts'

/** The address of an API server and the credentials for it. Certificates and keys are PEM texts. */
export interface KubernetesTarget {
  /** `https://host:port`, with a path before the API if a proxy needs one. */
  readonly server: string
  /** The namespace of everything that is created. It must exist. */
  readonly namespace: string
  /** The authority of the server's certificate; Node's authorities when left out. */
  readonly caCertificate?: string
  readonly token?: string
  /** Instead of `token`: read again for every call, since a cluster changes it every hour. */
  readonly tokenFile?: string
  readonly clientCertificate?: string
  readonly clientKey?: string
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The path after the server's own address. */
  readonly path: string
  /** Pairs, when a name occurs more than once. */
  readonly query?: Readonly<Record<string, string>> | readonly [string, string][]
  readonly body?: Json
  /** Requests only names, labels and annotations of listed objects, so that no secret is transferred. */
  readonly metadataOnly?: boolean
  /** Used in error messages: `create the pod`. */
  readonly doing: string
  readonly signal?: AbortSignal
  /** How long the server may send nothing; 0 means for ever. */
  readonly silentSeconds?: number
}

interface OpenWebSocket {
  readonly socket: WebSocket
  /** Whole messages. While nobody reads, the connection waits. */
  readonly messages: Readable
}

const silentSecondsDefault = 60
const connectionsMax = 64
const errorCharactersMax = 64 * 1024
/** The largest message of a web socket. */
const messageBytesMax = 16 * 1024 * 1024
const partialList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1'

export class KubernetesClient implements AsyncDisposable {
  readonly target: KubernetesTarget
  readonly #agent: http.Agent
  /** For what has no end of its own, so that nobody's logs and sessions keep the other calls waiting. */
  readonly #endless: http.Agent
  readonly #closed = new AbortController()

  /** `refused` for an invalid server address. */
  constructor(target: KubernetesTarget) {
    if (!URL.canParse(target.server) || !/^https?:/.test(target.server)) {
      throw new EngineError('refused', `'${target.server}' is not the address of an API server`)
    }
    this.target = target
    const secure = target.server.startsWith('https:') ? tlsOptions(target) : undefined
    const agent = (options: http.AgentOptions): http.Agent =>
      secure === undefined ? new http.Agent(options) : new https.Agent({ ...options, ...secure })
    this.#agent = agent({ keepAlive: true, maxSockets: connectionsMax })
    this.#endless = agent({ keepAlive: false })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed.abort(new Error('the engine was closed'))
    this.#agent.destroy()
    this.#endless.destroy()
  }

  /** The path of a kind of object in the namespace, of one object, or of a part of it. */
  path(kind: 'pods' | 'secrets' | 'services', ...more: readonly string[]): string {
    const names = [this.target.namespace, kind, ...more].map(encodeURIComponent)
    return `/api/v1/namespaces/${names.join('/')}`
  }

  async json(call: Call): Promise<Json> {
    return readAnswer(await this.stream(call), call.doing)
  }

  /** The answer as a stream. The caller must read it to its end or destroy it. */
  async stream(call: Call): Promise<http.IncomingMessage> {
    try {
      const response = await this.#ask(call)
      const status = response.statusCode ?? 0
      if (status >= 200 && status < 300) return response
      throw failureOf(status, await firstText(response), call.doing)
    } catch (cause) {
      throw failureOfConnection(cause, call.doing)
    }
  }

  /** Opens a web socket. The caller owns what it carries, and its end. */
  async webSocket(call: Call & { readonly protocols: readonly string[] }): Promise<OpenWebSocket> {
    try {
      const url = this.#url(call)
      url.protocol = url.protocol.replace('http', 'ws')
      const options: ClientOptions & http.RequestOptions = {
        agent: this.#endless,
        headers: await this.#headers(),
        handshakeTimeout: silentMilliseconds(call),
        signal: this.#signalOf(call),
        perMessageDeflate: false,
        maxPayload: messageBytesMax,
      }
      const socket = new WebSocket(url, [...call.protocols], options)
      const { promise, resolve, reject } = Promise.withResolvers<OpenWebSocket>()
      socket.on('open', () => {
        const messages = createWebSocketStream(socket, { readableObjectMode: true })
        // The reader gets the error.
        messages.on('error', () => {})
        resolve({ socket, messages })
      })
      socket.on('unexpected-response', (request, response) => {
        firstText(response)
          .then((text) => reject(failureOf(response.statusCode ?? 0, text, call.doing)), reject)
          .finally(() => request.destroy())
      })
      socket.on('error', reject)
      return await promise
    } catch (cause) {
      throw failureOfConnection(cause, call.doing)
    }
  }

  async #ask(call: Call): Promise<http.IncomingMessage> {
    const body = call.body === undefined ? undefined : JSON.stringify(call.body)
    const request = await this.#request(call, {
      accept: call.metadataOnly === true ? partialList : 'application/json, */*',
      ...(body === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    })
    const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>()
    request.on('response', resolve)
    request.on('error', reject)
    request.end(body)
    return await promise
  }

  /** A request with the address, credentials and bounds of every call, not sent yet. */
  async #request(call: Call, headers: http.OutgoingHttpHeaders): Promise<http.ClientRequest> {
    const url = this.#url(call)
    const request = (url.protocol === 'https:' ? https : http).request(url, {
      agent: call.silentSeconds === 0 ? this.#endless : this.#agent,
      method: call.method,
      headers: { ...(await this.#headers()), ...headers },
      timeout: silentMilliseconds(call),
      signal: this.#signalOf(call),
    })
    request.on('timeout', () => request.destroy(new Error('the server does not answer in time')))
    return request
  }

  #url(call: Call): URL {
    const { server } = this.target
    const url = new URL(`.${call.path}`, server.endsWith('/') ? server : `${server}/`)
    url.search = new URLSearchParams(call.query).toString()
    return url
  }

  /** The headers of every call. */
  async #headers(): Promise<Record<string, string>> {
    const token = await this.#token()
    return {
      'user-agent': 'armature',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    }
  }

  #signalOf({ signal }: Call): AbortSignal {
    return AbortSignal.any([this.#closed.signal, ...(signal === undefined ? [] : [signal])])
  }

  async #token(): Promise<string | undefined> {
    const { token, tokenFile } = this.target
    return tokenFile === undefined ? token : (await readFile(tokenFile, 'utf8')).trim()
  }
}

function tlsOptions({
  caCertificate,
  clientCertificate,
  clientKey,
}: KubernetesTarget): https.AgentOptions {
  return {
    ...tlsOutward,
    ...(caCertificate === undefined ? {} : { ca: caCertificate }),
    ...(clientCertificate === undefined ? {} : { cert: clientCertificate }),
    ...(clientKey === undefined ? {} : { key: clientKey }),
  }
}

function silentMilliseconds({ silentSeconds = silentSecondsDefault }: Call): number {
  return silentSeconds * 1000
}

async function firstText(response: http.IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) {
    text += String(chunk)
    if (text.length > errorCharactersMax) break
  }
  return text
}
