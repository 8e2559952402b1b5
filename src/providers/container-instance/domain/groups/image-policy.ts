/**
 * Decides which images groups may run. When the operator lists registries, images are requested by their full name:
 * a short one could mean the id of an image that somebody else pulled. Pure.
 */

import { withoutTrailing } from '#kernel/trailing.ts'

/** Registries (`registry.example:5000`), or folders of them (`docker.io/library`); empty: any image. */
export type AllowedRegistries = readonly string[]

/** An image without a host is on the hub that all engines know, where no name has a capital letter. */
export function registryOf(image: string): string {
  return plainHost(hostOf(image) ?? 'docker.io')
}

function hostOf(image: string): string | undefined {
  const slash = image.indexOf('/')
  const first = slash < 0 ? '' : image.slice(0, slash)
  return first === 'localhost' || /[.:A-Z]/.test(first) ? first : undefined
}

export function plainHost(server: string): string {
  const lower = server.toLowerCase()
  return lower === 'index.docker.io' || lower === 'registry-1.docker.io' ? 'docker.io' : lower
}

/** The image's name with its registry and the hub's folder of official images; tag and digest do not change. */
function wholeName(image: string): string {
  const host = hostOf(image)
  const path = host === undefined ? image : image.slice(host.length + 1)
  // One that is a host for its capital letters alone keeps them: without them it would be a folder of the hub.
  const isByCapitals = host !== undefined && host !== 'localhost' && !/[.:]/.test(host)
  const registry = isByCapitals ? host : registryOf(image)
  const isBare = registry === 'docker.io' && !path.includes('/')
  return `${registry}/${isBare ? 'library/' : ''}${path}`
}

/** Engines accept the beginning of an id for the image that has it, whoever pulled it. */
const couldBeId = /^[0-9a-f]+$/

/** The name that the engine gets. */
export function engineImage(image: string, allowed: AllowedRegistries): string {
  const isShort = allowed.length === 0 && !couldBeId.test(image)
  return image === '' || isShort ? image : wholeName(image)
}

export function isAllowedImage(image: string, allowed: AllowedRegistries): boolean {
  if (allowed.length === 0) return true
  const [tagged = ''] = wholeName(image).split('@', 1)
  const name = tagged.replace(/:[^/:]*$/, '')
  return allowed.some((entry) => {
    const plain = withoutTrailing(entry, '/').replace(/^[^/]+/, plainHost)
    return name === plain || name.startsWith(`${plain}/`)
  })
}
