/** The address of a source, in the three forms of `sourceDbServerResourceId` (contract, Database migration). */

import { parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { types } from '../dependencies.ts'
import { registeredSourceType } from '../resources/migrations/model.ts'

type SourceId =
  | { readonly kind: 'resource'; readonly id: ResourceId; readonly isFlexible: boolean }
  | { readonly kind: 'host'; readonly host: string; readonly port: number; readonly user: string }

// An IPv6 address stands in brackets. A user name may contain an `@`.
const hostForm = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]{1,255}):([0-9]{1,5})@(.{1,128})$/s
const singleServers = 'DBforPostgreSQL/servers'

/** Returns the reason in words if the text is not the id of a source of that type. */
export function parseSource(
  text: string,
  sourceType: string,
  words: VendorWords,
): SourceId | string {
  if (sourceType !== registeredSourceType) {
    const [, host, port, user] = hostForm.exec(text) ?? []
    if (host === undefined || user === undefined || Number(port) < 1 || Number(port) > 65_535) {
      return `expected '<ip_address>:<port>@<username>' or '<hostname>:<port>@<username>' with the source type ${sourceType}`
    }
    return { kind: 'host', host: host.replace(/^\[|\]$/g, ''), port: Number(port), user }
  }
  const id = parseResourceId(text)
  const last = id?.segments.at(-1)
  const type = [last?.namespace, ...(last?.types ?? [])].join('/').toLowerCase()
  const isOf = (one: string): boolean => type === qualify(words, one).toLowerCase()
  if (id === undefined || !(isOf(types.servers) || isOf(singleServers))) {
    return `expected the resource id of a server with the source type ${sourceType}`
  }
  return { kind: 'resource', id, isFlexible: isOf(types.servers) }
}
