/**
 * The log of production: pino, JSON lines on standard error, loaded only when something is to be logged. Never given a
 * secret; names that could hold one are redacted all the same. A log that cannot be written (a full disk, a reader that
 * is gone or does not read) costs lines, never the process.
 */

import { type Log, silentLog } from '#kernel/ports.ts'

const secretNames = ['authorization', 'password', 'clientSecret', 'token', 'access_token', 'secret']

/** Lines that wait to be written, in bytes; what comes beyond is dropped. */
const waitingBytesMax = 1024 * 1024

export async function createLog(level: string): Promise<Log> {
  if (level === 'silent') return silentLog
  const { default: pino } = await import('pino')
  // Written in the background: a pipe that nobody reads must not hold the process. What waits is flushed at exit.
  const destination = pino.destination({ dest: 2, sync: false, maxLength: waitingBytesMax })
  // The line that failed is kept and tried again with the next one.
  destination.on('error', () => {})
  const logger = pino(
    {
      level,
      base: null,
      redact: secretNames.flatMap((name) => [name, `*.${name}`]),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination,
  )
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}
