/**
 * A file without a name: it is gone when it is closed, and when its process ends. What is larger than memory should
 * hold is kept there while it is used.
 */

import { randomUUID } from 'node:crypto'
import { readSync } from 'node:fs'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuse } from '#kernel/error.ts'
import type { StoredBytes } from '#kernel/stored-bytes.ts'

export class UnnamedFile implements AsyncDisposable {
  readonly #handle: FileHandle
  #length = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  /** Only the user of this process may read the file. Rejects with `ServiceUnavailable`. */
  static async create(folder = tmpdir()): Promise<UnnamedFile> {
    const path = join(folder, `armature-${randomUUID()}`)
    const handle = await open(path, 'wx+', 0o600).then(undefined, unwritable)
    await unlink(path)
    return new UnnamedFile(handle)
  }

  /** One at a time. Rejects with `ServiceUnavailable` where the disk is full. */
  async append(chunk: Uint8Array): Promise<void> {
    for (let at = 0; at < chunk.length; ) {
      const { bytesWritten } = await this.#handle
        .write(chunk, at, chunk.length - at, this.#length)
        .then(undefined, unwritable)
      at += bytesWritten
      this.#length += bytesWritten
    }
  }

  /** What was written until now. */
  bytes(): StoredBytes {
    return new FilePart(this.#handle.fd, 0, this.#length)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close()
  }
}

function unwritable(cause: unknown): never {
  const refusal = refuse.ServiceUnavailable({ reason: 'its disk takes no large body' })
  throw Object.assign(refusal, { cause })
}

class FilePart implements StoredBytes {
  readonly #file: number
  readonly #start: number
  readonly length: number

  constructor(file: number, start: number, length: number) {
    this.#file = file
    this.#start = start
    this.length = length
  }

  subarray(from: number, to: number): StoredBytes {
    return new FilePart(this.#file, this.#start + from, Math.max(0, to - from))
  }

  read(from: number, to: number, space?: Uint8Array): Uint8Array {
    const wanted = to - from
    const into =
      space !== undefined && space.length >= wanted
        ? space.subarray(0, wanted)
        : new Uint8Array(wanted)
    for (let at = 0; at < wanted; ) {
      // What was written a moment ago is in the system's memory.
      const read = readSync(this.#file, into, at, wanted - at, this.#start + from + at)
      if (read === 0) throw new Error('The file is shorter than what was written.')
      at += read
    }
    return into
  }
}
