/**
 * Plays the part of a Kubernetes API server that the engine speaks with: a real HTTP server with objects,
 * versions, watches, graceful deletion and logs, and a played node behind it. What it says is written after the
 * API's documentation, never recorded from a cluster. It is no proof that a cluster does the same.
 */

import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import type { Clock } from '#kernel/ports.ts'
import { at, type Json, listAt, numberAt, parseJson, textAt } from '../../json.ts'
import type { KubernetesTarget } from '../client.ts'
import { playExec } from './exec-double.ts'
import { Kubelet, statuses } from './kubelet.ts'
import { type ClusterObject, isSelected, Objects, Refusal } from './objects.ts'
import { checkObject } from './validation.ts'

export interface RecordedCall {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly body: Json
  /** Whether only metadata was requested. */
  readonly bare: boolean
}

const collections = ['pods', 'secrets', 'services']
const namespace = 'groups'
const token = 'let-me-in'
const nodePortMin = 30_000
const nodePortMax = 32_767

export class ApiDouble implements AsyncDisposable {
  readonly objects: Objects
  readonly kubelet: Kubelet
  /** All requests, in order. */
  readonly calls: RecordedCall[] = []
  /** A switch: admission changes the spec of a new Pod. */
  admission: (podSpec: Json) => Json = (podSpec) => podSpec
  /** A switch: load balancers get no address. */
  balancersWait = false
  readonly #server: http.Server
  readonly #watches = new Set<http.ServerResponse>()
  readonly #sockets = new Set<Duplex>()
  #balancers = 0

