/**
 * The addresses of the console and its API, and the vendor words of the installation. The page that the server sent
 * tells them.
 */

import { urlBelow } from './url-below.ts'

/** Ends with a slash: `https://host/prefix/console/`. */
export const consoleBase = new URL(document.baseURI)
/** The base address of the API: one level above the console. */
const apiBase = new URL('../', consoleBase)

const { namespace = 'Vendor', brand = 'Vendor' } = document.documentElement.dataset

/** `Authorization/roleAssignments` → `Vendor.Authorization/roleAssignments`. */
export function qualified(name: string): string {
  return `${namespace}.${name}`
}

/** The type without the vendor word of the installation, to compare it with types that are known here. */
export function plainType(type: string): string {
  const start = `${namespace}.`.toLowerCase()
  return type.toLowerCase().startsWith(start) ? type.slice(start.length) : type
}

/** Paths of the OpenAPI documents use the contract's vendor word. */
export function ownWords(path: string): string {
  return path.replaceAll('Vendor.', `${namespace}.`)
}

export const asyncHeader = `${brand}-AsyncOperation`

/** The full address of an API path, with the prefix under which this page was loaded. */
export function apiUrl(path: string): URL {
  return urlBelow(apiBase, path)
}

/** The path of a link that the API gave. The link may have another prefix or host than this page. */
export function pathOfLink(link: string): string {
  const { pathname, search } = new URL(link, apiBase)
  const path = pathname.startsWith(apiBase.pathname)
    ? pathname.slice(apiBase.pathname.length)
    : pathname.slice(1)
  return `/${path}${search}`
}
