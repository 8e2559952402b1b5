/**
 * Reads files below a folder. Small files are read synchronously: this is a process of its own, and a call of the
 * thread pool costs more than a small file. Links, sockets and devices are left out.
 */

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  read,
  readdirSync,
  readSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { batchItems, CopyFailure, type FolderLocation } from '../engine.ts'
import { stageFolder } from '../names.ts'
import { ItemChanged, type ListedItem, type ObjectSource } from '../objects.ts'
import { HeldFolders } from './held-folders.ts'
import { placeOf, safePath } from './safe-path.ts'

const readInto = promisify(read)
/** Opening a pipe that replaced a file would block otherwise. */
const { O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants

const chunkBytes = 4 * 1024 * 1024
const folderWholeMax = 1024 * 1024
/** Small files are read one after the other; this many large ones may be in progress meanwhile. */
export const filesAtOnce = 4
const foldersDeepMax = 100

export class FolderSource implements ObjectSource {
  readonly width = filesAtOnce
  readonly wholeMax = folderWholeMax
  readonly #location: FolderLocation
  readonly #folders: HeldFolders
  /** The folder or file, below the root. */
  readonly #place: readonly string[]
  /** One buffer for all small files: the result of `whole` is valid until the next call. */
  readonly #buffer = Buffer.allocUnsafeSlow(folderWholeMax)

  constructor(location: FolderLocation) {
    this.#location = location
    this.#folders = new HeldFolders(safePath(location).root)
    this.#place = placeOf(location)
  }

  *list(): Generator<readonly ListedItem[]> {
    const shown = `${this.#location.container}/${this.#location.path}`
    const found = this.#found(this.#place)
    if (this.#location.shape === 'file') {
      if (found?.isFile() !== true) {
        throw new CopyFailure('SourceMissing', `there is no file '${shown}'`)
      }
      yield [listed(this.#place.at(-1) ?? '', found)]
      return
    }
    if (found?.isDirectory() !== true) {
      throw new CopyFailure('SourceMissing', `there is no folder '${shown}'`)
    }
    let batch: ListedItem[] = []
    for (const item of this.#walk('', 0)) {
      batch.push(item)
      if (batch.length < batchItems) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

  async look(key: string): Promise<ListedItem | undefined> {
    this.#folders.forget()
    const found = this.#found(this.#at(key))
    return found?.isFile() === true ? listed(key, found) : undefined
  }

  whole(item: ListedItem): Uint8Array {
    const file = this.#opened(item.key)
    try {
      let length = 0
      while (length < item.size) {
        const read = readSync(file, this.#buffer, length, item.size - length, null)
        if (read === 0) break
        length += read
      }
      // Checked after reading: it differs from the listed state if the file changed before or meanwhile.
      if (etagOf(fstatSync(file, { bigint: true })) !== item.etag || length !== item.size) {
        throw new ItemChanged(item.key)
      }
      return this.#buffer.subarray(0, length)
    } finally {
      closeSync(file)
    }
  }

  async *open(item: ListedItem, offset: number): AsyncGenerator<Uint8Array> {
    const file = this.#opened(item.key)
    let reading: Promise<{ bytesRead: number }> = Promise.resolve({ bytesRead: 0 })
    try {
      const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)]
      let at = offset
      let turn = 0
      const next = (): Promise<{ bytesRead: number }> => {
        const buffer = buffers[turn] ?? Buffer.alloc(0)
        return readInto(file, buffer, 0, Math.min(chunkBytes, Math.max(0, item.size - at)), at)
      }
      reading = next()
      for (;;) {
        const { bytesRead } = await reading
        if (bytesRead === 0) break
        const chunk = buffers[turn]?.subarray(0, bytesRead)
        at += bytesRead
        turn = 1 - turn
        // The next chunk is read into the other buffer while this one is processed.
        reading = next()
        reading.catch(() => undefined)
        if (chunk !== undefined) yield chunk
      }
      if (etagOf(fstatSync(file, { bigint: true })) !== item.etag || at !== item.size) {
        throw new ItemChanged(item.key)
      }
    } finally {
      // A read in progress would otherwise read from whatever gets the descriptor's number next.
      await reading.catch(() => undefined)
      closeSync(file)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#folders[Symbol.dispose]()
  }

  #at(key: string): readonly string[] {
    return this.#location.shape === 'file' ? this.#place : [...this.#place, ...key.split('/')]
  }

  #found(place: readonly string[]): BigIntStats | undefined {
    try {
      return lstatSync(this.#folders.at(place), { bigint: true, throwIfNoEntry: false })
    } catch (error) {
      const known = translated(error, place.join('/'))
      if (known instanceof ItemChanged) return undefined
      throw known
    }
  }

  #opened(key: string): number {
    try {
      return openSync(this.#folders.at(this.#at(key)), O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
    } catch (error) {
      throw translated(error, key)
    }
  }

  /**
   * Depth first. The files of a folder come before its folders, so that large ones above many small ones begin
   * early.
   */
  *#walk(prefix: string, depth: number): Generator<ListedItem> {
    if (depth > foldersDeepMax) {
      throw new CopyFailure(
        'SourceRefused',
        `folders are deeper than ${foldersDeepMax} at '${prefix}'`,
      )
    }
    const files: string[] = []
    const folders: string[] = []
    for (const entry of this.#entries(prefix)) {
      if (prefix === '' && entry.name === stageFolder) continue
      if (entry.isDirectory()) folders.push(entry.name)
      else if (entry.isFile()) files.push(entry.name)
    }
    for (const name of files.sort()) {
      const found = this.#found(this.#at(prefix + name))
      if (found?.isFile() === true) yield listed(prefix + name, found)
    }
    for (const name of folders.sort()) yield* this.#walk(`${prefix}${name}/`, depth + 1)
  }

  #entries(prefix: string) {
    try {
      const place = prefix === '' ? this.#place : this.#at(prefix.slice(0, -1))
      return readdirSync(this.#folders.folder(place), { withFileTypes: true })
    } catch (error) {
      throw translated(error, prefix)
    }
  }
}

function listed(key: string, found: BigIntStats): ListedItem {
  return {
    key,
    size: Number(found.size),
    etag: etagOf(found),
    modified: Number(found.mtimeNs / 1_000_000n),
  }
}

function etagOf(found: BigIntStats): string {
  return `${found.mtimeNs.toString(36)}-${found.size.toString(36)}-${found.ino.toString(36)}`
}

/** Converts errors of the file system. */
function translated(error: unknown, key: string): Error {
  if (error instanceof CopyFailure) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code === 'ENOENT' || code === 'ELOOP' || code === 'ENOTDIR') return new ItemChanged(key)
  return new CopyFailure(
    'SourceRefused',
    `'${key}' cannot be read (${code || 'unknown'})`,
    'never',
    {
      cause: error,
    },
  )
}
