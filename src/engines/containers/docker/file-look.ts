/** What an engine says of a file in a container: it looks without opening it. */

import { type Json, numberAt, parseJson } from '../json.ts'
import type { DockerClient } from './client.ts'

export const accountsParent = '/etc'
export const accountFiles = ['/etc/passwd', '/etc/group'] as const
export const ownPlaces = {
  hosts: '/etc/hosts',
  resolver: '/etc/resolv.conf',
  hostname: '/etc/hostname',
  environment: '/run/.containerenv',
}
/** Where no volume is mounted. */
export const keptPlaces: readonly string[] = [
  accountsParent,
  ...accountFiles,
  ...Object.values(ownPlaces),
]
/** Go's bits of a file mode. */
const linkBit = 2 ** 27
export const folderBit = 2 ** 31
export const kindBits = [folderBit, linkBit, 2 ** 26, 2 ** 25, 2 ** 24, 2 ** 21, 2 ** 19]
export const silentSeconds = 10
/**
 * Podman's look takes these in a path for patterns: it answers about another file, or none, or gathers all that match, and links of a
 * folder to itself make that any number.
 */
export const ofPatterns = /[*?[\\]/
/** What the engine answers for bytes that are no text. It follows a link to them all the same. */
export const unsaid = '\ufffd'

/** A container that does not run. */
export interface Place {
  readonly client: DockerClient
  readonly api: 'docker' | 'libpod'
  readonly container: string
}

export function isLink(found: Json): boolean {
  return hasBit(numberAt(found, 'mode'), linkBit)
}

export function hasBit(mode: number, bit: number): boolean {
  return Math.floor(mode / bit) % 2 === 1
}

/** Undefined where nothing is. The engine looks without opening it. */
export async function statIn({ client, api, container }: Place, path: string): Promise<Json> {
  const headers = await client.headers({
    path: `/containers/${container}/archive`,
    api,
    query: { path },
    doing: 'look at a file of the container',
    silentSeconds,
  })
  const found = headers['x-docker-container-path-stat']
  return typeof found === 'string'
    ? parseJson(Buffer.from(found, 'base64').toString('utf8'))
    : undefined
}
