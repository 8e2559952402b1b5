/**
 * Splits a file into pieces that begin and end between records. Each piece has its position in the file and a
 * digest of everything before it. It knows quotes and line ends, but no fields. What was sent before is read again,
 * to check that it is unchanged.
 */

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { LocalProblem } from '../../../command.ts'

export interface Progress {
  readonly position: number
  readonly digest: string
}

export interface ImportChunk extends Progress {
  readonly header?: string
  readonly nextPosition: number
  readonly nextDigest: string
  readonly firstLine: number
  readonly text: string
  readonly completed: boolean
}

/** The server records a piece in one transaction, which blocks other writers, so pieces are bounded. */
const pieceRecordsMax = 2_000
/** A JSON record names its fields, so it is longer. */
const pieceBytesOf = (quoted: boolean): number => (quoted ? 512 : 1024) * 1024
const recordBytesMax = 1024 * 1024
const newline = 10
const quote = 34
const comma = 44

export async function* chunksOf(
  file: string,
  format: string,
  progress: Progress | undefined,
): AsyncGenerator<ImportChunk> {
  const hash = createHash('sha256')
  let header: string | undefined
  let position = 0
  let line = 1
  let digest = ''
  const from = progress?.position ?? 0
  const take = (bytes: Buffer): void => {
    hash.update(bytes)
    position += bytes.length
    digest = hash.copy().digest('base64url')
    line += lines(bytes)
  }
  for await (const [bytes, isLast] of records(file, format !== 'ndjson', from)) {
    let rest = bytes
    if (format !== 'ndjson' && header === undefined) {
      const end = rest.indexOf(newline)
      const first = end < 0 ? rest : rest.subarray(0, end + 1)
      header = first.toString('utf8').trimEnd()
      rest = rest.subarray(first.length)
      // The header is not part of a piece's text, but of the bytes before it.
      if (from > 0 || rest.length === 0) take(first)
      else {
        const text = rest.toString('utf8')
        const firstLine = line + lines(first)
        take(first)
        take(rest)
        yield {
          header,
          position: 0,
          digest: '',
          nextPosition: position,
          nextDigest: digest,
          firstLine,
          text,
          completed: isLast,
        }
        continue
      }
    }
    if (position < from) {
      take(rest)
      if (position === from && progress !== undefined && digest !== progress.digest) {
        throw new LocalProblem(
          'AnotherFile',
          `${file} does not begin as the file that was imported under this name: give another --name.`,
        )
      }
      continue
    }
    if (rest.length === 0) continue
    const before = { position, digest, firstLine: line }
    const text = rest.toString('utf8')
    take(rest)
    yield {
      ...(header === undefined ? {} : { header }),
      ...before,
      nextPosition: position,
      nextDigest: digest,
      text,
      completed: isLast,
    }
  }
  if (position < from) {
    throw new LocalProblem('AnotherFile', `${file} is shorter than what was imported of it.`)
  }
}

function lines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) count++
  return count
}

/** Yields pieces of whole records. One ends exactly at `border`, where an earlier piece ended. */
async function* records(
  file: string,
  quoted: boolean,
  border: number,
): AsyncGenerator<readonly [bytes: Buffer, isLast: boolean]> {
  const pieceBytes = pieceBytesOf(quoted)
  let held: Buffer = Buffer.alloc(0)
  // Yielded when it is known whether it is the last one.
  let ready: Buffer | undefined
  let position = 0
  for await (const chunk of createReadStream(file, { highWaterMark: pieceBytes })) {
    held = Buffer.concat([held, chunk as Buffer])
    for (;;) {
      const max = position < border ? Math.min(pieceBytes, border - position) : pieceBytes
      if (held.length < max) break
      const end =
        position < border && held.length >= border - position && max === border - position
          ? max
          : endOfRecords(held, quoted, max) || endOfLines(held, pieceBytes)
      if (end === 0) break
      if (ready !== undefined) yield [ready, false]
      ready = held.subarray(0, end)
      position += end
      held = held.subarray(end)
    }
    if (held.length > recordBytesMax + pieceBytes) {
      throw new LocalProblem('RecordTooLong', 'A record is longer than a megabyte.')
    }
  }
  if (ready !== undefined) yield [ready, held.length === 0]
  while (held.length > 0) {
    const end = endOfRecords(held, quoted, held.length) || held.length
    yield [held.subarray(0, end), end === held.length]
    held = held.subarray(end)
  }
}

/** The end of the last record within `max`, or else the end of the first record; 0 when no record ends. */
function endOfRecords(bytes: Buffer, quoted: boolean, max: number): number {
  let inside = false
  let isStart = true
  let end = 0
  let ended = 0
  for (let at = 0; at < bytes.length && (at < max || end === 0); at++) {
    const byte = bytes[at]
    if (inside) {
      if (byte !== quote) continue
      // A doubled quote stands for itself.
      if (bytes[at + 1] === quote) at++
      else inside = false
    } else if (byte === newline) {
      end = at + 1
      ended++
      if (ended === pieceRecordsMax) return end
      isStart = true
    } else {
      // A quote inside a cell opens nothing.
      inside = quoted && isStart && byte === quote
      isStart = byte === comma
    }
  }
  return end
}

/**
 * The end of a line after an open quote. The server refuses that line and reads the others. 0 while the record may
 * still end.
 */
function endOfLines(bytes: Buffer, pieceBytes: number): number {
  if (bytes.length <= recordBytesMax) return 0
  return bytes.lastIndexOf(newline, pieceBytes - 1) + 1
}
