/**
 * A bound for resources whose names are unique in the installation. Whoever has a name keeps it from everybody else, so a
 * resource group, and whoever may write there, has a number of them.
 */

import type { Problem } from '#kernel/error.ts'
import { scopeOf } from '#kernel/resource-id.ts'
import type { RuleContext } from './stored.ts'

const perGroupMax = 800

/** To be asked for a new resource. */
export async function tooManyNames(
  { id, previous, reader }: Pick<RuleContext<unknown>, 'id' | 'previous' | 'reader'>,
  type: string,
): Promise<readonly Problem[]> {
  if (previous !== undefined) return []
  if (await reader.hasRoom({ type, under: scopeOf(id), limit: perGroupMax })) return []
  const message = `a resource group has at most ${perGroupMax} resources of this type: their names are unique in the installation`
  return [{ path: '', message }]
}
