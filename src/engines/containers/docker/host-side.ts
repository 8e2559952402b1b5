/**
 * What Podman does on its host by what an image or a container's files say, looked at before it does it. At each start and command Podman opens the
 * accounts of the container while it holds the container's lock, so a pipe in their place holds that lock for ever, and
 * with it each list of containers. And it makes an image's working folder by a path that links lead out of the container.
 */

import { type ContainerSpec, EngineError, type VolumeSpec } from '../engine.ts'
import { type Json, numberAt, parseJson, textAt } from '../json.ts'
import { plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'

const accountFiles = ['/etc/passwd', '/etc/group'] as const
const accountPlaces: readonly string[] = ['/etc', ...accountFiles]
/** Go's bits of a file mode. */
const linkBit = 2 ** 27
const kindBits = [2 ** 31, linkBit, 2 ** 26, 2 ** 25, 2 ** 24, 2 ** 21, 2 ** 19]
const silentSeconds = 10
const foldersDeepMax = 40

/**
 * Throws `refused` for a folder of the host in the place of a container's accounts: Podman reads them there by the host's
 * path, and follows links to whatever they lead to on the host.
 */
export function requireOwnAccounts(
  { name, mounts }: ContainerSpec,
  volumes: readonly VolumeSpec[],
): void {
  const folders = new Set(
    volumes.filter(({ kind }) => kind === 'host').map((volume) => volume.name),
  )
  const found = mounts.find(
    ({ volume, path }) => folders.has(volume) && accountPlaces.includes(plainPath(path)),
  )
  if (found === undefined) return
  throw new EngineError(
    'refused',
    `'${name}' mounts a share at ${plainPath(found.path)}, where the engine reads accounts`,
  )
}

/** What keeps a container that has not run yet from being started; undefined when nothing does. */
export async function hostProblem(
  client: DockerClient,
  container: Json,
): Promise<string | undefined> {
  const id = textAt(container, 'Id')
  const folder = textAt(container, 'Config', 'WorkingDir')
  const problems = await Promise.all([
    accountsProblem(client, id),
    folderProblem(client, id, folder),
  ])
  return problems.find((problem) => problem !== undefined)
}

/** What is wrong with the files by which Podman finds a user, of a container that runs or does not. */
export async function accountsProblem(
  client: DockerClient,
  container: string,
): Promise<string | undefined> {
  const kinds = await Promise.all(accountFiles.map((path) => kindOf(client, container, path)))
  const at = kinds.indexOf('other')
  return at < 0
    ? undefined
    : `its ${accountFiles[at]} is no plain file, and the engine would wait for it`
}

/** Old versions of Podman make a working folder on the host where a link leads there. */
async function folderProblem(
  client: DockerClient,
  container: string,
  folder: string,
): Promise<string | undefined> {
  const segments = folder.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.length > foldersDeepMax || segments.includes('..')) {
    return 'the working folder of its image is no plain path'
  }
  for (const end of segments.keys()) {
    const path = `/${segments.slice(0, end + 1).join('/')}`
    const found = await statIn(client, container, path)
    if (found === undefined) return undefined
    if (hasBit(numberAt(found, 'mode'), linkBit)) {
      return 'the working folder of its image leads through a link'
    }
  }
  return undefined
}

/** A link is what it leads to. */
async function kindOf(
  client: DockerClient,
  container: string,
  path: string,
): Promise<'absent' | 'file' | 'other'> {
  const found = await statIn(client, container, path)
  if (found === undefined) return 'absent'
  const mode = numberAt(found, 'mode')
  if (!hasBit(mode, linkBit)) return kindBits.some((bit) => hasBit(mode, bit)) ? 'other' : 'file'
  const target = await statIn(client, container, textAt(found, 'linkTarget'))
  // A link that leads nowhere is opened in vain.
  if (target === undefined) return 'absent'
  const targetMode = numberAt(target, 'mode')
  return kindBits.some((bit) => hasBit(targetMode, bit)) ? 'other' : 'file'
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
