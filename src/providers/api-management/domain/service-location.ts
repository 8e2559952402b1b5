/** Where an authorization is: where its service is. Kept with it when it is written, since a service does not move. */

import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader } from '#plane/declare/resource.ts'

/** `levels`: how far below the service it is. */
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

/** Beside the envelope, where it is known. */
export function showLocation({ location }: { readonly location?: string }): {
  readonly location?: string
} {
  return location === undefined ? {} : { location }
}
