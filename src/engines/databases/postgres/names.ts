/** The names of what a migration creates on the servers. All derive from its token, so any process finds them. */

/** The name of the slot, the publication and the subscription, and of every session for one database. */
export function objectName(migration: string, index: number): string {
  return `mig_${migration}_${index}`
}

/** The name of a replaced target database until the new one is complete. */
export function keptName(migration: string, index: number): string {
  return `${objectName(migration, index)}_kept`
}

/** The name of sessions that belong to no single database. */
export function sessionName(migration: string): string {
  return `mig_${migration}`
}

/** A LIKE pattern for `objectName` of all the migration's databases. */
export function objectNames(migration: string): string {
  return `mig\\_${migration}\\_%`
}

/** The comment on a target database while this migration may drop it. */
export function ownershipComment(migration: string): string {
  return `Being filled by migration ${migration}; to be dropped if that starts over.`
}

/** A pair of numbers for `pg_advisory_lock`: one worker per migration. */
export function lockKey(migration: string): readonly [space: number, key: number] {
  // FNV-1a, 32 bits: only equality matters, and a collision of two migrations would only make one wait.
  let hash = 0x811c9dc5
  for (const character of migration) {
    hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193)
  }
  return [0x4d49, hash | 0]
}
