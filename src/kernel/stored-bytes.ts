/** Bytes that somebody sent: in memory, or in a file where there are many. */

/** Bytes in a file. They can be read until the file is closed. */
export interface StoredBytes {
  readonly length: number
  subarray(from: number, to: number): StoredBytes
  /** A copy of the bytes from `from` up to `to`, in `space` if it is given and large enough. */
  read(from: number, to: number, space?: Uint8Array): Uint8Array
}

export type Bytes = Uint8Array | StoredBytes

/** The bytes from `from` up to `to`, as far as there are any; read them before `space` is used again. */
export function readBytes(
  bytes: Bytes,
  from = 0,
  to = bytes.length,
  space?: Uint8Array,
): Uint8Array {
  const end = Math.min(to, bytes.length)
  const start = Math.min(from, end)
  return bytes instanceof Uint8Array ? bytes.subarray(start, end) : bytes.read(start, end, space)
}
