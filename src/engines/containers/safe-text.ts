/**
 * Which texts of a caller may reach a container engine. Engines turn some of what they are given into other
 * text and read that again (Podman's Docker-compatible API writes a mount with commas), so a text that is not
 * surely safe is refused, never quoted. Asked twice: by the rules of the provider, whose answer names the
 * property, and by every engine before it makes anything (`check-texts.ts`). Pure: each function returns what
 * is wrong, in words that follow "is invalid:", or undefined.
 */

import { isIP } from 'node:net'
import { isJsonObject } from '#kernel/patch.ts'
import { withoutTrailing } from '#kernel/trailing.ts'

/** Control and format characters, halves of surrogate pairs, and line ends beyond ASCII. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

/** Characters that separate or quote in a mount as text: of `--mount`, of `--volume`, of CSV, of a shell. */
const mountSyntax = /[,:;"'`\\]/

const pathCharactersMax = 1024
const segmentBytesMax = 255

/** What is wrong with a path inside a container. `/data/` is the same as `/data`. */
export function mountPathProblem(path: string): string | undefined {
  if (!path.startsWith('/') || plainPath(path) === '') {
    return 'expected an absolute path that is not the root'
  }
  const problem = pathProblem(path)
  if (problem !== undefined) return problem
  const plain = plainPath(path)
  const system = systemFolders.find((one) => plain === one || plain.startsWith(`${one}/`))
  return system === undefined || plain === sharedMemory || plain.startsWith(`${sharedMemory}/`)
    ? undefined
    : `${system} is the engine's to fill`
}

/**
 * Runtimes make and hide things there while they start a container. A volume with links in it would send them
 * elsewhere: runc binds whatever `/dev/null` leads to over the files of the kernel that it hides (CVE-2025-31133).
 */
const systemFolders = ['/proc', '/sys', '/dev']
const sharedMemory = '/dev/shm'

/** What is wrong with a folder of the engine's host. */
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

/** The form in which paths are compared: without trailing slashes. */
export function plainPath(path: string): string {
  return withoutTrailing(path, '/')
}

/** Linux allows 128 KiB for one variable or one word of a command, including the name and a NUL. */
const valueBytesMax = 130_000

/** What is wrong with the value of an environment variable or with a word of a command. Line ends are allowed. */
export function valueProblem(value: string): string | undefined {
  if (value.includes('\0')) return 'it has a NUL character'
  if (!value.isWellFormed()) return 'it is not well-formed Unicode'
  return Buffer.byteLength(value) > valueBytesMax
    ? `it has more than ${valueBytesMax} bytes`
    : undefined
}

/** What is wrong with a word of a command; the first is the program. */
export function wordProblem(word: string, at: number): string | undefined {
  return at === 0 && word === '' ? 'it names no program' : valueProblem(word)
}

export function environmentNameProblem(name: string): string | undefined {
  return /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(name)
    ? undefined
    : 'expected 1 to 63 letters, digits and underscores, no digit first'
}

/**
 * What is wrong with the name of a file in a volume, which is one segment of a path. Clusters keep names that begin
 * with two dots.
 */
export function fileNameProblem(name: string): string | undefined {
  if (unprintable.test(name)) return 'it has a control character'
  if (name === '' || name === '.' || name.startsWith('..') || /[/\\]/.test(name)) {
    return 'expected the name of a file'
  }
  // The limit of one header of a tar stream.
  return Buffer.byteLength(name) > 99 ? 'it has more than 99 bytes' : undefined
}

const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?'
const registryPattern = `(?:${label}(?:\\.${label})*|\\[[0-9a-fA-F:]+\\])(?::[0-9]{1,5})?`
const component = '[a-z0-9]+(?:(?:\\.|_|__|-+)[a-z0-9]+)*'
const imagePattern = new RegExp(
  `^(?:${registryPattern}/)?${component}(?:/${component})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`,
)

/**
 * What is wrong with the reference of an image. A transport (`dir:/etc`) would read the host's disk, and the
 * engine's own id of an image would name one that somebody else pulled.
 */
export function imageProblem(image: string): string | undefined {
  if (image.length > 512 || !imagePattern.test(image)) {
    return 'expected [registry/]name[:tag][@digest], the name in lower case'
  }
  return /^(?:sha256:)?[0-9a-f]{64}$/.test(image) || image.startsWith('sha256:')
    ? 'it is the id of an image, not its name'
    : undefined
}

/** What is wrong with the host of a registry, which may have a port. */
export function registryProblem(server: string): string | undefined {
  return server.length <= 255 && new RegExp(`^${registryPattern}$`).test(server)
    ? undefined
    : 'expected a bare host name'
}

export function ipAddressProblem(address: string): string | undefined {
  return isIP(address) !== 0 && !address.includes('%') ? undefined : 'expected an IP address'
}

export function portProblem(port: number): string | undefined {
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? undefined : 'expected 1 to 65535'
}

export function hostNameProblem(name: string): string | undefined {
  return /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i.test(name)
    ? undefined
    : 'expected 1 to 63 letters, digits and inner hyphens'
}

export function searchDomainProblem(domain: string): string | undefined {
  return domain.length <= 253 && /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?\.?$/.test(domain)
    ? undefined
    : 'expected a domain name'
}

export function resolverOptionProblem(option: string): string | undefined {
  return /^[a-z][a-z0-9-]{0,62}(?::[0-9]{1,5})?$/.test(option)
    ? undefined
    : 'expected an option of resolv.conf, as ndots:2'
}

export function capabilityProblem(name: string): string | undefined {
  return /^[A-Za-z][A-Za-z0-9_]{1,63}$/.test(name) ? undefined : 'expected the name of a capability'
}

/** What is wrong with a numeric user or group. */
export function userIdProblem(id: number): string | undefined {
  return Number.isInteger(id) && id >= 0 && id <= 2 ** 31 - 1
    ? undefined
    : 'expected a whole number from 0'
}

const seccompBytesMax = 128 * 1024

/** What is wrong with the text of a seccomp profile. */
export function seccompProblem(profile: string): string | undefined {
  if (Buffer.byteLength(profile) > seccompBytesMax) return `more than ${seccompBytesMax} bytes`
  let value: unknown
  try {
    value = JSON.parse(profile)
  } catch {
    // The parser reports bad text only by throwing.
    return 'expected JSON'
  }
  return isJsonObject(value) ? undefined : 'expected an object as JSON'
}

/** What is wrong with the path of an HTTP probe, query included. */
export function probePathProblem(path: string): string | undefined {
  return /^[!-~]{0,2048}$/.test(path) ? undefined : 'expected at most 2048 visible ASCII characters'
}

export function headerNameProblem(name: string): string | undefined {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}$/.test(name)
    ? undefined
    : 'expected the name of an HTTP header'
}

export function headerValueProblem(value: string): string | undefined {
  return /^[\t -~\u00a0-\u00ff]{0,8192}$/.test(value)
    ? undefined
    : 'expected at most 8192 printable characters of Latin-1'
}
