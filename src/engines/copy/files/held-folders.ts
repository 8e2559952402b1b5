/**
 * Folders below a root that are held open, each opened from the one above it and never through a link. A path that was
 * looked at may lead elsewhere a moment later, where somebody exchanges a folder for a link; what is held stays what it
 * was. Without `/proc` (no Linux) folders are looked at and used by their paths.
 */

import { closeSync, constants, existsSync, lstatSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { CopyFailure } from '../engine.ts'

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants

/** More than any path is deep, so that a folder stays held while one below it is opened. */
const heldMax = 256
/** By number and not `self`: programs that exchange two folders are told these paths too. */
const descriptors = `/proc/${process.pid}/fd`
const isHolding = existsSync(descriptors)

interface Held {
  readonly path: string
  readonly file: number | undefined
}

/** Paths that it gives are good until it is asked for the next one. */
export class HeldFolders implements Disposable {
  /** By the path below the root, the one used last at the end. */
  readonly #held = new Map<string, Held>()
  readonly #root: string

  /** `root`: where it really is. */
  constructor(root: string) {
    this.#root = root
  }

  /** The path of what has this place below the root; `make`: with the folders above it. */
  at(place: readonly string[], make = false): string {
    return join(this.folder(place.slice(0, -1), make), ...place.slice(-1))
  }

  /** The path of a folder. Throws `CopyFailure` where a link stands in the way, else what the system says. */
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

  /** Folders that were made anew since are found again. */
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
    // Exchanged for a link since: the system refuses it.
    const file = openSync(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW)
    return { path: `${descriptors}/${file}`, file }
  }
}
