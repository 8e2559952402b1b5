/** Checks names that become parts of paths, URLs and statements. Pure. */

import { CopyFailure, type ObjectsAt } from './engine.ts'

const containerPattern = /^[a-z0-9](?:[a-z0-9-]{1,61})[a-z0-9]$/
/** The folder of stages, next to the containers. No container can have this name. */
export const stageFolder = '.armature'

/** The path's segments. Throws `CopyFailure` for a path that could leave its container. */
export function checkedPath(path: string): readonly string[] {
  if (path === '') return []
  const segments = path.split('/')
  const isBad = (one: string): boolean =>
    one === '' || one === '.' || one === '..' || one.length > 255 || hasForbidden(one)
  if (path.length > 1024 || segments.some(isBad)) {
    throw new CopyFailure(
      'PathRefused',
      `the path '${path.slice(0, 100)}' holds an empty, '.' or '..' segment, or a character no path may hold`,
    )
  }
  return segments
}

function hasForbidden(segment: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  return /[\u0000-\u001f\u007f\\]/.test(segment)
}

export function checkLocation({ container, path }: ObjectsAt): void {
  if (!containerPattern.test(container)) {
    throw new CopyFailure('PathRefused', `'${container.slice(0, 80)}' is no name of a container`)
  }
  checkedPath(path)
}

/** Bytewise, as both stores compare keys. */
export function compareKeys(left: string, right: string): number {
  if (left === right) return 0
  if (surrogates.test(left) || surrogates.test(right)) {
    return Buffer.compare(Buffer.from(left), Buffer.from(right))
  }
  return left < right ? -1 : 1
}

const surrogates = /[\ud800-\udfff]/
