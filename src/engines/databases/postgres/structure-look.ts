/** Says while changes flow how the structure of both ends differs. */

import type { Session } from './connect.ts'
import { type DatabaseTask, tell } from './database-task.ts'
import { type StructureWatch, unlike } from './structure.ts'

/**
 * Between looks at both ends. Counters are at most two seconds old, including the servers' own delay and two more polls on the
 * way to the client.
 */
export const lookMilliseconds = 500
/** Between comparisons of the structure while no cutover is requested: with a look, its record and two polls, ten seconds at most. */
const structureMilliseconds = 5_000

export interface StructureCheck {
  /** The time of the last comparison. */
  at: number | undefined
  differences: readonly string[]
}

/** Also before the cutover is requested, so that obstacles are known early. */
export async function lookAtStructure(at: {
  readonly task: DatabaseTask
  readonly source: Session
  readonly target: Session
  readonly structure: StructureWatch
  readonly seen: StructureCheck
  /** The cutover is. */
  readonly isRequested: boolean
}): Promise<void> {
  const { task, source, target, structure, seen, isRequested } = at
  const now = task.clock.now()
  const isFresh = seen.at !== undefined && now - seen.at < structureMilliseconds
  if (!isFresh || isRequested) {
    seen.differences = await structure.differences(source, target)
    seen.at = now
  }
  if (seen.differences.length === 0) return
  tell(task, {
    message: isRequested
      ? `The cutover waits: ${heldBy(task, seen.differences)}`
      : `Changes are flowing. A cutover would wait: ${heldBy(task, seen.differences)}`,
  })
}

function heldBy(task: DatabaseTask, differences: readonly string[]): string {
  const { notCarried } = task.record
  return notCarried.length === 0
    ? `${unlike(differences)} Have the target catch up, make both ends alike, or start the migration anew.`
    : `${unlike(differences)} Catching up did not carry that over (${notCarried.join('; ')}): make both ends alike, or start the migration anew.`
}
