/**
 * What a server under test holds in memory once its garbage is collected. Resident memory alone says nothing: the engine
 * keeps garbage as long as the machine has room. Start the server with `inspected` in its environment.
 */

import type { Installation } from './installation.ts'

export const inspected = { NODE_OPTIONS: '--inspect=127.0.0.1:0' }

export interface CollectedMemory {
  /** Objects of JavaScript, and what belongs to them: buffers and rows that a statement of SQLite holds. */
  readonly held: number
  readonly resident: number
}

export async function collectedMemory(server: Installation): Promise<CollectedMemory> {
  const address = /ws:\/\/\S+/.exec(server.log())?.[0]
  if (address === undefined) throw new Error('the server was not started with `inspected`')
  const socket = new WebSocket(address)
  try {
    await once(socket, 'open')
    // It also gives pages back to the system.
    await call(socket, 'HeapProfiler.collectGarbage')
    const expression = 'JSON.stringify(process.memoryUsage())'
    const { result } = (await call(socket, 'Runtime.evaluate', { expression })) as {
      readonly result: { readonly value: string }
    }
    const { heapUsed, external, rss } = JSON.parse(result.value) as NodeJS.MemoryUsage
    return { held: heapUsed + external, resident: rss }
  } finally {
    socket.close()
  }
}

async function call(socket: WebSocket, method: string, params: object = {}): Promise<unknown> {
  const answered = once(socket, 'message')
  socket.send(JSON.stringify({ id: 1, method, params }))
  const { result, error } = JSON.parse(String(((await answered) as MessageEvent).data))
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
  return result
}

function once(socket: WebSocket, event: 'open' | 'message'): Promise<Event> {
  return new Promise((resolve, reject) => {
    socket.addEventListener(event, resolve, { once: true })
    socket.addEventListener('error', () => reject(new Error(`no ${event}`)), { once: true })
  })
}
