/** Splits a stream of bytes into lines of bounded length. The last line needs no line end. */

import { EngineError } from '../engine.ts'

const lineCharactersMax = 8 * 1024 * 1024

export async function* splitLines(
  bytes: AsyncIterable<Uint8Array>,
  doing: string,
): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let line = ''
  for await (const chunk of bytes) {
    line += decoder.decode(chunk, { stream: true })
    const lines = line.split('\n')
    line = lines.pop() ?? ''
    if (line.length > lineCharactersMax) {
      throw new EngineError('unavailable', `${doing}: a line is too long`)
    }
    yield* lines
  }
  if (line !== '') yield line
}
