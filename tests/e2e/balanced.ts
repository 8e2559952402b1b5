/**
 * Two replicas on one PostgreSQL database behind a balancer that gives every request to the other one. Whatever a
 * replica keeps to itself shows. Not for WebSockets, which have to stay with one.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { startPostgres } from '../../src/stores/testing/postgres-server.ts'
import { freshHome, type Installation, startInstallation } from './installation.ts'

/** The first replica, whose home says that it is reached by way of the balancer. */
export async function startBalanced(
  environment: Readonly<Record<string, string>>,
): Promise<Installation> {
  await using started = new AsyncDisposableStack()
  const server = started.use(await startPostgres({ fsync: false }))
  const store = await server.createDatabase()
  const homes = [freshHome(), freshHome()] as const
  started.defer(() => {
    for (const home of homes) rmSync(home, { recursive: true, force: true })
  })
  const turns: string[] = []
  const url = await balance(started, turns)
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

/** Its address. Every request goes to the next of `turns`, which may be filled later. */
async function balance(started: AsyncDisposableStack, turns: readonly string[]): Promise<string> {
  const agent = new Agent({ keepAlive: true })
  let count = 0
  const balancer = createServer((request, response) => {
    const { method, headers } = request
    const target = new URL(request.url ?? '/', turns[count % turns.length])
    count += 1
    const onward = httpRequest(target, { method, headers, agent }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(response)
    })
    onward.on('error', () => response.destroy())
    request.pipe(onward)
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
