/**
 * Writes of servers and of their child resources answer with an operation that carries the resource's name, not
 * with the resource.
 */

import type { WriteAnswers } from '#plane/declare/stored.ts'

export function acceptedAs(upsert: string, drop: string): WriteAnswers {
  const accepted = (operation: string) =>
    ({ status: 202, leadsTo: 'operation', body: { operation } }) as const
  return { created: accepted(upsert), changed: accepted(upsert), deleted: accepted(drop) }
}
