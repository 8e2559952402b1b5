/**
 * Which texts of a caller may reach a container engine. Engines turn some of what they are given into other
 * text and read that again (Podman's Docker-compatible API writes a mount with commas), so a text that is not
 * surely safe is refused, never quoted. Asked twice: by the rules of the provider, whose answer names the
 * property, and by every engine before it makes anything. Pure: each function returns what is wrong, in words
 * that follow "is invalid:", or undefined.
 */

import type { GroupSpec } from './engine.ts'
import { EngineError } from './engine.ts'

/** Control and format characters, halves of surrogate pairs, and line ends beyond ASCII. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

/** What separates or quotes in a mount as text: of `--mount`, of `--volume`, of CSV, of a shell. */
const mountSyntax = /[,:;"'`\\]/

const pathCharactersMax = 1024
const segmentBytesMax = 255

/** Of a path inside a container. `/data/` is the same as `/data`. */
export function mountPathProblem(path: string): string | undefined {
  if (!path.startsWith('/') || plainPath(path) === '') {
    return 'expected an absolute path that is not the root'
  }
  return pathProblem(path)
}

/** Of a folder of the engine's host. */
export function hostFolderProblem(folder: string): string | undefined {
  return folder.startsWith('/') ? pathProblem(folder) : 'expected an absolute path'
}

function pathProblem(path: string): string | undefined {
  if (unprintable.test(path)) return 'it has a control character'
  const syntax = mountSyntax.exec(path)?.[0]
  if (syntax !== undefined) return `it has the character ${syntax}`
  if (path.length > pathCharactersMax) return `it has more than ${pathCharactersMax} characters`
  const segments = plainPath(path).split('/').slice(1)
  if (segments.some((each) => each === '' || each === '.' || each === '..')) {
    return "it has an empty segment, '.' or '..'"
  }
  return segments.some((each) => Buffer.byteLength(each) > segmentBytesMax)
    ? `a segment has more than ${segmentBytesMax} bytes`
    : undefined
}

/** As it is compared: without slashes at its end. */
export function plainPath(path: string): string {
  return path.replace(/\/+$/, '')
}

/** Refuses what must not reach an engine. Every engine calls it before it makes anything. */
export function checkTexts(spec: GroupSpec): void {
  for (const { name, mounts } of spec.parts) {
    const paths = new Set<string>()
    for (const { path } of mounts) {
      refuse(mountPathProblem(path), `the mount path ${JSON.stringify(path)} of '${name}'`)
      const plain = plainPath(path)
      if (paths.has(plain)) refuse('it is given twice', `the mount path '${plain}' of '${name}'`)
      paths.add(plain)
    }
  }
  for (const volume of spec.volumes) {
    if (volume.kind !== 'host') continue
    refuse(hostFolderProblem(volume.folder), `the host folder of volume '${volume.name}'`)
  }
}

function refuse(problem: string | undefined, what: string): void {
  if (problem !== undefined) throw new EngineError('refused', `${what} is invalid: ${problem}`)
}
