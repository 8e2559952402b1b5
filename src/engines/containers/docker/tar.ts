/** Writes small tar archives (ustar) of files in memory, and reads such of one file. It refuses names longer than the format allows. */

export interface TarEntry {
  /** The name of a folder ends with `/`. */
  readonly name: string
  readonly mode: number
  readonly bytes?: Uint8Array
}

const block = 512
const nameBytesMax = 100

/** The archive. Owner and group are 0 and times are 0, so that equal entries give equal bytes. */
export function writeTar(entries: readonly TarEntry[]): Buffer {
  const chunks: Buffer[] = []
  for (const entry of entries) {
    const bytes = entry.bytes ?? new Uint8Array(0)
    chunks.push(header(entry, bytes.length), Buffer.from(bytes))
    chunks.push(Buffer.alloc((block - (bytes.length % block)) % block))
  }
  chunks.push(Buffer.alloc(2 * block))
  return Buffer.concat(chunks)
}

function header(entry: TarEntry, size: number): Buffer {
  const name = Buffer.from(entry.name, 'utf8')
  if (name.length > nameBytesMax) throw new Error(`a tar name of ${name.length} bytes is too long`)
  const head = Buffer.alloc(block)
  name.copy(head, 0)
  head.write(octal(entry.mode, 7), 100)
  head.write(octal(0, 7), 108)
  head.write(octal(0, 7), 116)
  head.write(octal(size, 11), 124)
  head.write(octal(0, 11), 136)
  head.write('        ', 148)
  head.write(entry.name.endsWith('/') ? '5' : '0', 156)
  head.write('ustar\u000000', 257)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${octal(sum, 6)}\u0000 `, 148)
  return head
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, '0')
}

/** The bytes of the first entry, if that is a plain file. Entries that only describe it (pax) are passed over. */
export function readTarFile(archive: Uint8Array): Uint8Array | undefined {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength)
  for (let at = 0; at + block <= bytes.length; ) {
    const size = Number.parseInt(bytes.toString('latin1', at + 124, at + 135), 8)
    const kind = bytes.toString('latin1', at + 156, at + 157)
    const end = at + block + size
    // NaN is no number that is small enough.
    if (!(end <= bytes.length)) return undefined
    if (kind === '0' || kind === '\u0000') return bytes.subarray(at + block, end)
    if (!'xgLK'.includes(kind)) return undefined
    at = end + ((block - (size % block)) % block)
  }
  return undefined
}
