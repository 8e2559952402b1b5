/**
 * Saved states by name: in a folder of the home, or in memory when the store is in memory. A state is saved
 * completely or not at all. Only the user may read the files, since states hold hashes of secrets.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { refuse } from '#kernel/error.ts'

/** The state after the first start. `reset` restores it. */
export const initialState = 'initial'

export interface SavedState {
  readonly name: string
  readonly bytes: number
  /** Milliseconds since 1970, by the machine's clock. */
  readonly savedAt: number
}

export interface Snapshots {
  list(): readonly SavedState[]
  /** Refuses an unknown name. */
  read(name: string): Uint8Array
  write(name: string, content: Uint8Array): SavedState
  remove(name: string): void
}

/** The number of states that may be saved. */
const snapshotsMax = 1000
const namePattern = /^[a-z0-9][a-z0-9._-]{0,63}$/i
const ending = '.state'

export function snapshotsInFolder(folder: string): Snapshots {
  const pathOf = (name: string): string => join(folder, `${checked(name)}${ending}`)
  const list = (): readonly SavedState[] =>
    (statSync(folder, { throwIfNoEntry: false }) === undefined ? [] : readdirSync(folder))
      .filter((file) => file.endsWith(ending))
      .sort()
      .map((file) => describe(folder, file))
  return {
    list,
    read(name) {
      const path = pathOf(name)
      if (statSync(path, { throwIfNoEntry: false }) === undefined) throw notThere(name)
      return readFileSync(path)
    },
    write(name, content) {
      const path = pathOf(name)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      assertRoom(list(), name)
      replaceFile(path, content, { isDurable: true })
      return describe(folder, `${name}${ending}`)
    },
    remove(name) {
      const path = pathOf(name)
      if (statSync(path, { throwIfNoEntry: false }) === undefined) throw notThere(name)
      rmSync(path)
    },
  }
}

export function snapshotsInMemory(now: () => number): Snapshots {
  const kept = new Map<string, SavedState & { readonly content: Uint8Array }>()
  const find = (name: string) => {
    const found = kept.get(checked(name))
    if (found === undefined) throw notThere(name)
    return found
  }
  const list = () => [...kept.values()].map(({ content: _, ...saved }) => saved)
  return {
    list,
    read: (name) => find(name).content,
    write(name, content) {
      assertRoom(list(), checked(name))
      const saved = { name, bytes: content.length, savedAt: now() }
      kept.set(name, { ...saved, content })
      return saved
    },
    remove(name) {
      kept.delete(find(name).name)
    },
  }
}

function describe(folder: string, file: string): SavedState {
  const { size, mtimeMs } = statSync(join(folder, file))
  return { name: file.slice(0, -ending.length), bytes: size, savedAt: Math.floor(mtimeMs) }
}

function assertRoom(kept: readonly SavedState[], name: string): void {
  if (kept.length < snapshotsMax || kept.some((one) => one.name === name)) return
  throw refuse.ControlNotPossible({
    reason: `${snapshotsMax} states are kept already; remove some`,
  })
}

function checked(name: string): string {
  if (namePattern.test(name)) return name
  throw refuse.InvalidRequestContent(
    { reason: 'a name of a state is up to 64 letters, digits, dots, hyphens and underscores' },
    { target: 'name' },
  )
}

function notThere(name: string): Error {
  const advice =
    name === initialState
      ? 'it is kept at the first start where ARMATURE_CONTROL is on; `armature snapshot save initial` keeps the present state as the one that `reset` goes back to'
      : '`armature snapshot list` lists them'
  return refuse.ControlNotFound({ kind: 'saved state', name, advice })
}
