/**
 * A process that answers tasks, for work that must not be ended within a thread (the platform ends with a thread that is just
 * making a stream of zlib), or that needs threads of its own. It is used as a thread is.
 */

import { fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { getCompileCacheDir } from 'node:module'
import { dirname } from 'node:path'
import type { Runner, ThreadLimits } from './limited-threads.ts'

interface ProcessLimits extends Pick<ThreadLimits, 'heapMegabytes'> {
  readonly semiSpaceMegabytes?: number
  /** Further variables. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Throws, or tells by the event `error`, when it cannot be started. */
export function beginProcess(file: URL, limits: ProcessLimits): Runner {
  const { heapMegabytes, semiSpaceMegabytes = 8, environment = {} } = limits
  const compiled = getCompileCacheDir()
  const child = fork(file, [], {
    serialization: 'advanced',
    // What it would say when its memory ends is no use.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${heapMegabytes}`,
      `--max-semi-space-size=${semiSpaceMegabytes}`,
    ],
    // The server's environment is not passed on; the compile cache halves the start.
    env: {
      ...(compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) }),
      ...environment,
    },
  })
  const events = new EventEmitter()
  child.on('message', (message) => events.emit('message', message))
  let isEnded = false
  const lose = (error: Error): void => {
    if (!isEnded && events.listenerCount('error') > 0) events.emit('error', error)
    isEnded = true
  }
  child.once('error', lose)
  child.once('exit', (code, signal) => {
    const error = new Error(`the process ended (${signal ?? code})`)
    // The engine aborts when its heap is full.
    lose(signal === 'SIGABRT' ? Object.assign(error, { code: 'ERR_WORKER_OUT_OF_MEMORY' }) : error)
  })
  return Object.assign(events, {
    postMessage: (task: unknown) => {
      // Whoever waits learns of its end by the event.
      if (child.connected) child.send(task as object, () => undefined)
    },
    ref: () => {
      child.ref()
      child.channel?.ref()
    },
    unref: () => {
      child.unref()
      child.channel?.unref()
    },
    terminate: async () => {
      isEnded = true
      child.kill('SIGKILL')
    },
  })
}
