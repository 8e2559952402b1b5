/** The process of names: it has the system resolve them, as many at a time as it has threads for, and keeps nothing. */

import { lookup } from 'node:dns/promises'
import type { Answer, Lookup } from './messages.ts'

const slowMilliseconds = 1000

function say(message: Answer): void {
  // A parent that is gone receives nothing; the disconnect event ends this process.
  process.send?.(message, undefined, undefined, () => undefined)
}

process.on('message', ({ id, name }: Lookup) => {
  // The time of the system alone: the other process may stand still, and this one has to start.
  const slow = setTimeout(() => say({ id, isSlow: true }), slowMilliseconds)
  lookup(name, { all: true })
    .finally(() => clearTimeout(slow))
    .then(
      (found) => say({ id, addresses: found.map(({ address }) => address) }),
      ({ message, code }: NodeJS.ErrnoException) => say({ id, reason: message, code }),
    )
})
// A service manager signals every process of a service. The parent ends this one when its own work is done.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined)
// Not by `process.exit`, which waits for the threads that resolve.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'))
