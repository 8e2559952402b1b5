/** A stream of these bytes at once, where a stream is wanted. */
export async function* oneChunk(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes
}
