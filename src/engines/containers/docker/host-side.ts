/**
 * What an engine does on its host by what an image or a container's files say, looked at before it does it, or kept from it. At each start and
 * command it reads the accounts of the container while it holds the container's lock. A pipe in their place holds that lock for ever, and with
 * it each list of containers; a long line of theirs is read into the engine's memory as a whole. So containers get copies of their image's
 * accounts, to read only. Podman reads those where something is mounted, on the host, and no program reaches them. Docker reads what is below,
 * which no program can exchange while something is mounted there.
 */

import { posix } from 'node:path'
import { oneChunk } from '#kernel/one-chunk.ts'
import { receiveAll } from '#kernel/received-bytes.ts'
import { failureOfConnection } from '../answer.ts'
import { type ContainerSpec, EngineError, type GroupSpec } from '../engine.ts'
import { booleanAt, type Json, listAt, numberAt, textAt } from '../json.ts'
import { plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import {
  accountFiles,
  accountsParent,
  folderBit,
  hasBit,
  isLink,
  keptPlaces,
  kindBits,
  ofPatterns,
  ownPlaces,
  type Place,
  silentSeconds,
  statIn,
  unsaid,
} from './file-look.ts'
import { readTarFile, type TarEntry, writeTar } from './tar.ts'

/** The folder of the sandbox where the volume with the accounts of the group's images is mounted. */
export const accountsFolder = '/accounts'
/** Accounts of images have some kilobytes, those of large installations some hundred. */
const accountBytesMax = 1024 * 1024
/** Podman compares all groups of a user with each other, while it holds the container's lock. */
const accountLinesMax = 2000
const lineEnd = 10
/** The headers of an archive of one file, with the attributes of its file system. */
const headerBytesMax = 256 * 1024
/** What one header of a tar stream takes. */
const folderBytesMax = 99

/**
 * Throws `refused` for a volume in the place of a container's accounts, or of a file that the engine writes. Engines read accounts of the image
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

/** A file that the engine writes for the sandbox, and where a container has it. */
export interface OwnFile {
  readonly source: string
  readonly path: string
}

/**
 * A part gets these files of its running sandbox, to read only: copies of its image's accounts, and files that the engine keeps on the host
 * (Podman in memory), of which it would read and parse the hosts at the start or end of a container, however long a program made them.
 */
export function ownFiles(
  sandbox: Json,
  spec: GroupSpec,
  { image }: ContainerSpec,
  api: 'docker' | 'libpod',
): readonly OwnFile[] {
  const hostname = textAt(sandbox, 'HostnamePath')
  const folder = accountsSource(sandbox)
  return [
    ...accountFiles.map((path) => ({
      source: folder === '' ? '' : posix.join(folder, copyName(spec, image, path)),
      path,
    })),
    { source: textAt(sandbox, 'HostsPath'), path: ownPlaces.hosts },
    { source: textAt(sandbox, 'ResolvConfPath'), path: ownPlaces.resolver },
    { source: hostname, path: ownPlaces.hostname },
    {
      source: api === 'docker' || hostname === '' ? '' : `${posix.dirname(hostname)}/.containerenv`,
      path: ownPlaces.environment,
    },
  ].filter(({ source }) => source !== '')
}

/** Where the engine's host has the volume of accounts; empty where the sandbox has none. */
export function accountsSource(sandbox: Json): string {
  const volume = listAt(sandbox, 'Mounts').find(
    (mount) => textAt(mount, 'Destination') === accountsFolder,
  )
  return textAt(volume, 'Source')
}

/** Images of one group share their copies. */
function copyName(spec: GroupSpec, image: string, path: string): string {
  const images = [...new Set(spec.parts.map((part) => part.image))]
  return `${images.indexOf(image)}-${posix.basename(path)}`
}

/** A container that was never started: nothing changes in it. */
export interface Unstarted extends Place {
  readonly image: string
}

/**
 * Copies of the accounts of an image, as they are archived. Throws `refused` for accounts that cannot be read safely. To read any file, Podman
 * itself opens both for names of users: so both are looked at before one is read.
 */
export async function copiedAccounts(
  from: Unstarted,
  spec: GroupSpec,
): Promise<{ readonly entries: readonly TarEntry[]; readonly hasFolder: boolean }> {
  const folder = await statIn(from, accountsParent)
  const isFolder = hasBit(numberAt(folder, 'mode'), folderBit) && !isLink(folder)
  if (folder !== undefined && !isFolder) refuse(from, accountsParent, 'is no folder')
  const targets = await Promise.all(accountFiles.map((path) => accountsAt(from, path)))
  const entries = accountFiles.map(async (path, at) => {
    const target = targets[at]
    // Where nothing is, they are empty.
    const bytes = target === undefined ? new Uint8Array() : await readIn(from, target)
    if (bytes.filter((byte) => byte === lineEnd).length > accountLinesMax) {
      refuse(from, path, `has more than ${accountLinesMax} lines`)
    }
    return { name: copyName(spec, from.image, path), mode: 0o644, bytes }
  })
  return { entries: await Promise.all(entries), hasFolder: folder !== undefined }
}

function refuse({ image }: Unstarted, path: string, problem: string): never {
  throw new EngineError('refused', `the image '${image}': its ${path} ${problem}`)
}

/** Where accounts really lie; undefined where a link leads nowhere. */
async function accountsAt(from: Unstarted, path: string): Promise<string | undefined> {
  const first = await statIn(from, path)
  // Docker puts no plain file below the copies, so a program could exchange the link, over which nothing is mounted.
  if (from.api === 'docker' && isLink(first)) refuse(from, path, 'is a link')
  const target = isLink(first) ? textAt(first, 'linkTarget') : path
  if (ofPatterns.test(target) || target.includes(unsaid)) {
    refuse(from, path, 'leads to a path that the engine takes for a pattern, or cannot say')
  }
  const found = target === path ? first : await statIn(from, target)
  if (found === undefined) return undefined
  if (kindBits.some((bit) => hasBit(numberAt(found, 'mode'), bit))) {
    refuse(from, path, 'is no plain file, and the engine would wait for it')
  }
  if (numberAt(found, 'size') > accountBytesMax) {
    refuse(from, path, `has more than ${accountBytesMax / 1024 ** 2} MB`)
  }
  return target
}

export async function readIn(
  { client, api, container, image }: Unstarted,
  path: string,
): Promise<Uint8Array> {
  const doing = `read the accounts of the image '${image}'`
  const response = await client.stream({
    method: 'GET',
    path: `/containers/${container}/archive`,
    api,
    query: { path },
    doing,
    silentSeconds,
  })
  const archive = await receiveAll(response, accountBytesMax + headerBytesMax).catch((cause) => {
    throw failureOfConnection(cause, doing)
  })
  const bytes = archive === undefined ? undefined : readTarFile(archive)
  if (bytes !== undefined) return bytes
  throw new EngineError('refused', `${doing}: it has too many attributes, or is no plain file`)
}

/** Whether a container has copies of accounts. The program of one from before may exchange its accounts while the engine reads them. */
export function hasCopies(container: Json): boolean {
  const mounted = listAt(container, 'Mounts')
    .filter((mount) => !booleanAt(mount, 'RW'))
    .map((mount) => textAt(mount, 'Destination'))
  return accountFiles.every((path) => mounted.includes(path))
}

/**
 * Makes the working folder of an image that has none. Podman makes none, since it is told which one it is: old versions would make it
 * where links of the container lead on the host. And puts plain files below the copies of accounts: where an image
 * has links, copies are mounted where these lead, so a program could exchange the link, which the runtime opens in the container. The engine unpacks all without leaving
 * the container. Answers what keeps the container from being started; undefined when nothing does.
 */
export async function readyProblem(
  client: DockerClient,
  container: Json,
): Promise<string | undefined> {
  const id = textAt(container, 'Id')
  const entries: TarEntry[] = accountFiles.map((path) => ({ name: path.slice(1), mode: 0o644 }))
  const folder = textAt(container, 'Config', 'WorkingDir')
  const name = `${plainPath(folder).slice(1)}/`
  const place = { client, api: 'libpod', container: id } as const
  const isMade = name === '/' || Buffer.byteLength(name) > folderBytesMax || ofPatterns.test(name)
  if (!isMade && (await statIn(place, folder)) === undefined) entries.push({ name, mode: 0o755 })
  const [made] = await Promise.allSettled([
    client.json({
      method: 'PUT',
      kind: 'change',
      path: `/containers/${id}/archive`,
      query: { path: '/' },
      upload: oneChunk(writeTar(entries)),
      doing: 'make the accounts and the working folder',
    }),
  ])
  if (made.status === 'fulfilled') return undefined
  const error: unknown = made.reason
  if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
  return `its accounts or its working folder cannot be made: ${error.message}`
}
