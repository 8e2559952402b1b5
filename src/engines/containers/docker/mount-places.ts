/**
 * Where mounts of a container land. Runtimes follow links of the container on the way to the place of a mount, and mount what lies deeper last:
 * a link could lay a volume over the container's accounts, or below their copies, and programs write to volumes. The runtime opens the
 * accounts in the container at each start and command, while the engine holds the container's lock.
 */

import { type ContainerSpec, EngineError, type GroupSpec } from '../engine.ts'
import { type Json, listAt, textAt } from '../json.ts'
import { mountPathProblem, plainPath } from '../safe-text.ts'
import type { DockerClient } from './client.ts'
import { isLink, keptPlaces, ofPatterns, type Place, statIn, unsaid } from './file-look.ts'

/**
 * Throws `refused` for a mount inside a volume that programs write, or that has the links of a repository; also for a volume that an image
 * declares there.
 */
export function requireApart(
  { name, mounts }: Pick<ContainerSpec, 'name' | 'mounts'>,
  { volumes }: GroupSpec,
  declared: readonly string[] = [],
): void {
  const loose = mounts.filter(
    ({ volume }) => volumes.find((one) => one.name === volume)?.kind !== 'files',
  )
  for (const path of [...mounts.map((mount) => mount.path), ...declared]) {
    const outer = loose.find((other) => isInside(plainPath(path), plainPath(other.path)))
    if (outer === undefined) continue
    throw new EngineError(
      'refused',
      `'${name}' mounts a volume at ${path}, inside another one (${outer.path}) that may have links`,
    )
  }
}

/** Why one of these paths is no place for a mount, as the files of the container are; undefined when each is. */
export async function mountProblem(
  place: Place,
  paths: readonly string[],
  last = (segment: string) => segment,
): Promise<string | undefined> {
  const plain = [...new Set(paths.map(plainPath))]
  const ends = await Promise.all(plain.map((path) => endOf(place, path, last)))
  for (const [at, path] of plain.entries()) {
    const end = ends[at]
    if (end === path) continue
    const isKept =
      end === undefined ||
      mountPathProblem(end) !== undefined ||
      keptPlaces.includes(end) ||
      ends.some(
        (other = '', index) =>
          index !== at && (end === other || isInside(end, other) || isInside(other, end)),
      )
    if (isKept) return `a link leads the volume at ${path} to a place where it may not be mounted`
  }
  return undefined
}

/** The same for the mounts of a container that has ended, whose program may have changed its files. */
export async function mountedProblem(
  client: DockerClient,
  api: 'docker' | 'libpod',
  container: Json,
): Promise<string | undefined> {
  const paths = listAt(container, 'Mounts')
    .map((mount) => textAt(mount, 'Destination'))
    .filter((path) => !keptPlaces.includes(path))
  const place = { client, api, container: textAt(container, 'Id') }
  return await mountProblem(place, paths, api === 'libpod' ? asPattern : undefined)
}

/** Podman's look at the place of a volume is into the volume, unless it is a pattern: then it is at what lies below. */
function asPattern(segment: string): string {
  return segment.replace(/[^!^\]-]/u, '[$&]')
}

/** What has no such pattern. */
const onlyOfPatterns = /^[!^\]-]+$/

function isInside(path: string, folder: string): boolean {
  return path.startsWith(`${folder}/`) && path !== folder
}

/** Where a path leads through links; undefined where the engine cannot say. */
async function endOf(
  place: Place,
  path: string,
  last: (segment: string) => string,
): Promise<string | undefined> {
  const segments = path.split('/').slice(1)
  let end = ''
  for (const [at, segment] of segments.entries()) {
    const next = `${end}/${segment}`
    if (place.api === 'libpod' && (ofPatterns.test(next) || onlyOfPatterns.test(segment))) {
      return undefined
    }
    const isLast = at === segments.length - 1
    const found = await statIn(place, isLast ? `${end}/${last(segment)}` : next)
    if (found === undefined) return [end, ...segments.slice(at)].join('/')
    // What is at the end of a pattern the engine does not say.
    if (isLast && isLink(found)) return undefined
    end = isLink(found) ? plainPath(textAt(found, 'linkTarget')) : next
    if (end.includes(unsaid)) return undefined
  }
  return end
}
