/**
 * Splits a stream of bytes into lines. A line that is too long is left out, and what follows it is read: it is of one
 * container, and the stream is of all. The last line needs no line end.
 */

/** An object of a cluster has at most 1.5 MB. */
const lineCharactersMax = 2 * 1024 * 1024

export async function* splitLines(bytes: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let line = ''
  let isTooLong = false
  for await (const chunk of bytes) {
    // Only what is new is searched: a long line comes in many chunks.
    const [end = '', ...lines] = decoder.decode(chunk, { stream: true }).split('\n')
    if (!isTooLong) line += end
    for (const next of lines) {
      if (!isTooLong) yield line
      isTooLong = false
      line = next
    }
    if (line.length <= lineCharactersMax) continue
    isTooLong = true
    line = ''
  }
  if (line !== '') yield line
}
