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
    name: decodeURIComponent(id.slice(id.lastIndexOf('/') + 1)),
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

/** What a person reads instead of an id. */
export function shortId(id: string): string {
  if (id === '/' || id === '') return 'Everything'
  const { group, type, name } = readId(id)
  if (type !== undefined) return group === undefined ? name : `${group} / ${name}`
  return name
}
