/**
 * Folders below a root that are held open, each opened from the one above it and never through a link. A path that was
 * looked at may lead elsewhere a moment later, where somebody exchanges a folder for a link; what is held stays what it
 * was. Without `/proc` (no Linux) folders are looked at and used by their paths.
 */

import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CopyFailure } from '../engine.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** Deeper than any path, so that a folder stays open while one below it is opened. */
const heldMax = 256
/** By process id and not `self`: the programs that exchange two folders get these paths too. */
const descriptors = `/proc/${process.pid}/fd`
const isHolding = existsSync(descriptors)

interface Held {
  readonly path: string
  readonly file: number | undefined
}

/** A path it returns is valid until the next call. */
export class HeldFolders implements Disposable {
  /** By the path below the root; the last used one is at the end. */
  readonly #held = new Map<string, Held>()
  readonly #root: string

  /** `root` is the real path. */
  constructor(root: string) {
    this.#root = root
  }

  /** The path of an entry; with `make`, folders above it are created. */
  at(place: readonly string[], make = false): string {
    return join(this.folder(place.slice(0, -1), make), ...place.slice(-1))
  }

  /** The path of a folder. Throws `CopyFailure` when a link is in the way, else the system's error. */
  folder(place: readonly string[], make = false): string {
    const key = place.join('/')
    const known = this.#held.get(key)
    const held = known ?? this.#open(place, make)
    this.#held.delete(key)
    this.#held.set(key, held)
    for (const [oldest, { file }] of this.#held) {
      if (this.#held.size <= heldMax) break
      this.#held.delete(oldest)
      if (file !== undefined) closeSync(file)
    }
    return held.path
  }

  /** Closes all, so that recreated folders are found again. */
  forget(): void {
    for (const { file } of this.#held.values()) if (file !== undefined) closeSync(file)
    this.#held.clear()
  }

  [Symbol.dispose](): void {
    this.forget()
  }

  #open(place: readonly string[], make: boolean): Held {
    const path = place.length === 0 ? this.#root : this.at(place, make)
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink() === true) {
      const shown = place.join('/')
      throw new CopyFailure(
        'PathRefused',
        `'${shown}' goes through a link, and links are not followed`,
      )
    }
    if (found === undefined && make) mkdirSync(path, { recursive: true })
    if (!isHolding) return { path, file: undefined }
    // The system refuses a folder that was replaced by a link.
    const file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    return { path: `${descriptors}/${file}`, file }
  }
}
