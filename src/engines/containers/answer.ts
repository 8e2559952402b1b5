/** Reads the answer of an engine behind HTTP within a bound, and maps failures to errors of the port. */

import type { IncomingMessage } from 'node:http'
import { receiveAll } from '#kernel/received-bytes.ts'
import { EngineError } from './engine.ts'
import { type Json, parseJson } from './json.ts'

/** `kind`: what a longer answer is. */
interface AnswerBound {
  readonly bytesMax: number
  readonly kind: 'unavailable' | 'refused'
}

const usualBound: AnswerBound = { bytesMax: 32 * 1024 * 1024, kind: 'unavailable' }

/** The answer's JSON; undefined for an empty answer. */
export async function readAnswer(
  response: IncomingMessage,
  doing: string,
  { bytesMax, kind }: AnswerBound = usualBound,
): Promise<Json> {
  let bytes: Uint8Array | undefined
  try {
    bytes = await receiveAll(response, bytesMax)
  } catch (cause) {
    throw failureOfConnection(cause, doing)
  }
  if (bytes === undefined) {
    const most = `${bytesMax / 1024} KB`
    throw new EngineError(
      kind,
      `${doing}: the answer is longer than ${most}, or in too many chunks`,
    )
  }
  return parseJson(new TextDecoder().decode(bytes))
}

/** The error for an engine that could not be reached or that closed the connection. */
export function failureOfConnection(cause: unknown, doing: string): EngineError {
  if (cause instanceof EngineError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('unavailable', `${doing}: ${message}`, { cause })
}
