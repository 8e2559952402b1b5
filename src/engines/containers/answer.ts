/** Reads the answer of an engine behind HTTP within a bound, and maps failures to errors of the port. */

import type { IncomingMessage } from 'node:http'
import { EngineError } from './engine.ts'
import { type Json, parseJson } from './json.ts'

const answerBytesMax = 32 * 1024 * 1024

/** The answer's JSON; undefined for an empty answer. */
export async function readAnswer(response: IncomingMessage, doing: string): Promise<Json> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of response) {
      // An `IncomingMessage` without an encoding yields buffers.
      const buffer = chunk as Buffer
      bytes += buffer.length
      if (bytes > answerBytesMax) {
        throw new EngineError('unavailable', `${doing}: the answer is too long`)
      }
      chunks.push(buffer)
    }
  } catch (cause) {
    throw failureOfConnection(cause, doing)
  }
  return parseJson(Buffer.concat(chunks).toString('utf8'))
}

/** The error for an engine that could not be reached or that closed the connection. */
export function failureOfConnection(cause: unknown, doing: string): EngineError {
  if (cause instanceof EngineError) return cause
  const told = cause instanceof Error ? cause.message : String(cause)
  return new EngineError('unavailable', `${doing}: ${told}`, { cause })
}
