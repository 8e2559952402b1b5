/**
 * Loaded into the server before anything else (`--import`): looks at the event loop and the memory of the process and
 * answers on a socket what the worst of both was since it was asked last. Asked to `collect`, it has garbage collected
 * until it is asked the next time, in every thread, whenever it has grown by some megabytes: what is left is in use.
 */

import { createServer } from 'node:net'
import { BroadcastChannel, isMainThread } from 'node:worker_threads'

const address = process.env['ARMATURE_BENCH_PROBE']
const everyMilliseconds = 2
const garbageMax = 8 * 1024 * 1024
const channelName = 'armature-bench-collect'

/** Processor time of the main thread, which neighbours on the machine do not lengthen. */
function mainThreadMilliseconds() {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Bytes of this thread's own heap and of the buffers that belong to it. */
function held() {
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

/** Collects the garbage of this thread while it is wanted. */
class Collector {
  #timer
  #left = 0

  want(isWanted) {
    clearInterval(this.#timer)
    if (isWanted) this.#timer = setInterval(() => this.look(), everyMilliseconds).unref()
    if (isWanted) this.#left = held()
  }

  look() {
    if (held() <= this.#left + garbageMax) return
    globalThis.gc()
    this.#left = held()
  }
}

function begin() {
  const threads = new BroadcastChannel(channelName)
  threads.unref()
  const collector = new Collector()
  const fresh = () => ({
    stop: 0,
    processor: 0,
    at: performance.now(),
    cpu: mainThreadMilliseconds(),
    first: process.memoryUsage.rss(),
    most: 0,
  })
  let worst = fresh()
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
    socket.once('data', (asked) => {
      look()
      const { stop, processor, first, most } = worst
      socket.end(JSON.stringify({ stop, processor, first, most }))
      globalThis.gc()
      const isWanted = String(asked) === 'collect'
      collector.want(isWanted)
      threads.postMessage(isWanted)
      worst = fresh()
    })
  })
  // A launcher that starts another process has no loop worth watching.
  server.on('error', () => {})
  server.listen(address).unref()
}

/** Another thread of the server does as the main one says; one that begins later, from the next time on. */
function follow() {
  const collector = new Collector()
  const told = new BroadcastChannel(channelName)
  told.onmessage = ({ data }) => collector.want(data)
  told.unref()
}

if (address !== undefined && globalThis.gc !== undefined && process.threadCpuUsage !== undefined) {
  if (isMainThread) begin()
  else follow()
}
