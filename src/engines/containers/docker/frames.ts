/**
 * Splits the engine's multiplexed output into its two streams and passes bytes on as they arrive. A frame is never
 * collected, however long its header says it is.
 */

export interface OutputChunk {
  readonly stream: 'out' | 'error'
  readonly bytes: Uint8Array
}

const headerBytes = 8

/** A frame: one byte for the stream (2 is standard error), three of zero, four of length, the bytes. */
export async function* splitFrames(source: AsyncIterable<Uint8Array>): AsyncIterable<OutputChunk> {
  const header = Buffer.alloc(headerBytes)
  let headerFilled = 0
  let remaining = 0
  for await (const chunk of source) {
    let offset = 0
    while (offset < chunk.length) {
      if (remaining === 0) {
        const taken = Math.min(headerBytes - headerFilled, chunk.length - offset)
        header.set(chunk.subarray(offset, offset + taken), headerFilled)
        headerFilled += taken
        offset += taken
        if (headerFilled < headerBytes) continue
        headerFilled = 0
        remaining = header.readUInt32BE(4)
        continue
      }
      const taken = Math.min(remaining, chunk.length - offset)
      yield {
        stream: header[0] === 2 ? 'error' : 'out',
        bytes: chunk.subarray(offset, offset + taken),
      }
      remaining -= taken
      offset += taken
    }
  }
}

/** Output of a terminal: bare bytes. */
export async function* rawChunks(source: AsyncIterable<Uint8Array>): AsyncIterable<OutputChunk> {
  for await (const bytes of source) yield { stream: 'out', bytes }
}
