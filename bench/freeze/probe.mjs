/**
 * Loaded into the server before anything else (`--import`): looks at the event loop and the memory of the process and
 * answers on a socket what the worst of both was since it was asked last.
 */

import { createServer } from 'node:net'
import { isMainThread } from 'node:worker_threads'

const address = process.env['ARMATURE_BENCH_PROBE']
const everyMilliseconds = 2

/** Processor time of the main thread, which neighbours on the machine do not lengthen. */
function mainThreadMilliseconds() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function begin() {
  const nothing = { stop: 0, processor: 0, at: performance.now(), cpu: mainThreadMilliseconds() }
  let worst = { ...nothing, first: process.memoryUsage.rss(), most: 0 }
  const look = () => {
    const at = performance.now()
    const cpu = mainThreadMilliseconds()
    const processor = cpu - worst.cpu
    const stop = at - worst.at - everyMilliseconds
    const most = Math.max(worst.most, process.memoryUsage.rss())
    worst = {
      ...worst,
      at,
      cpu,
      most,
      stop: Math.max(worst.stop, stop),
      processor: Math.max(worst.processor, processor),
    }
  }
  setInterval(look, everyMilliseconds).unref()
  const server = createServer((socket) => {
    // Gone before it was answered: the bench has ended.
    socket.on('error', () => {})
    look()
    const { stop, processor, first, most } = worst
    socket.end(JSON.stringify({ stop, processor, growth: Math.max(0, most - first) }))
    globalThis.gc?.()
    worst = {
      stop: 0,
      processor: 0,
      at: performance.now(),
      cpu: mainThreadMilliseconds(),
      first: process.memoryUsage.rss(),
      most: 0,
    }
  })
  // A launcher that starts another process has no loop worth watching.
  server.on('error', () => {})
  server.listen(address).unref()
}

if (isMainThread && address !== undefined && process.threadCpuUsage !== undefined) begin()
