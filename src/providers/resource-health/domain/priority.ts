/** The priority of an event by the contract's ordering: type before level before status, 0 the highest of 24. */

import type { EventLevel, EventStatus, EventType } from './event.ts'

/** Types that the contract does not rank count as health advisories. */
const typeRanks: Readonly<Partial<Record<EventType, number>>> = {
  ServiceIssue: 0,
  PlannedMaintenance: 1,
}

const levelRanks: Readonly<Record<EventLevel, number>> = {
  Critical: 0,
  Error: 1,
  Warning: 2,
  Informational: 3,
}

export function priorityOf(type: EventType, level: EventLevel, status: EventStatus): number {
  return (typeRanks[type] ?? 2) * 8 + levelRanks[level] * 2 + (status === 'Active' ? 0 : 1)
}
