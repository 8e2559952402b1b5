/**
 * The log of production: pino, JSON lines on standard error, loaded only when something is to be logged.
 * Never given a secret; names that could hold one are redacted all the same.
 */

import { type Log, silentLog } from '#kernel/ports.ts'

const secretNames = ['authorization', 'password', 'clientSecret', 'token', 'access_token', 'secret']

export async function createLog(level: string): Promise<Log> {
  if (level === 'silent') return silentLog
  const { default: pino } = await import('pino')
  const logger = pino(
    {
      level,
      base: null,
      redact: secretNames.flatMap((name) => [name, `*.${name}`]),
      serializers: { error: pino.stdSerializers.err },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    pino.destination({ dest: 2, sync: true }),
  )
  return {
    debug: (fields, message) => logger.debug(fields, message),
    info: (fields, message) => logger.info(fields, message),
    warn: (fields, message) => logger.warn(fields, message),
    error: (fields, message) => logger.error(fields, message),
  }
}
