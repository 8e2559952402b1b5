/** What a deployment would change, property by property, with everything nested in it. Writes nothing. */

import { type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { roomForLarge } from '#plane/behalf-of.ts'
import type { Context } from '#plane/declare/resource.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { sizeOf } from '#template/expansion.ts'
import type { Json } from '#template/plan.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import type { DeploymentRequest } from '../../resources/deployments/model.ts'
import { jsonOf } from './answers.ts'
import { attemptPreview } from './attempt.ts'
import { comparable, deltaOf } from './delta.ts'
import { expandAt } from './engine.ts'
import { deploysTo } from './expand.ts'
import { type Member, membersOf } from './group-members.ts'
import { outermost } from './kept-resources.ts'
import { pauseAfter } from './pause.ts'
import type { Preview } from './preview.ts'
import { previewTree } from './preview-tree.ts'
import type { Redaction } from './redact.ts'

/** A request at the id of a deployment, which need not exist. */
interface PlacedContext extends Context {
  readonly id: ResourceId
}

export interface Change {
  readonly resourceId: string
  /** The deployment whose template has the resource; absent when no template has it. */
  readonly deploymentId?: string
  /** Its symbolic name, in templates that use them. */
  readonly symbolicName?: string
  readonly changeType: string
  readonly before?: unknown
  readonly after?: unknown
  readonly delta?: readonly unknown[]
  readonly unsupportedReason?: string
}

export function occasionOf(
  { id, principal, now }: PlacedContext,
  run: string,
): Parameters<typeof expandAt>[2] {
  return { id, deployer: principal, run, startedAt: now, isAccepted: false, isNested: false }
}

/**
 * The approximate characters of JSON that the changes of one answer have together. Changes beyond it are shown
 * without their content.
 */
const shownCharactersMax = 4 * 1024 * 1024
/** Members of the group that templates do not make, and that are looked at. Each is read, and has its place in the answer. */
const membersMax = 5_000
/** Members of the group that are read before other requests get a turn. */
const membersAtOnce = 20

/** What a what-if has found so far, over all levels. */
interface Found {
  readonly changes: Change[]
  /** The characters by which the answer may still grow. */
  room: number
  /** The keys of what the deployment and nested ones make or name. */
  readonly kept: Set<string>
  /** The keys of the resources that they make, at any depth of a path. */
  readonly made: Set<string>
  /** Nested deployments whose resources cannot be known yet. */
  readonly unknown: string[]
}

/** Changes of resources that the templates do not make. */
export type Leftovers = (found: Pick<Found, 'kept' | 'made' | 'unknown'>) => AsyncIterable<Change>

/** What the templates make unpredictably, in the family's form. */
export function diagnosticsOf(changes: readonly Change[]): readonly object[] {
  return changes
    .filter(
      ({ changeType, resourceId }) =>
        changeType === 'Unsupported' && nestedDeployment.test(resourceId),
    )
    .map(({ resourceId, unsupportedReason }) => ({
      level: 'Warning',
      code: 'NestedDeploymentShortCircuited',
      message: unsupportedReason,
      target: resourceId,
    }))
}

const nestedDeployment = /\/deployments\/[^/]+$/i

/** Without `leftovers` they are the group's other members. */
export async function whatIf(
  deps: DeploymentDependencies,
  context: PlacedContext,
  request: DeploymentRequest,
  leftovers: Leftovers = (found) => leftInGroup(deps, context, request, found),
): Promise<readonly Change[]> {
  const { id } = context
  const found: Found = {
    changes: [],
    room: shownCharactersMax,
    kept: new Set(),
    made: new Set(),
    unknown: [],
  }
  // Objects of millions of characters are kept of it.
  await roomForLarge()
  const expanded = await expandAt(deps, request, occasionOf(context, deps.ids.uuid()))
  await previewTree(deps, context, { id, expanded }, (preview, { redaction, deploymentId }) =>
    noteChange({ deps, context, found, deploymentId }, preview, redaction),
  )
  expanded.plan.release()
  for await (const change of leftovers(found)) await show(change, found)
  return found.changes
}

async function* leftInGroup(
  deps: DeploymentDependencies,
  context: PlacedContext,
  { mode }: DeploymentRequest,
  { kept, unknown }: Pick<Found, 'kept' | 'unknown'>,
): AsyncGenerator<Change> {
  if (deploysTo(context.id, deps.words) !== 'group') return
  let read = 0
  for await (const member of membersOf(deps.services.listTracked, scopeOf(context.id))) {
    if (kept.has(member.key)) continue
    if (read === membersMax) {
      yield notLookedAt(scopeOf(context.id).text)
      return
    }
    context.signal?.throwIfAborted()
    const change = await leftOver(deps, context, member, { mode, unknown })
    if (change !== undefined) yield change
    read++
    if (read % membersAtOnce === 0) await nextTurn()
  }
}

function notLookedAt(resourceId: string): Change {
  const unsupportedReason = `it holds more resources than the ${membersMax} others that are looked at`
  return { resourceId, changeType: 'Unsupported', unsupportedReason }
}

/** Without the content of the resource. */
export function shortOf({ before: _, after: _after, delta: _delta, ...rest }: Change): Change {
  return rest
}

async function show(change: Change, found: Found): Promise<void> {
  const length = lengthOf(change, found.room)
  const fits = length <= found.room
  const unsupportedReason = 'what it holds is not shown: the answer would be too large'
  found.changes.push(fits ? change : { ...shortOf(change), unsupportedReason })
  if (fits) found.room -= length
  await pauseAfter({ length })
}

/** What did not change is shown twice, and counted once for both. */
function lengthOf(change: Change, most: number): number {
  const { before, after } = change
  // Made from answers, so it is JSON.
  const counted = (shown: unknown): number => sizeOf(shown as Json, most)
  if (before === undefined || before !== after) return counted(change)
  return counted(shortOf(change)) + 2 * counted(before)
}

/** What happens to a resource that the templates do not name. */
async function leftOver(
  deps: DeploymentDependencies,
  context: PlacedContext,
  { text, version }: Member,
  { mode, unknown }: Pick<DeploymentRequest, 'mode'> & Pick<Found, 'unknown'>,
): Promise<Change | undefined> {
  const { body } = await readAs(deps, context, text, version)
  if (body === undefined) return undefined
  const before = comparable(body, version)
  const resourceId = text
  if (mode !== 'Complete') return { resourceId, changeType: 'Ignore', before, after: before }
  if (unknown.length === 0) return { resourceId, changeType: 'Delete', before }
  const unsupportedReason = `it is deleted unless a nested deployment names it, and what this one names is not known yet: ${unknown[0]}`
  return { resourceId, changeType: 'Unsupported', before, unsupportedReason }
}

interface WhatIf {
  readonly deps: DeploymentDependencies
  readonly context: PlacedContext
  readonly found: Found
  readonly deploymentId: string
}

async function noteChange(
  { deps, context, found, deploymentId }: WhatIf,
  preview: Preview,
  redaction: Redaction,
): Promise<void> {
  const { kept, made, unknown } = found
  const { node } = preview
  if (!node.nested) kept.add(outermost(node.id))
  if (!node.nested && !node.existing) made.add(node.id.toLowerCase())
  const by = { resourceId: node.id, deploymentId, ...symbolOf(node) }
  if (preview.kind === 'ok') {
    await show({ ...by, ...(await changeOf(deps, context, preview, redaction)) }, found)
  } else if (preview.kind === 'unknown') {
    if (node.nested) unknown.push(node.id)
    const unsupportedReason = preview.reason
    const change = { resourceId: node.id, changeType: 'Unsupported', unsupportedReason }
    await show({ ...by, ...change }, found)
  }
}

/** The name of a loop's instance, as `dependsOn` uses it. */
function symbolOf({ symbolicName, copy }: Preview['node']): Pick<Change, 'symbolicName'> {
  if (symbolicName === undefined) return {}
  return { symbolicName: copy === undefined ? symbolicName : `${symbolicName}[${copy.index}]` }
}

async function changeOf(
  deps: DeploymentDependencies,
  context: PlacedContext,
  preview: Extract<Preview, { kind: 'ok' }>,
  redaction: Redaction,
): Promise<Change> {
  const { node } = preview
  const after = comparable(preview.after(), node.apiVersion)
  if (preview.status === 201) return { resourceId: node.id, changeType: 'Create', after }
  // A write that changes nothing shows the same as a read, so there is no other read.
  if (preview.isUnchanged) {
    return { resourceId: node.id, changeType: 'NoChange', before: after, after }
  }
  const seen = await readNode(deps, context, node)
  const before = redaction.of(comparable(seen.body, node.apiVersion))
  if (seen.etag !== undefined && seen.etag === preview.etag) {
    return { resourceId: node.id, changeType: 'NoChange', before, after: before }
  }
  const delta = deltaOf(before, after)
  // A value that is never shown is given again; nobody learns whether it equals the stored one (decision 0106).
  if (delta.length === 0) return { resourceId: node.id, changeType: 'Deploy', before, after }
  return { resourceId: node.id, changeType: 'Modify', before, after, delta }
}

function readNode(
  deps: DeploymentDependencies,
  context: PlacedContext,
  node: Pick<Preview['node'], 'id' | 'apiVersion'>,
): Promise<Seen> {
  return readAs(deps, context, node.id, node.apiVersion)
}

interface Seen {
  readonly body?: unknown
  readonly etag?: string | undefined
}

/** Undefined when the caller may not read it, or it is gone. */
async function readAs(
  deps: DeploymentDependencies,
  { principal, correlationId }: PlacedContext,
  path: string,
  version: string,
): Promise<Seen> {
  const request = { method: 'GET', path, version, principal, correlationId } as const
  const seen = await attemptPreview(() => deps.services.caller.call(request))
  if (seen.kind === 'refused') return {}
  return { body: jsonOf(seen.value.body), etag: seen.value.etag }
}
