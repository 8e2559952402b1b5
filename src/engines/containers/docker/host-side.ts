/**
 * What Podman does on its host by what an image or a container's files say, looked at before it does it. At each start and command Podman reads the
 * accounts of the container while it holds the container's lock. A pipe in their place holds that lock for ever, and with it each list of
 * containers; a long line of theirs is read into the engine's memory as a whole.
 */

import { posix } from 'node:path'
import { oneChunk } from '#kernel/one-chunk.ts'
import { type ContainerSpec, EngineError } from '../engine.ts'
import { type Json, listAt, numberAt, parseJson, textAt } from '../json.ts'
import { plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { inspectContainer } from './read-containers.ts'
import { writeTar } from './tar.ts'

const accountFiles = ['/etc/passwd', '/etc/group'] as const
const ownPlaces = {
  hosts: '/etc/hosts',
  resolver: '/etc/resolv.conf',
  hostname: '/etc/hostname',
  environment: '/run/.containerenv',
}
/** Where no volume is mounted. */
const keptPlaces: readonly string[] = ['/etc', ...accountFiles, ...Object.values(ownPlaces)]
/** Go's bits of a file mode. */
const linkBit = 2 ** 27
const kindBits = [2 ** 31, linkBit, 2 ** 26, 2 ** 25, 2 ** 24, 2 ** 21, 2 ** 19]
/** Accounts of images have some kilobytes, those of large installations some hundred. */
const accountBytesMax = 1024 * 1024
/** Runtimes mount something there in every container. */
const mountedFolders = ['/dev', '/proc', '/sys']
const silentSeconds = 10
/** What one header of a tar stream takes. */
const folderBytesMax = 99
/**
 * Podman's look takes these in a path for patterns: it answers about another file, or none, or gathers all that match, and links of a
 * folder to itself make that any number.
 */
const ofPatterns = /[*?[\\]/

/**
 * Throws `refused` for a volume in the place of a container's accounts, or of a file that Podman writes. Podman reads accounts of the image
 * below a volume, unseen, and those in a folder of the host by the host's path, where it follows links to whatever they lead to.
 */
export function requireOwnPlaces({ name, mounts }: ContainerSpec): void {
  const found = mounts.find(({ path }) => keptPlaces.includes(plainPath(path)))
  if (found === undefined) return
  throw new EngineError(
    'refused',
    `'${name}' mounts a volume at ${plainPath(found.path)}, where the engine reads or writes files of its own`,
  )
}

/** A file that Podman writes for the sandbox, and where a container has it. */
export interface OwnFile {
  readonly source: string
  readonly path: string
}

/**
 * Parts get these files of their running sandbox, to read only. Podman keeps them in memory of the host, and it would read and parse the
 * hosts at each start and end of a part, however long a program made them.
 */
export function ownFiles(sandbox: Json): readonly OwnFile[] {
  const hostname = textAt(sandbox, 'HostnamePath')
  return [
    { source: textAt(sandbox, 'HostsPath'), path: ownPlaces.hosts },
    { source: textAt(sandbox, 'ResolvConfPath'), path: ownPlaces.resolver },
    { source: hostname, path: ownPlaces.hostname },
    {
      source: hostname === '' ? '' : `${posix.dirname(hostname)}/.containerenv`,
      path: ownPlaces.environment,
    },
  ].filter(({ source }) => source !== '')
}

/** Makes a container that does not run ready to be started. Answers what keeps it from that; undefined when nothing does. */
export async function readyProblem(
  client: DockerClient,
  container: Json,
): Promise<string | undefined> {
  const id = textAt(container, 'Id')
  const problem = await firstProblem((path) => accountProblem(client, id, path))
  return problem ?? (await folderProblem(client, id, textAt(container, 'Config', 'WorkingDir')))
}

/**
 * Makes the working folder of an image that has none. Podman makes none, since it is told which one it is: old versions would make it
 * where links of the container lead on the host. The engine unpacks this one without leaving the container.
 */
async function folderProblem(
  client: DockerClient,
  container: string,
  folder: string,
): Promise<string | undefined> {
  const name = `${plainPath(folder).slice(1)}/`
  if (name === '/' || Buffer.byteLength(name) > folderBytesMax || ofPatterns.test(name)) {
    return undefined
  }
  if ((await statIn(client, container, folder)) !== undefined) return undefined
  const [made] = await Promise.allSettled([
    client.json({
      method: 'PUT',
      kind: 'change',
      path: `/containers/${container}/archive`,
      query: { path: '/' },
      upload: oneChunk(writeTar([{ name, mode: 0o755 }])),
      doing: 'make the working folder',
    }),
  ])
  if (made.status === 'fulfilled') return undefined
  const error: unknown = made.reason
  if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
  return 'the working folder of its image cannot be made'
}

/**
 * What is wrong with the files by which Podman finds a user, of a container that runs. Podman's look is from inside then, and it opens
 * what is below the mounts. A program moves a mount with the folders above it, so nobody knows what is below the end of a link.
 */
export async function runningProblem(
  client: DockerClient,
  container: string,
): Promise<string | undefined> {
  if (isLink(await statIn(client, container, '/etc'))) return linkProblem('/etc')
  return await firstProblem(async (path) => {
    const found = await statIn(client, container, path)
    return isLink(found) ? linkProblem(path) : fileProblem(path, found)
  })
}

const linkProblem = (path: string): string =>
  `its ${path} is a link, and where that leads is not seen while its program runs`

async function firstProblem(
  look: (path: string) => Promise<string | undefined>,
): Promise<string | undefined> {
  const problems = await Promise.all(accountFiles.map(look))
  return problems.find((problem) => problem !== undefined)
}

async function accountProblem(
  client: DockerClient,
  container: string,
  path: string,
): Promise<string | undefined> {
  const found = await statIn(client, container, path)
  if (!isLink(found)) return fileProblem(path, found)
  const target = textAt(found, 'linkTarget')
  if (ofPatterns.test(target))
    return `its ${path} leads to a path that the engine takes for a pattern`
  if (await isMounted(client, container, target)) {
    return `its ${path} leads to ${target}, where something is mounted`
  }
  // A link that leads nowhere is opened in vain.
  return fileProblem(path, await statIn(client, container, target))
}

function fileProblem(path: string, found: Json): string | undefined {
  if (kindBits.some((bit) => hasBit(numberAt(found, 'mode'), bit))) {
    return `its ${path} is no plain file, and the engine would wait for it`
  }
  return numberAt(found, 'size') > accountBytesMax
    ? `its ${path} has more than ${accountBytesMax / 1024 ** 2} MB`
    : undefined
}

/** There the engine reads what lies below the mount, which nobody sees from here. */
async function isMounted(client: DockerClient, container: string, path: string): Promise<boolean> {
  const mounts = listAt(await inspectContainer(client, container), 'Mounts')
  const places = mounts.map((mount) => plainPath(textAt(mount, 'Destination')))
  return [...mountedFolders, ...places].some((one) => path === one || path.startsWith(`${one}/`))
}

function isLink(found: Json): boolean {
  return hasBit(numberAt(found, 'mode'), linkBit)
}

function hasBit(mode: number, bit: number): boolean {
  return Math.floor(mode / bit) % 2 === 1
}

/** Undefined where nothing is. The engine looks without opening it. */
async function statIn(client: DockerClient, container: string, path: string): Promise<Json> {
  const headers = await client.headers({
    path: `/containers/${container}/archive`,
    api: 'libpod',
    query: { path },
    doing: 'look at a file of the container',
    silentSeconds,
  })
  const found = headers['x-docker-container-path-stat']
  return typeof found === 'string'
    ? parseJson(Buffer.from(found, 'base64').toString('utf8'))
    : undefined
}
