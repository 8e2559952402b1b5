/**
 * What every server of the comparison stores and answers: a resource group whose tags make it 1.5 KB. Each write
 * carries a new stamp, so that no server can answer it by noticing that nothing changed.
 */

export const apiVersion = '2021-04-01'

/** Twelve characters that the load generator overwrites with a counter before every write. */
export const stampPlaceholder = '############'

const noteCount = 6
const noteLength = 220

/** The body a client sends, as JSON text; about 1.5 KB. */
export function resourceBody(location: string): string {
  const tags: Record<string, string> = { stamp: stampPlaceholder }
  for (let note = 1; note <= noteCount; note++) {
    tags[`note-${note}`] = `note ${note}: `.padEnd(noteLength, 'measured, not guessed; ')
  }
  return JSON.stringify({ location, tags })
}

export function resourceName(index: number): string {
  return `group-${String(index).padStart(7, '0')}`
}

/** The path of a resource on the servers that serve the same paths as Armature. */
export function resourcePath(subscriptionId: string, name: string): string {
  return `/subscriptions/${subscriptionId}/resourceGroups/${name}?api-version=${apiVersion}`
}

/** The subscription id for servers that have none of their own. */
export const someSubscriptionId = '00000000-0000-4000-8000-000000000001'

interface StoredGroup {
  id: string
  name: string
  type: string
  location: string
  tags: Record<string, string>
  properties: { provisioningState: string }
}

/** A whole resource as a server keeps it, made from what a client sent. */
export function storedGroup(
  name: string,
  sent: { readonly location: string; readonly tags: Record<string, string> },
): StoredGroup {
  return {
    id: `/subscriptions/${someSubscriptionId}/resourceGroups/${name}`,
    name,
    type: 'Vendor.Resources/resourceGroups',
    location: sent.location,
    tags: sent.tags,
    properties: { provisioningState: 'Succeeded' },
  }
}

/** The `count` resources that every server starts with. */
export function storedGroups(count: number): StoredGroup[] {
  const body = resourceBody('local')
  return Array.from({ length: count }, (_, index) => {
    // The text was made above. Each resource gets its own copy.
    const sent = JSON.parse(body) as { location: string; tags: Record<string, string> }
    return storedGroup(resourceName(index), sent)
  })
}
