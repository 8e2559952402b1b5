/** Paths that stay below their root: names are checked, and no part of the path may be a link. */

import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { CopyFailure, type FolderLocation } from '../engine.ts'
import { checkedPath, checkLocation } from '../names.ts'

interface SafePath {
  /** The account's folder: an absolute path without links. */
  readonly root: string
  /** The absolute path of the location. It need not exist. */
  readonly path: string
}

/** Throws `CopyFailure` when a name is not allowed, the root is missing, or a link is in the way. */
export function safePath(location: FolderLocation): SafePath {
  checkLocation(location)
  const root = realRoot(location.root)
  const path = join(root, ...placeOf(location))
  refuseLinks(root, path, `${location.container}/${location.path}`)
  return { root, path }
}

/** The names from the root to the location. */
export function placeOf(location: FolderLocation): readonly string[] {
  return [location.container, ...checkedPath(location.path)]
}

/** The real path of the folder; it is created if missing and its parent exists. */
export function realRoot(root: string): string {
  if (!existsSync(root)) {
    if (!existsSync(dirname(root))) {
      throw new CopyFailure('SourceMissing', 'the folder of the storage account does not exist')
    }
    mkdirSync(root, { recursive: true })
  }
  return realpathSync(root)
}

/** Every existing part between the root and the path must be a real folder or file. */
export function refuseLinks(root: string, path: string, shown: string): void {
  if (path !== root && !path.startsWith(root + sep)) {
    throw new CopyFailure('PathRefused', `'${shown}' leaves its root`)
  }
  let at = root
  for (const part of path.slice(root.length).split(sep)) {
    if (part === '') continue
    at = join(at, part)
    const found = lstatSync(at, { throwIfNoEntry: false })
    if (found === undefined) return
    if (found.isSymbolicLink()) {
      throw new CopyFailure(
        'PathRefused',
        `'${shown}' goes through a link, and links are not followed`,
      )
    }
  }
}
