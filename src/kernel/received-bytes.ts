/**
 * Bytes that somebody sends, put together as they come. The chunks are not kept: the sender chooses how many there are, and
 * each takes some hundred bytes of memory, whatever it holds.
 */

/** So many chunks may be of any size; of more, each has so many bytes on average. */
const chunksOfAnySize = 5_000
const bytesPerChunkMin = 64
const capacityMin = 16 * 1024

export class ReceivedBytes {
  #buffer: Uint8Array
  #length = 0
  #chunks = 0

  /** `buffer`: where they are put, as far as there is room. */
  constructor(buffer: Uint8Array = new Uint8Array(0)) {
    this.#buffer = buffer
  }

  get length(): number {
    return this.#length
  }

  /** They come in so many tiny chunks that taking them costs more than they are worth. */
  get areTooFine(): boolean {
    return isTooFine(this.#chunks, this.#length)
  }

  add(chunk: Uint8Array): void {
    this.#chunks++
    const length = this.#length + chunk.length
    if (this.#buffer.length === 0) this.#buffer = chunk
    else {
      if (length > this.#buffer.length) {
        this.moveTo(new Uint8Array(Math.max(capacityMin, length, 2 * this.#buffer.length)))
      }
      this.#buffer.set(chunk, this.#length)
    }
    this.#length = length
  }

  /** From here on they are put into a larger buffer. */
  moveTo(buffer: Uint8Array): void {
    buffer.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = buffer
  }

  all(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }
}

export function isTooFine(chunks: number, bytes: number): boolean {
  return chunks > chunksOfAnySize && bytes < chunks * bytesPerChunkMin
}

/** All bytes of a stream; undefined if they are more than `most`, or come too fine. */
export async function receiveAll(
  stream: AsyncIterable<Uint8Array>,
  most: number,
): Promise<Uint8Array | undefined> {
  const received = new ReceivedBytes()
  for await (const chunk of stream) {
    received.add(chunk)
    if (received.length > most || received.areTooFine) return undefined
  }
  return received.all()
}
