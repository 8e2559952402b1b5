/** The log of our child processes: JSON lines on standard error. */

import type { Log } from '#kernel/ports.ts'

export function lineLog(): Log {
  const line =
    (level: string): Log['warn'] =>
    (fields, message) => {
      process.stderr.write(`${JSON.stringify({ level, ...fields, msg: message })}\n`)
    }
  return { debug() {}, info: line('info'), warn: line('warn'), error: line('error') }
}
