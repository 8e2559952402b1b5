/**
 * Two replicas on one PostgreSQL database behind a balancer that sends requests, and connections of web sockets, to
 * each in turn. State that a replica keeps to itself shows.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { startPostgres } from '../../src/stores/testing/postgres-server.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

/**
 * Starts the first replica, whose home knows that it is reached through the balancer. The balancer removes `path`
 * from addresses.
 */
export async function startBalanced(
  environment: Readonly<Record<string, string>>,
  path = '',
): Promise<Installation> {
  await using started = new AsyncDisposableStack()
  const server = started.use(await startPostgres({ fsync: false }))
  const store = await server.createDatabase()
  const homes = [freshHome(), freshHome()] as const
  started.defer(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })
  const turns: string[] = []
  const url = `${await balance({ started, turns, path })}${path}`
  const shared = {
    ARMATURE_PUBLIC_URL: url,
    ARMATURE_SHARE_ROOT: folder(homes[0], 'storage'),
    ARMATURE_SHARE_DATABASES: folder(homes[0], 'databases'),
    ...environment,
  }
  const first = started.use(await startInstallation({ store, home: homes[0], environment: shared }))
  const key = readFileSync(join(homes[0], 'installation.key'), 'utf8')
  const second = started.use(
    await startInstallation({ store, home: homes[1], key, environment: shared }),
  )
  turns.push(first.url, second.url)
  const runningPath = join(homes[0], 'running.json')
  const running = JSON.parse(readFileSync(runningPath, 'utf8'))
  writeFileSync(runningPath, JSON.stringify({ ...running, localUrl: url }))
  const kept = started.move()
  return { ...first, url, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

function folder(home: string, name: string): string {
  const path = join(home, name)
  mkdirSync(path)
  return path
}

interface Balancing {
  readonly started: AsyncDisposableStack
  /** Addresses of the replicas, filled in later. */
  readonly turns: readonly string[]
  readonly path: string
}

/** Returns the balancer's address, without the path. */
async function balance({ started, turns, path }: Balancing): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  let count = 0
  const targetOf = ({ url = '/' }: IncomingMessage): URL | undefined => {
    if (!url.startsWith(`${path}/`)) return undefined
    count += 1
    return new URL(url.slice(path.length), turns[count % turns.length])
  }
  const balancer = createServer((request, response) => {
    const { method, headers } = request
    const target = targetOf(request)
    if (target === undefined) {
      response.writeHead(404).end()
      return
    }
    const onward = httpRequest(target, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    // A streamed answer, such as the stream of changes, ends when the listener has gone.
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  })
  balancer.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    const target = targetOf(request)
    if (target === undefined) return socket.destroy()
    const onward = connect(Number(target.port), target.hostname, () => {
      const lines = [`GET ${target.pathname} HTTP/1.1`]
      for (let at = 0; at < request.rawHeaders.length; at += 2) {
        lines.push(`${request.rawHeaders[at]}: ${request.rawHeaders[at + 1]}`)
      }
      onward.write(`${lines.join('\r\n')}\r\n\r\n`)
      onward.write(head)
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  await new Promise<void>((listening) => balancer.listen(0, '127.0.0.1', listening))
  started.defer(() => {
    balancer.close()
    balancer.closeAllConnections()
    agent.destroy()
  })
  // Listening on a port, the address is no text.
  const { port } = balancer.address() as AddressInfo
  return `http://127.0.0.1:${port}`
}
