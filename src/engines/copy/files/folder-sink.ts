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
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CopyFailure, type CopyTask, type FolderLocation } from '../engine.ts'
import { checkedPath, stageFolder } from '../names.ts'
import type { ListedItem, ObjectSink, Upload } from '../objects.ts'
import { swapFolders } from './atomic-swap.ts'
import { filesAtOnce } from './folder-source.ts'
import { refuseLinks, type SafePath, safePath } from './safe-path.ts'

const readBytes = 4 * 1024 * 1024
const { O_CREAT, O_NOFOLLOW, O_RDWR, O_TRUNC, O_WRONLY } = constants

/** How long what was exchanged stays for those who are reading it. */
const graceMilliseconds = 200

/** In the stage: a folder with this name and its number is taking the target's place. */
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
  readonly #at: SafePath
  /** All that is unfinished of this run. */
  readonly #stage: string
  readonly #staged: boolean
  readonly #made = new Set<string>()
  #resumed = false

  constructor(location: FolderLocation, task: CopyTask) {
    this.#location = location
    this.#task = task
    this.#at = safePath(location)
    this.#stage = join(this.#at.root, stageFolder, `${task.token}-${task.run}`)
    this.#staged = task.mode === 'full' || !task.owned
  }

  async prepare(): Promise<'ready' | 'published'> {
    const stages = join(this.#at.root, stageFolder)
    refuseLinks(this.#at.root, stages, stageFolder)
    mkdirSync(stages, { recursive: true })
    for (const name of readdirSync(stages)) {
      if (name.startsWith(`${this.#task.token}-`) && join(stages, name) !== this.#stage) {
        this.#putBack(join(stages, name, 'old'))
        rmSync(join(stages, name), { recursive: true, force: true })
      }
    }
    if (existsSync(this.#stage)) {
      this.#resumed = true
      const next = this.#nextOf(this.#stage)
      if (next !== undefined) {
        // It had begun to take its place: whether it has, its number tells.
        this.#takePlace(next)
        return 'published'
      }
      // The stage is made with its data, so without it the data has been moved to its place.
      const isMoved = this.#staged && !existsSync(this.#data())
      if (isMoved && this.#location.shape === 'tree') return 'published'
    } else {
      if (!this.#task.owned) this.#requireEmpty()
      const fresh = `${this.#stage}.new`
      mkdirSync(join(fresh, 'data'), { recursive: true })
      renameSync(fresh, this.#stage)
    }
    return 'ready'
  }

  /** A run that was cut off between the two renames of its publishing, and never taken up, left the target away. */
  #putBack(old: string): void {
    if (existsSync(this.#at.path) || !existsSync(old)) return
    mkdirSync(dirname(this.#at.path), { recursive: true })
    renameSync(old, this.#at.path)
  }

  has(item: ListedItem): boolean {
    if (!this.#resumed) return false
    const found = lstatSync(this.#goal(item.key), { throwIfNoEntry: false })
    // The time is set last: a file that was cut off has its own.
    return found?.isFile() === true && found.size === item.size && sameTime(found.mtimeMs, item)
  }

  putWhole(item: ListedItem, bytes: Uint8Array): void {
    const goal = this.#goal(item.key)
    this.#folderOf(goal, item.key)
    const path = this.#staged ? goal : join(this.#stage, 'next')
    this.#translated(item.key, () => {
      const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
      try {
        let at = 0
        while (at < bytes.length) at += writeSync(file, bytes, at)
        futimesSync(file, item.modified / 1000, item.modified / 1000)
      } finally {
        closeSync(file)
      }
      if (path !== goal) renameSync(path, goal)
    })
  }

  async begin(item: ListedItem, offset: number): Promise<Upload> {
    const goal = this.#goal(item.key)
    this.#folderOf(goal, item.key)
    const name = createHash('sha256').update(`${item.key}\n${item.etag}`).digest('hex')
    const part = join(this.#stage, `${name.slice(0, 32)}.part`)
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
        this.#translated(item.key, () => renameSync(part, goal))
      },
      close,
    }
  }

  /** Its place is taken in one step where the system can, and in two renames where not (decision 0025). */
  async publish(): Promise<void> {
    if (this.#staged) {
      mkdirSync(dirname(this.#at.path), { recursive: true })
      refuseLinks(this.#at.root, this.#at.path, this.#location.path)
      const data = this.#data()
      if (this.#location.shape === 'file') {
        if (existsSync(data))
          this.#translated(this.#location.path, () => renameSync(data, this.#at.path))
      } else if (existsSync(data)) {
        this.#translated(this.#location.path, () => {
          if (!existsSync(this.#at.path)) return renameSync(data, this.#at.path)
          const { ino } = statSync(data, { bigint: true })
          const path = join(this.#stage, `${nextPrefix}${ino}`)
          renameSync(data, path)
          this.#takePlace({ path, ino })
        })
      }
    }
  }

  /** The folder that is about to be, or has been, exchanged for the target; by the number that it has itself. */
  #nextOf(stage: string): Next | undefined {
    const name = readdirSync(stage).find((one) => one.startsWith(nextPrefix))
    if (name === undefined) return undefined
    return { path: join(stage, name), ino: BigInt(name.slice(nextPrefix.length)) }
  }

  #takePlace({ path, ino }: Next): void {
    const there = statSync(this.#at.path, { bigint: true, throwIfNoEntry: false })
    if (there?.ino === ino) return
    if (there !== undefined && swapFolders(path, this.#at.path)) return
    if (there !== undefined) renameSync(this.#at.path, join(this.#stage, 'old'))
    renameSync(path, this.#at.path)
  }

  async discard(): Promise<void> {
    const left = existsSync(this.#stage) ? readdirSync(this.#stage) : []
    // Who opened the folder just before it was exchanged reads on in the old one.
    if (left.some((one) => one === 'old' || one.startsWith(nextPrefix))) {
      await sleep(graceMilliseconds)
    }
    await rm(this.#stage, { recursive: true, force: true })
  }

  /** What a cut leaves behind is for the run that takes it up. */
  async [Symbol.asyncDispose](): Promise<void> {}

  #data(): string {
    return this.#location.shape === 'file'
      ? join(this.#stage, 'data', 'file')
      : join(this.#stage, 'data')
  }

  /** Where an item is put: in the stage, or in its place. */
  #goal(key: string): string {
    const single = this.#location.shape === 'file'
    if (this.#staged) return single ? this.#data() : join(this.#data(), ...checkedPath(key))
    return single ? this.#at.path : join(this.#at.path, ...checkedPath(key))
  }

  #folderOf(goal: string, key: string): void {
    const folder = dirname(goal)
    if (this.#made.has(folder)) return
    if (!this.#staged) refuseLinks(this.#at.root, folder, key)
    this.#translated(key, () => mkdirSync(folder, { recursive: true }))
    this.#made.add(folder)
  }

  #requireEmpty(): void {
    const found = lstatSync(this.#at.path, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return
    const shown = `${this.#location.container}/${this.#location.path}`
    if (this.#location.shape === 'tree' && found.isDirectory()) {
      if (readdirSync(this.#at.path).length === 0) return
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

  /** What the file system says, in the port's words. */
  #translated(shown: string, work: () => void): void {
    try {
      work()
    } catch (error) {
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