  private constructor(clock: Clock, msPerSecond: number) {
    this.objects = new Objects(clock)
    this.kubelet = new Kubelet(this.objects, clock, msPerSecond)
    this.#server = http.createServer((request, response) => {
      this.#answer(request, response).catch((error) => {
        const refusal =
          error instanceof Refusal ? error : new Refusal(500, 'InternalError', String(error))
        const { code, reason, message } = refusal
        send(response, code, { kind: 'Status', status: 'Failure', message, reason, code })
      })
    })
  }

  #upgrade(request: http.IncomingMessage, socket: Duplex): void {
    const url = new URL(request.url ?? '/', 'http://double')
    const query = Object.fromEntries(url.searchParams)
    this.calls.push({ method: 'GET', path: url.pathname, query, body: undefined, bare: false })
    const pod = this.objects.find('pods', url.pathname.split('/').at(-2) ?? '')
    const allowed = request.headers.authorization === `Bearer ${token}`
    this.#sockets.add(socket)
    socket.on('close', () => this.#sockets.delete(socket))
    // Closing a session early cuts the connection.
    socket.on('error', () => {})
    if (allowed && pod !== undefined) playExec(request, socket).catch(() => socket.destroy())
    else {
      const [code, reason] = allowed ? [404, 'NotFound'] : [401, 'Unauthorized']
      const text = JSON.stringify({ kind: 'Status', message: 'no exec here', reason, code })
      socket.end(`HTTP/1.1 ${code} No\r\nContent-Length: ${text.length}\r\n\r\n${text}`)
    }
  }

  static async open(clock: Clock, msPerSecond: number): Promise<ApiDouble> {
    const double = new ApiDouble(clock, msPerSecond)
    double.#server.on('upgrade', (request, socket) => double.#upgrade(request, socket))
    double.#server.listen(0, '127.0.0.1')
    await once(double.#server, 'listening')
    return double
  }

  get target(): KubernetesTarget {
    // A server that listens on a port has an address of this kind.
    const { port } = this.#server.address() as AddressInfo
    return { server: `http://127.0.0.1:${port}`, namespace, token }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.kubelet.close()
    this.#server.close()
    this.#server.closeAllConnections()
    this.cutSessions()
    await once(this.#server, 'close')
  }

  /** A switch: the server ends every watch, as it does now and then. */
  endWatches(): void {
    for (const response of this.#watches) response.end()
  }

  /** A switch: the network loses the connections of all sessions. */
  cutSessions(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://double')
    const query = Object.fromEntries(url.searchParams)
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const { method = 'GET' } = request
    const body = parseJson(text)
    const bare = request.headers.accept?.includes('as=PartialObjectMetadataList') === true
    this.calls.push({ method, path: url.pathname, query, body, bare })
    if (request.headers.authorization !== `Bearer ${token}`) {
      throw new Refusal(401, 'Unauthorized', 'Unauthorized')
    }
    if (url.pathname === '/version') return send(response, 200, { gitVersion: 'v0.0.0-double' })
    const match = /^\/api\/v1\/namespaces\/([^/]+)\/([^/]+)(?:\/([^/]+))?(?:\/(log))?$/.exec(
      url.pathname,
    )
    const [, place, collection = '', name, log] = match ?? []
    if (place !== namespace || !collections.includes(collection)) {
      throw new Refusal(404, 'NotFound', 'the server could not find the requested resource')
    }
    if (log !== undefined) return this.#log(this.objects.get('pods', name ?? ''), query, response)
    if (name === undefined && method === 'GET') {
      if (query['watch'] !== undefined) return this.#watch(collection, query, response)
      return send(response, 200, this.#list(collection, query, bare))
    }
    if (method === 'POST') {
      return send(response, 201, this.#create(collection, checkObject(collection, body)))
    }
    const found = this.objects.get(collection, name ?? '')
    if (method === 'GET') return send(response, 200, found)
    if (method === 'PUT' && collection === 'secrets') {
      const replaced = this.objects.replace(collection, checkObject(collection, body))
      return send(response, 200, replaced)
    }
    if (method !== 'DELETE') throw new Refusal(405, 'MethodNotAllowed', `no ${method} here`)
    send(response, 200, this.#delete(collection, found, body))
  }

  #list(collection: string, query: Readonly<Record<string, string>>, bare: boolean): Json {
    const items = this.objects
      .list(collection)
      .filter((each) => isSelected(each, query['labelSelector'] ?? ''))
      .map(({ spec, data, status, ...rest }) => (bare ? rest : { ...rest, spec, data, status }))
    return { kind: 'List', metadata: { resourceVersion: String(this.objects.version) }, items }
  }

  #create(collection: string, thing: ClusterObject): ClusterObject {
    if (collection === 'services') this.#giveAddress(thing)
    if (collection === 'pods') thing.spec = this.admission(thing.spec)
    const made = this.objects.create(collection, thing)
    if (collection === 'pods') this.kubelet.admit(made)
    return made
  }

  #giveAddress(service: ClusterObject): void {
    if (textAt(service.spec, 'type') === 'LoadBalancer') {
      this.#balancers += 1
      const ingress = this.balancersWait ? [] : [{ ip: `198.51.100.${this.#balancers % 250}` }]
      service.status = { loadBalancer: { ingress } }
      return
    }
    const taken = new Set(
      this.objects
        .list('services')
        .flatMap((each) => listAt(each.spec, 'ports').map((port) => numberAt(port, 'nodePort'))),
    )
    const ports = listAt(service.spec, 'ports').map((port) => {
      let nodePort = numberAt(port, 'nodePort')
      if (taken.has(nodePort)) {
        const given = `spec.ports[0].nodePort: Invalid value: ${nodePort}`
        throw new Refusal(422, 'Invalid', `${given}: provided port is already allocated`)
      }
      for (let free = nodePortMin; nodePort === 0 && free <= nodePortMax; free++) {
        if (!taken.has(free)) nodePort = free
      }
      taken.add(nodePort)
      return { ...Object.fromEntries(Object.entries(port ?? {})), nodePort }
    })
    service.spec = { ...Object.fromEntries(Object.entries(service.spec ?? {})), ports }
  }

  #delete(collection: string, found: ClusterObject, body: Json): ClusterObject {
    const uid = textAt(body, 'preconditions', 'uid')
    if (uid !== '' && uid !== found.metadata.uid) {
      throw new Refusal(409, 'Conflict', 'the UID in the precondition does not match')
    }
    const given = at(body, 'gracePeriodSeconds')
    const grace = typeof given === 'number' ? given : 30
    if (collection !== 'pods' || grace === 0) {
      this.objects.remove(collection, found)
      return found
    }
    const before = found.metadata.deletionGracePeriodSeconds
    // A second deletion can only shorten the first.
    if (before !== undefined && before <= grace) return found
    found.metadata.deletionTimestamp = this.objects.now()
    found.metadata.deletionGracePeriodSeconds = grace
    this.objects.changed(collection, found)
    this.kubelet.end(found, grace)
    return found
  }

  #watch(
    collection: string,
    query: Readonly<Record<string, string>>,
    response: http.ServerResponse,
  ): void {
    response.writeHead(200, { 'content-type': 'application/json' })
    const stop = this.objects.watch(Number(query['resourceVersion']), (news) => {
      if (news.collection !== collection) return
      if (!isSelected(news.object, query['labelSelector'] ?? '')) return
      response.write(`${JSON.stringify({ type: news.type, object: news.object })}\n`)
    })
    if (stop === undefined) {
      const message = 'too old resource version'
      const object = { kind: 'Status', message, reason: 'Expired', code: 410 }
      response.end(`${JSON.stringify({ type: 'ERROR', object })}\n`)
      return
    }
    response.flushHeaders()
    this.#watches.add(response)
    response.on('close', () => {
      stop()
      this.#watches.delete(response)
    })
  }

  #log(
    pod: ClusterObject,
    query: Readonly<Record<string, string>>,
    response: http.ServerResponse,
  ): void {
    const container = query['container'] ?? ''
    const status = statuses(pod).find((each) => each.name === container)
    const place = `container "${container}" in pod "${pod.metadata.name}"`
    if (status === undefined) {
      throw new Refusal(400, 'BadRequest', `container ${container} is not valid for the pod`)
    }
    if (status.state.waiting !== undefined && status.lastState.terminated === undefined) {
      const reason = status.state.waiting.reason
      throw new Refusal(400, 'BadRequest', `${place} is waiting to start: ${reason}`)
    }
    const run = this.kubelet.run(pod, container)
    const since = Date.parse(query['sinceTime'] ?? '1970-01-01T00:00:00Z')
    const tail = query['tailLines'] === undefined ? undefined : Number(query['tailLines'])
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.flushHeaders()
    let written = tail === undefined ? 0 : Math.max(0, run.lines.length - tail)
    const write = () => {
      for (const { at: time, text } of run.lines.slice(written)) {
        const stamp = query['timestamps'] === 'true' ? `${new Date(time).toISOString()} ` : ''
        if (time >= since) response.write(`${stamp}${text}\n`)
      }
      written = run.lines.length
      if (query['follow'] !== 'true' || status.state.running === undefined) response.end()
    }
    run.followers.add(write)
    response.on('close', () => run.followers.delete(write))
    write()
  }
}

function send(response: http.ServerResponse, status: number, body: Json): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(text)
}
