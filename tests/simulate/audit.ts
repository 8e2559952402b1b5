/**
 * What must be true of a store at any moment, also right after a kill: a resource, its operation, its schedule and
 * its event agree with each other and with what the writers were told. Pure.
 */

import type { Ledger } from './ledger.ts'
import type { Snapshot, StoredEvent } from './snapshot.ts'

/** Only what the writers created: the resources of the first start have their own history. */
const ours = '/resourcegroups/sim-'

interface Document {
  readonly state: string
  readonly tags?: Readonly<Record<string, string>>
  readonly model: { readonly description?: string }
  readonly deleting?: true
}

const terminal = new Set(['Succeeded', 'Failed', 'Canceled'])

export function audit(snapshot: Snapshot, ledger: Ledger): readonly string[] {
  return [
    ...auditResources(snapshot),
    ...auditOperations(snapshot),
    ...auditLedger(snapshot, ledger),
  ]
}

/** No operation is running any more. */
export function isSettled(snapshot: Snapshot): boolean {
  return (
    snapshot.operations.every(({ running }) => running === 0) &&
    snapshot.resources.every(({ document }) => terminal.has(parse(document).state))
  )
}

// Only the plane writes it. A document of another shape fails the audit.
function parse(document: string): Document {
  return JSON.parse(document) as Document
}

function auditResources({ resources, events, work }: Snapshot): readonly string[] {
  const problems: string[] = []
  const latest = new Map<string, StoredEvent>()
  for (const event of events) latest.set(event.key, event)
  const stored = new Map(resources.map(({ key, document }) => [key, parse(document)]))
  for (const [key, document] of stored) {
    if (!terminal.has(document.state) && !work.has(key)) {
      problems.push(
        `${key} is ${document.state}, and nothing is scheduled that would go on with it`,
      )
    }
    if (key.includes(ours) && !latest.has(key)) problems.push(`${key} is there without any event`)
  }
  for (const [key, event] of latest) {
    if (!key.includes(ours)) continue
    const problem = disagreement(event, stored.get(key))
    if (problem !== undefined) problems.push(`${key}: ${problem}`)
  }
  return problems
}

/** The differences between the last event of a resource and the resource. */
function disagreement(event: StoredEvent, document: Document | undefined): string | undefined {
  const { action, correlation_id, detail } = event
  const begins = event.status === 'Accepted'
  if (action.endsWith('/write')) {
    if (document === undefined) return `was last written (${correlation_id}), and is not there`
    if (document.deleting === true) return 'is being deleted, and no event says so'
    // A group that was created by a write below it has no content of its own.
    const isImplied = detail.includes('"implicit":true')
    const content = document.tags?.['content'] ?? document.model.description
    const expected = isImplied ? undefined : correlation_id
    if (content === expected) return undefined
    return `was last written by ${String(expected)}, and holds what ${String(content)} wrote`
  }
  if (action.endsWith('/delete') && begins) {
    return document?.deleting === true ? undefined : 'its deletion began, and it is not marked so'
  }
  if (action.endsWith('/delete')) {
    return document === undefined ? undefined : 'was deleted, and is there'
  }
  return `has an event nobody expects: ${action}`
}

function auditOperations({ operations, events, resources, work }: Snapshot): readonly string[] {
  const problems: string[] = []
  const keys = new Map(resources.map(({ key, document }) => [key, parse(document)]))
  const begun = new Set<string>()
  const ended = new Set<string>()
  for (const { operation_id, status } of events) {
    if (operation_id === null) continue
    if (status === 'Accepted') begun.add(operation_id)
    else ended.add(operation_id)
  }
  const known = new Set(operations.map(({ id }) => id))
  for (const id of begun) {
    if (!known.has(id)) problems.push(`an event tells of operation ${id}, which is not there`)
  }
  for (const { id, resource_key, document, running } of operations) {
    const { status } = JSON.parse(document) as { readonly status: string }
    if (!begun.has(id)) problems.push(`operation ${id} runs without an event of its beginning`)
    if (running === 0) {
      if (status !== 'Canceled' && !ended.has(id)) {
        problems.push(`operation ${id} is ${status} without an event of its end`)
      }
      continue
    }
    if (ended.has(id)) problems.push(`operation ${id} runs after the event of its end`)
    const resource = keys.get(resource_key)
    if (resource === undefined || terminal.has(resource.state)) {
      problems.push(
        `operation ${id} runs on ${resource_key}, which is ${resource?.state ?? 'gone'}`,
      )
    }
    if (!work.has(resource_key)) problems.push(`operation ${id} runs, and nothing is scheduled`)
  }
  return problems
}

function auditLedger({ events }: Snapshot, ledger: Ledger): readonly string[] {
  const problems: string[] = []
  const told = new Set(events.map(({ correlation_id }) => correlation_id))
  for (const { correlationId, verdict, leavesEvent, method, path, answer } of ledger.all) {
    const what = `${method} ${path} (${correlationId}, answered ${answer})`
    if (verdict === 'acknowledged' && leavesEvent && !told.has(correlationId)) {
      problems.push(`${what} was acknowledged and is lost`)
    }
    if (verdict === 'refused' && told.has(correlationId)) {
      problems.push(`${what} was refused and left an event`)
    }
  }
  return problems
}
