/** Reads the answer of an engine behind HTTP within a bound, and maps failures to errors of the port. */

import type { IncomingMessage } from 'node:http'
import { receiveAll } from '#kernel/received-bytes.ts'
import { EngineError } from './engine.ts'
import { type Json, parseJson } from './json.ts'

const answerBytesMax = 32 * 1024 * 1024

/** The answer's JSON; undefined for an empty answer. */
export async function readAnswer(response: IncomingMessage, doing: string): Promise<Json> {
  let bytes: Uint8Array | undefined
  try {
    bytes = await receiveAll(response, answerBytesMax)
  } catch (cause) {
    throw failureOfConnection(cause, doing)
  }
  if (bytes === undefined) {
    throw new EngineError('unavailable', `${doing}: the answer is too long, or in too many chunks`)
  }
  return parseJson(new TextDecoder().decode(bytes))
}

/** The error for an engine that could not be reached or that closed the connection. */
export function failureOfConnection(cause: unknown, doing: string): EngineError {
  if (cause instanceof EngineError) return cause
  const message = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('unavailable', `${doing}: ${message}`, { cause })
}
