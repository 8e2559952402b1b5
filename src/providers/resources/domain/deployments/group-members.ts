/** The members of a resource group, page by page. */

import type { ResourceId } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { freeTurn } from '#plane/next-turn.ts'

const pageSize = 500
/** The version used for types that accept every version. */
const anyDate = '2025-01-01'

export interface Member {
  readonly key: string
  readonly text: string
  readonly version: string
}

/** The resources of a group that are not children, with the newest version of their types. */
export async function* membersOf(
  listTracked: PlaneServices['listTracked'],
  scope: ResourceId,
): AsyncGenerator<Member> {
  let after: string | undefined
  do {
    await freeTurn()
    const page = await listTracked({
      under: scope,
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    })
    for (const { resource, compiled } of page.items) {
      const { id } = resource
      if (id.segments.length !== 2 || id.segments[1]?.types.length !== 1) continue
      const version = compiled.dates === 'any' ? anyDate : (compiled.dates[0] ?? '')
      yield { key: id.key, text: id.text, version }
    }
    after = page.next
  } while (after !== undefined)
}
