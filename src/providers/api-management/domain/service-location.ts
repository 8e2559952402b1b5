/** The location of an authorization: its service's. It is stored with it, since a service does not move. */

import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'

/** `levels`: how far it is below the service. */
export async function serviceLocation(
  reader: Pick<Reader, 'get'>,
  id: ResourceId,
  levels: number,
): Promise<{ readonly location?: string }> {
  let above = id
  for (let level = 0; level < levels; level++) above = parentOf(above)
  const location = (await reader.get(above))?.location
  return location === undefined ? {} : { location }
}

/** Shown beside the envelope, if known. */
export function showLocation({ location }: { readonly location?: string }): {
  readonly location?: string
} {
  return location === undefined ? {} : { location }
}
