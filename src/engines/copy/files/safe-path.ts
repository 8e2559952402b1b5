/** Paths that stay below their root: names are checked, and nothing on the way may be a link. */

import { existsSync, lstatSync, mkdirSync, realpathSync } from 'node:fs'
import { dirname, join, sep } from 'node:path'
import { CopyFailure, type FolderLocation } from '../engine.ts'
import { checkedPath, checkLocation } from '../names.ts'

interface SafePath {
  /** Of the account: absolute, without links. */
  readonly root: string
  /** What the place names, absolute. May not exist. */
  readonly path: string
}

/** Throws `CopyFailure` where a name is bad, the root is missing, or a link stands in the way. */
export function safePath(location: FolderLocation): SafePath {
  checkLocation(location)
  const root = realRoot(location.root)
  const path = join(root, ...placeOf(location))
  refuseLinks(root, path, `${location.container}/${location.path}`)
  return { root, path }
}

/** The steps that lead from the root to what the place names. */
export function placeOf(location: FolderLocation): readonly string[] {
  return [location.container, ...checkedPath(location.path)]
}

/** The folder as it really is; made when it is missing and its parent is there. */
export function realRoot(root: string): string {
  if (!existsSync(root)) {
    if (!existsSync(dirname(root))) {
      throw new CopyFailure('SourceMissing', 'the folder of the storage account does not exist')
    }
    mkdirSync(root, { recursive: true })
  }
  return realpathSync(root)
}

/** Everything between the root and the path that exists is a real folder or file. */
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
