/** A session without a program: it says so, ignores input, and ends. */

import { EngineError, type Session } from '../engine.ts'

export function simulatedSession(
  text: string,
  exitCode: number | undefined,
  input: boolean,
): Session {
  return {
    output: (async function* () {
      yield { stream: 'out' as const, bytes: Buffer.from(text) }
    })(),
    async write() {
      if (!input) throw new EngineError('refused', 'this session takes no input')
    },
    end() {},
    async resize() {},
    async exitCode() {
      return exitCode
    },
    async [Symbol.asyncDispose]() {},
  }
}
