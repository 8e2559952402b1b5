/** How writes of servers and of what belongs to them are answered: with an operation, and its name in place of the resource. */

import type { WriteAnswers } from '#plane/declare/stored.ts'

export function acceptedAs(upsert: string, drop: string): WriteAnswers {
  const accepted = (operation: string) =>
    ({ status: 202, leadsTo: 'operation', body: { operation } }) as const
  return { created: accepted(upsert), changed: accepted(upsert), deleted: accepted(drop) }
}
