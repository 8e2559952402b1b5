/** Where the console and its API are, and the installation's own words, as the page it came in says. */

import { urlBelow } from './url-below.ts'

/** Ends with a slash: `https://host/prefix/console/`. */
export const consoleBase = new URL(document.baseURI)
/** Of the API: one step above. */
const apiBase = new URL('../', consoleBase)

const { namespace = 'Vendor', brand = 'Vendor' } = document.documentElement.dataset

/** `Authorization/roleAssignments` → `Vendor.Authorization/roleAssignments`. */
export function qualified(name: string): string {
  return `${namespace}.${name}`
}

/** Without the installation's word: for comparisons with types that are known here. */
export function plainType(type: string): string {
  const start = `${namespace}.`.toLowerCase()
  return type.toLowerCase().startsWith(start) ? type.slice(start.length) : type
}

/** Paths of the OpenAPI documents carry the contract's word. */
export function ownWords(path: string): string {
  return path.replaceAll('Vendor.', `${namespace}.`)
}

export const asyncHeader = `${brand}-AsyncOperation`

/** The whole address of a path of the API, with the prefix under which this page came. */
export function apiUrl(path: string): URL {
  return urlBelow(apiBase, path)
}

/** The path of a link that the API gave, which may carry another prefix or host than ours. */
export function pathOfLink(link: string): string {
  const { pathname, search } = new URL(link, apiBase)
  const path = pathname.startsWith(apiBase.pathname)
    ? pathname.slice(apiBase.pathname.length)
    : pathname.slice(1)
  return `/${path}${search}`
}
