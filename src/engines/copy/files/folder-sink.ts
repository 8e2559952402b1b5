/**
 * Writes files below a folder. A full copy is put together beside the containers and takes the target's place by
 * renaming; an incremental one replaces file by file, each by renaming. What lies there of others is left alone.
 */

import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  existsSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CopyFailure, type CopyTask, type FolderLocation } from '../engine.ts'
import { checkedPath, stageFolder } from '../names.ts'
import type { ListedItem, ObjectSink, Upload } from '../objects.ts'
import { swapFolders } from './atomic-swap.ts'
import { filesAtOnce } from './folder-source.ts'
import { HeldFolders } from './held-folders.ts'
import { placeOf, safePath } from './safe-path.ts'

const readBytes = 4 * 1024 * 1024
const { O_CREAT, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = constants

/** How long the replaced folder stays for its current readers. */
const graceMilliseconds = 200

/** In the stage: a folder with this prefix and its inode number is taking the target's place. */
const nextPrefix = 'next-'

interface Next {
  readonly path: string
  readonly ino: bigint
}

export class FolderSink implements ObjectSink {
  readonly hash = 'sha256'
  readonly width = filesAtOnce
  readonly #location: FolderLocation
  readonly #task: CopyTask
  readonly #folders: HeldFolders
  /** Held open until the end: the folder of stages, and this run's stage. */
  readonly #stages: HeldFolders
  /** Below the root. */
  readonly #place: readonly string[]
  /** Everything of this run that is unfinished. */
  readonly #run: string
  readonly #staged: boolean
  #resumed = false

  constructor(location: FolderLocation, task: CopyTask) {
    this.#location = location
    this.#task = task
    const { root } = safePath(location)
    this.#folders = new HeldFolders(root)
    this.#stages = new HeldFolders(root)
    this.#place = placeOf(location)
    this.#run = `${task.token}-${task.run}`
    this.#staged = task.mode === 'full' || !task.owned
  }

  async prepare(forget: () => Promise<void>): Promise<'ready' | 'published'> {
    const stages = this.#stages.folder([stageFolder], true)
    for (const name of readdirSync(stages)) {
      if (name.startsWith(`${this.#task.token}-`) && name !== this.#run) {
        this.#putBack(join(stages, name, 'old'))
        rmSync(join(stages, name), { recursive: true, force: true })
      }
    }
    if (existsSync(this.#stage())) {
      this.#resumed = true
      const next = this.#nextOf(this.#stage())
      if (next !== undefined) {
        // It was taking its place when the run was cut off; its inode number tells whether it has.
        this.#takePlace(next)
        return 'published'
      }
      // The stage is created with its data folder, so a stage without one has been published.
      const isMoved = this.#staged && !existsSync(this.#data())
      if (isMoved && this.#location.shape === 'tree') return 'published'
    } else {
      if (!this.#task.owned) this.#requireEmpty()
      if (this.#staged) await forget()
      const fresh = `${this.#stage()}.new`
      mkdirSync(join(fresh, 'data'), { recursive: true })
      renameSync(fresh, this.#stage())
    }
    return 'ready'
  }

  /** This run's stage, in the folder of all stages, which is held open. */
  #stage(): string {
    return this.#stages.at([stageFolder, this.#run])
  }

  /** The target's path; the folders above it are created. */
  #target(): string {
    return this.#folders.at(this.#place, true)
  }

  /**
   * A run that was cut off between the two renames of its publishing, and never continued, left the target missing.
   */
  #putBack(old: string): void {
    if (existsSync(this.#target()) || !existsSync(old)) return
    renameSync(old, this.#target())
  }

  has(item: ListedItem): boolean {
    if (!this.#resumed) return false
    const found = lstatSync(this.#goal(item.key), { throwIfNoEntry: false })
    // The time is set last, so a file that was cut off has another.
    return found?.isFile() === true && found.size === item.size && sameTime(found.mtimeMs, item)
  }

  putWhole(item: ListedItem, bytes: Uint8Array): void {
    this.#translated(item.key, () => {
      const path = this.#staged ? this.#goal(item.key) : join(this.#stage(), 'next')
      const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
      try {
        let at = 0
        while (at < bytes.length) at += writeSync(file, bytes, at)
        futimesSync(file, item.modified / 1000, item.modified / 1000)
      } finally {
        closeSync(file)
      }
      if (!this.#staged) renameSync(path, this.#goal(item.key))
    })
  }

  async begin(item: ListedItem, offset: number): Promise<Upload> {
    const name = createHash('sha256').update(`${item.key}\n${item.etag}`).digest('hex')
    const part = join(this.#stages.folder([stageFolder, this.#run]), `${name.slice(0, 32)}.part`)
    const file = await open(part, O_RDWR | O_CREAT | O_NOFOLLOW, 0o666)
    const { size } = await file.stat()
    const kept = size >= offset ? offset : 0
    await file.truncate(kept)
    let at = kept
    let closed = false
    const close = async (): Promise<void> => {
      if (!closed) await file.close()
      closed = true
    }
    return {
      offset: kept,
      async *kept() {
        const buffer = Buffer.allocUnsafeSlow(readBytes)
        for (let from = 0; from < kept; ) {
          const { bytesRead } = await file.read(buffer, 0, Math.min(readBytes, kept - from), from)
          if (bytesRead === 0)
            throw new CopyFailure('Damaged', 'an unfinished part shrank', 'later')
          yield buffer.subarray(0, bytesRead)
          from += bytesRead
        }
      },
      async write(chunk) {
        let done = 0
        while (done < chunk.length) {
          const { bytesWritten } = await file.write(chunk, done, chunk.length - done, at)
          done += bytesWritten
          at += bytesWritten
        }
      },
      async checkpoint() {
        const written = at
        await file.datasync()
        return written
      },
      finish: async () => {
        await file.utimes(item.modified / 1000, item.modified / 1000)
        await close()
        this.#translated(item.key, () => renameSync(part, this.#goal(item.key)))
      },
      close,
    }
  }

  /** The swap is one step where the system can, and two renames otherwise (decision 0025). */
  async publish(): Promise<void> {
    if (!this.#staged) return
    const data = this.#data()
    if (!existsSync(data)) return
    this.#translated(this.#location.path, () => {
      const target = this.#target()
      if (this.#location.shape === 'file' || !existsSync(target)) return renameSync(data, target)
      const { ino } = statSync(data, { bigint: true })
      const path = join(this.#stage(), `${nextPrefix}${ino}`)
      renameSync(data, path)
      this.#takePlace({ path, ino })
    })
  }

  /** The folder that will be or was exchanged for the target, found by its inode number. */
  #nextOf(stage: string): Next | undefined {
    const name = readdirSync(stage).find((one) => one.startsWith(nextPrefix))
    if (name === undefined) return undefined
    return { path: join(stage, name), ino: BigInt(name.slice(nextPrefix.length)) }
  }

  #takePlace({ path, ino }: Next): void {
    const target = this.#target()
    const there = statSync(target, { bigint: true, throwIfNoEntry: false })
    if (there?.ino === ino) return
    if (there !== undefined && swapFolders(path, target)) return
    if (there !== undefined) renameSync(target, join(this.#stage(), 'old'))
    renameSync(path, target)
  }

  async discard(): Promise<void> {
    // A copy that was refused before it began has created nothing.
    if (!existsSync(this.#stages.at([stageFolder]))) return
    const left = existsSync(this.#stage()) ? readdirSync(this.#stage()) : []
    // A reader that opened the folder just before the exchange continues in the old one.
    if (left.some((one) => one === 'old' || one.startsWith(nextPrefix))) {
      await sleep(graceMilliseconds)
    }
    await rm(this.#stage(), { recursive: true, force: true })
  }

  /** What a cut leaves behind is for the run that continues it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#folders[Symbol.dispose]()
    this.#stages[Symbol.dispose]()
  }

  #data(): string {
    const data = join(this.#stage(), 'data')
    return this.#location.shape === 'file' ? join(data, 'file') : data
  }

  /** The path of an item, in the stage or in the target; the folders above it are created. */
  #goal(key: string): string {
    const stage = [stageFolder, this.#run, 'data']
    if (this.#location.shape === 'file') return this.#staged ? this.#data() : this.#target()
    return this.#folders.at([...(this.#staged ? stage : this.#place), ...checkedPath(key)], true)
  }

  #requireEmpty(): void {
    const found = lstatSync(this.#target(), { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return
    const shown = `${this.#location.container}/${this.#location.path}`
    if (this.#location.shape === 'tree' && found.isDirectory()) {
      if (readdirSync(this.#folders.folder(this.#place)).length === 0) return
      throw new CopyFailure(
        'TargetNotEmpty',
        `the folder '${shown}' holds files that this mapping did not write: empty it, or map elsewhere`,
      )
    }
    throw new CopyFailure(
      'TargetNotEmpty',
      `there is something at '${shown}' that this mapping did not write: remove it, or map elsewhere`,
    )
  }

  /** Converts errors of the file system. */
  #translated(shown: string, work: () => void): void {
    try {
      work()
    } catch (error) {
      if (error instanceof CopyFailure) throw error
      const code = error instanceof Error && 'code' in error ? String(error.code) : ''
      if (code === '') throw error
      const full = code === 'ENOSPC' || code === 'EDQUOT'
      const why = full ? 'the disk is full' : code
      throw new CopyFailure('TargetRefused', `'${shown}' cannot be written (${why})`, 'never', {
        cause: error,
      })
    }
  }
}

function sameTime(mtime: number, item: ListedItem): boolean {
  return Math.abs(mtime - item.modified) < 1
}
