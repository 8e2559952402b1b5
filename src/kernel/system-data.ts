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
  const at = new Date(now).toISOString()
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
