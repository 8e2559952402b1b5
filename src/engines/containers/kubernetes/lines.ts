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
    // Only what is new is searched: a long line comes in many chunks.
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n')
    line += end
    if (line.length > lineCharactersMax) {
      throw new EngineError('unavailable', `${doing}: a line is too long`)
    }
    for (const next of lines) {
      yield line
      line = next
    }
  }
  if (line !== '') yield line
}
