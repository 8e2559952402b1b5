/**
 * Reads files below a folder. Calls are synchronous where files are small: this is a process of its own, and a hop
 * to the thread pool costs more than a small file. Links, sockets and devices are left out.
 */

import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from 'node:fs'
import { open } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { batchItems, CopyFailure, type FolderLocation } from '../engine.ts'
import { stageFolder } from '../names.ts'
import { ItemChanged, type ListedItem, type ObjectSource } from '../objects.ts'
import { safePath } from './safe-path.ts'

const chunkBytes = 4 * 1024 * 1024
const folderWholeMax = 1024 * 1024
/** Small files are read one after the other; so many large ones may be under way meanwhile. */
export const filesAtOnce = 4
const foldersDeepMax = 100

export class FolderSource implements ObjectSource {
  readonly width = filesAtOnce
  readonly wholeMax = folderWholeMax
  readonly #location: FolderLocation
  readonly #path: string
  /** One buffer for all small files: what `whole` gives is good until it is called again. */
  readonly #buffer = Buffer.allocUnsafeSlow(folderWholeMax)

  constructor(location: FolderLocation) {
    this.#location = location
    this.#path = safePath(location).path
  }

  *list(): Generator<readonly ListedItem[]> {
    const shown = `${this.#location.container}/${this.#location.path}`
    const found = lstatSync(this.#path, { bigint: true, throwIfNoEntry: false })
    if (this.#location.shape === 'file') {
      if (found?.isFile() !== true) {
        throw new CopyFailure('SourceMissing', `there is no file '${shown}'`)
      }
      yield [listed(basename(this.#path), found)]
      return
    }
    if (found?.isDirectory() !== true) {
      throw new CopyFailure('SourceMissing', `there is no folder '${shown}'`)
    }
    let batch: ListedItem[] = []
    for (const item of walk(this.#path, '', 0)) {
      batch.push(item)
      if (batch.length < batchItems) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  }

  async look(key: string): Promise<ListedItem | undefined> {
    const found = lstatSync(this.#at(key), { bigint: true, throwIfNoEntry: false })
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
      // Looked at after reading: had it changed before or meanwhile, this would differ from what was listed.
      if (etagOf(fstatSync(file, { bigint: true })) !== item.etag || length !== item.size) {
        throw new ItemChanged(item.key)
      }
      return this.#buffer.subarray(0, length)
    } finally {
      closeSync(file)
    }
  }

  async *open(item: ListedItem, offset: number): AsyncGenerator<Uint8Array> {
    let file: Awaited<ReturnType<typeof open>>
    try {
      file = await open(this.#at(item.key), constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (error) {
      throw translated(error, item.key)
    }
    try {
      const buffers = [Buffer.allocUnsafeSlow(chunkBytes), Buffer.allocUnsafeSlow(chunkBytes)]
      let at = offset
      let turn = 0
      const read = (): Promise<{ bytesRead: number }> => {
        const buffer = buffers[turn] ?? Buffer.alloc(0)
        return file.read(buffer, 0, Math.min(chunkBytes, Math.max(0, item.size - at)), at)
      }
      let reading = read()
      for (;;) {
        const { bytesRead } = await reading
        if (bytesRead === 0) break
        const chunk = buffers[turn]?.subarray(0, bytesRead)
        at += bytesRead
        turn = 1 - turn
        // The next one is read into the other buffer while this one is worked on.
        reading = read()
        reading.catch(() => undefined)
        if (chunk !== undefined) yield chunk
      }
      if (etagOf(await file.stat({ bigint: true })) !== item.etag || at !== item.size) {
        throw new ItemChanged(item.key)
      }
    } finally {
      await file.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  #at(key: string): string {
    return this.#location.shape === 'file' ? this.#path : join(this.#path, key)
  }

  #opened(key: string): number {
    try {
      return openSync(this.#at(key), constants.O_RDONLY | constants.O_NOFOLLOW)
    } catch (error) {
      throw translated(error, key)
    }
  }
}

/** Depth first; the files of a folder come before its folders, so that large ones above many small ones begin early. */
function* walk(folder: string, prefix: string, depth: number): Generator<ListedItem> {
  if (depth > foldersDeepMax) {
    throw new CopyFailure(
      'SourceRefused',
      `folders are deeper than ${foldersDeepMax} at '${prefix}'`,
    )
  }
  const files: string[] = []
  const folders: string[] = []
  for (const entry of entriesOf(folder, prefix)) {
    if (prefix === '' && entry.name === stageFolder) continue
    if (entry.isDirectory()) folders.push(entry.name)
    else if (entry.isFile()) files.push(entry.name)
  }
  for (const name of files.sort()) {
    const found = lstatSync(join(folder, name), { bigint: true, throwIfNoEntry: false })
    if (found?.isFile() === true) yield listed(prefix + name, found)
  }
  for (const name of folders.sort()) {
    yield* walk(join(folder, name), `${prefix}${name}/`, depth + 1)
  }
}

function entriesOf(folder: string, prefix: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    throw translated(error, prefix)
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

/** What the file system says, in the port's words. */
function translated(error: unknown, key: string): Error {
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
