/** `systemData` of the contract's shared shapes. It changes only when something a user may set has changed. */

import type { Principal } from './principal.ts'

export interface SystemData {
  readonly createdAt: string
  readonly createdBy: string
  readonly createdByType: 'User' | 'Application' | 'ManagedIdentity' | 'Key'
  readonly lastModifiedAt: string
  readonly lastModifiedBy: string
  readonly lastModifiedByType: 'User' | 'Application' | 'ManagedIdentity' | 'Key'
}

/** `createdBy` holds the object id, because names change and ids do not. */
export function stampSystemData(
  previous: SystemData | undefined,
  principal: Pick<Principal, 'id' | 'type'>,
  now: number,
): SystemData {
  const at = momentOf(now)
  const type = principal.type === 'User' ? 'User' : 'Application'
  return {
    createdAt: previous?.createdAt ?? at,
    createdBy: previous?.createdBy ?? principal.id,
    createdByType: previous?.createdByType ?? type,
    lastModifiedAt: at,
    lastModifiedBy: principal.id,
    lastModifiedByType: type,
  }
}

/** The last one: writes of one deployment are many in a millisecond, and the text of a moment takes a microsecond. */
let last = { now: Number.NaN, text: '' }

function momentOf(now: number): string {
  if (last.now !== now) last = { now, text: new Date(now).toISOString() }
  return last.text
}
