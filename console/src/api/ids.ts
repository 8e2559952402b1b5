/** Resource ids, taken apart to be shown. Only the server decides what an id means. */

interface ResourceName {
  readonly subscriptionId: string | undefined
  readonly group: string | undefined
  /** `Vendor.Sql/servers`; for a group or subscription the name that the API uses. */
  readonly type: string | undefined
  readonly name: string
}

export function readId(id: string): ResourceName {
  const subscriptionId = /^\/subscriptions\/([^/]+)/i.exec(id)?.[1]
  const group = /\/resourceGroups\/([^/]+)/i.exec(id)?.[1]
  const at = id.toLowerCase().lastIndexOf('/providers/')
  const words = at < 0 ? [] : id.slice(at + '/providers/'.length).split('/')
  const [namespace, ...rest] = words
  const types = rest.filter((_, index) => index % 2 === 0)
  const type = namespace === undefined ? undefined : [namespace, ...types].join('/')
  return {
    subscriptionId,
    group,
    type,
    name: decoded(id.slice(id.lastIndexOf('/') + 1)),
  }
}

/** Ids come from the address bar and from what others sent, too, of which a record of the trail may hold a part. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function groupId(subscriptionId: string, group: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${group}`
}

/** The scopes above an id, the widest first, without the id itself. */
export function scopesAbove(id: string): readonly string[] {
  const { subscriptionId, group } = readId(id)
  const scopes = ['/']
  if (subscriptionId !== undefined) scopes.push(`/subscriptions/${subscriptionId}`)
  if (subscriptionId !== undefined && group !== undefined) {
    scopes.push(groupId(subscriptionId, group))
  }
  return scopes.filter((scope) => scope.length < id.length)
}

/** The resources that one is nested in, the outermost first. */
export function parentsOf(id: string): readonly string[] {
  const at = id.toLowerCase().lastIndexOf('/providers/')
  if (at < 0) return []
  const [namespace = '', ...words] = id.slice(at + '/providers/'.length).split('/')
  const start = `${id.slice(0, at)}/providers/${namespace}`
  return Array.from({ length: Math.max(Math.ceil(words.length / 2) - 1, 0) }, (_, index) =>
    [start, ...words.slice(0, 2 * index + 2)].join('/'),
  )
}

/** By the id of a subscription, in lower case. Read before the first view, and again when they change. */
const subscriptionNames = new Map<string, string>()

export function nameSubscriptions(
  all: readonly { readonly subscriptionId: string; readonly displayName: string }[],
): void {
  for (const one of all) subscriptionNames.set(one.subscriptionId.toLowerCase(), one.displayName)
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/** What a person reads instead of an id. A name that is a number says nothing, so it is left out beside a group. */
export function shortId(id: string): string {
  if (id === '/' || id === '') return 'Everything'
  const { subscriptionId, group, type, name } = readId(id)
  if (type !== undefined) {
    if (group === undefined) return name
    return uuid.test(name) ? group : `${group} / ${name}`
  }
  return name === subscriptionId ? (subscriptionNames.get(name.toLowerCase()) ?? name) : name
}
