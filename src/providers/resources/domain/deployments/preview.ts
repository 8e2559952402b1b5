/**
 * What a plan would come to, as the plane itself says: every PUT is run dry with those before it, so rules, rights,
 * locks and unique keys answer as they would. Writes nothing. What only a running resource can tell stays unknown.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Caller, DryRunResult } from '#plane/caller.ts'
import { nextTurn } from '#plane/next-turn.ts'
import type { Json } from '#template/plan.ts'
import type { Planned, PlannedNode } from '../evaluation/remote-plan.ts'
import { type Asking, evaluateLate, isLeftAlone, jsonOf, newAnswerRoom } from './answers.ts'
import { attemptPreview, errorOf } from './attempt.ts'
import type { Expanded } from './expand.ts'
import { type Lack, lackOf } from './lacks.ts'
import { Redaction, secretsAt } from './redact.ts'
import { requireIncremental } from './request.ts'

export type Preview =
  | { readonly kind: 'existing'; readonly node: PlannedNode }
  | { readonly kind: 'nested'; readonly node: PlannedNode; readonly body: Json }
  | {
      readonly kind: 'ok'
      readonly node: PlannedNode
      readonly status: number
      /** Made where it is wanted: only what-if shows it. */
      after(): unknown
      readonly etag: string | undefined
      /** It is the resource as it stands. */
      readonly isUnchanged: boolean
    }
  | {
      readonly kind: 'refused'
      readonly node: PlannedNode
      readonly error: ErrorDetail
      readonly lack?: Lack | undefined
    }
  /** Unknown before its dependencies exist. */
  | {
      readonly kind: 'unknown'
      readonly node: PlannedNode
      readonly reason: string
      /** Refused after all when nothing creates what it lacks. */
      readonly lack?: Lack | undefined
    }

interface PreviewDependencies {
  readonly caller: Caller
  readonly principal: Principal
  readonly correlationId: string
  readonly signal: AbortSignal | undefined
  /** The plan is carried out next, with the same bodies. */
  readonly isSentNext?: boolean | undefined
}

interface Prepared {
  readonly body: Json
  readonly securePaths: readonly string[]
}

/** The depth to which references to references are followed. */
const wavesMax = 10

/** The resources shown between two pauses, in which the server does other work. */
const shownAtOnce = 16

/** Refusals of the address alone: the namespace, the type, the version, the method. They need no body. */
const ofAddress = new Set([
  'InvalidRequestUri',
  'InvalidSubscriptionId',
  'InvalidDeploymentScope',
  'InvalidResourceName',
  'InvalidResourceNamespace',
  'InvalidResourceType',
  'InvalidApiVersionParameter',
  'MissingApiVersionParameter',
  'MethodNotAllowed',
  'AuthorizationFailed',
])

/** Refusals that no other resource's creation can cure. */
const certain = new Set([
  ...ofAddress,
  'InvalidRequestContent',
  'InvalidTagName',
  'InvalidTagNameCharacters',
  'ValidationError',
  'NestedDeploymentMode',
  // The form of an id.
  'InvalidPrincipalId',
  'InvalidRoleDefinitionId',
  'BadRequestFormat',
])

export async function previewPlan(
  deps: PreviewDependencies,
  { plan, secrets: given }: Expanded,
): Promise<{
  readonly previews: readonly Preview[]
  readonly redaction: Redaction
  /** What is masked, of what is nested too. */
  readonly secrets: readonly string[]
}> {
  const secrets = new Set(given)
  const prepared = new Map<string, Prepared>()
  const settled = new Map<string, Preview>()
  const planned = new Map(plan.nodes.map((one) => [one.id.toLowerCase(), one]))
  let answers = new Map<string, DryRunResult>()
  for (let wave = 0; wave < wavesMax; wave++) {
    const before = prepared.size + settled.size
    for (const node of plan.nodes) {
      if (prepared.has(node.key) || settled.has(node.key)) continue
      deps.signal?.throwIfAborted()
      const left = node.existing || node.onlyNew ? await leftAlone(deps, node) : undefined
      if (left !== undefined) {
        settled.set(node.key, left)
        continue
      }
      const made = await prepareNode(deps, node, { plan, planned, answers, settled })
      if (made === undefined) continue
      if ('kind' in made) {
        settled.set(node.key, made)
        continue
      }
      for (const secret of secretsAt(made.body, made.securePaths)) secrets.add(secret)
      if (node.nested) settled.set(node.key, await nestedPreview(node, made.body))
      else prepared.set(node.key, made)
    }
    if (prepared.size + settled.size === before) break
    const nodes = plan.nodes.filter((node) => prepared.has(node.key))
    const results = await deps.caller.dryRun(
      nodes.map((node) => ({
        path: node.id,
        version: node.apiVersion,
        body: prepared.get(node.key)?.body,
      })),
      deps.principal,
      deps.correlationId,
      deps,
    )
    answers = new Map()
    for (const [at, node] of nodes.entries()) {
      const result = results[at]
      if (result !== undefined) answers.set(node.key, result)
    }
    if (prepared.size + settled.size === plan.nodes.length) break
  }
  const redaction = new Redaction(
    secrets,
    plan.nodes.map(({ id }) => id),
  )
  const unsendable = await refusedAddresses(
    deps,
    plan.nodes.filter((node) => !node.existing && !prepared.has(node.key)),
  )
  const created = new Set(
    [...answers].flatMap(([key, one]) => (one.kind === 'ok' && one.status === 201 ? [key] : [])),
  )
  /** Resources that may be missing: refused, unknown, made by a nested deployment, or waiting for such. */
  const open = new Set<string>()
  const show = (node: PlannedNode): Preview => {
    const early = unsendable.get(node.key)
    if (early !== undefined && ofAddress.has(early.code)) {
      return { kind: 'refused', node, error: early }
    }
    const known = settled.get(node.key)
    if (known?.kind === 'refused') {
      const error = redaction.of(known.error)
      return { ...known, error, lack: lackOf(known.error, error) }
    }
    if (known?.kind === 'unknown') {
      const { lack } = known
      const shownLack = lack === undefined ? lack : { ...lack, error: redaction.of(lack.error) }
      return { ...known, reason: redaction.of(known.reason), lack: shownLack }
    }
    if (known !== undefined) return known
    const result = answers.get(node.key)
    if (result === undefined) {
      const lack = early === undefined ? early : lackOf(early, redaction.of(early))
      return { kind: 'unknown', node, reason: 'it refers to what is not there yet', lack }
    }
    if (result.kind === 'ok') {
      const { status, etag, isUnchanged } = result
      // It is written into the answer as it is: what JSON leaves out counts as absent everywhere.
      const after = (): unknown => redaction.of(result.body ?? null)
      return { kind: 'ok', node, status, after, etag, isUnchanged }
    }
    const raw = errorOf(result.error)
    const error = { ...redaction.of(raw), target: node.id }
    const mayMend = node.dependsOn.some((key) => created.has(key) || !answers.has(key))
    const isConsequence = result.error.status === 404 && node.dependsOn.some((key) => open.has(key))
    if (isConsequence || (result.early && mayMend && !certain.has(error.code))) {
      return { kind: 'unknown', node, reason: error.message, lack: lackOf(raw, error) }
    }
    return { kind: 'refused', node, error, lack: lackOf(raw, error) }
  }
  const previews: Preview[] = []
  for (const [at, node] of plan.nodes.entries()) {
    if (at % shownAtOnce === 0) await nextTurn()
    const shown = show(node)
    previews.push(shown)
    const isSure = shown.kind === 'ok' || shown.kind === 'existing'
    if (!isSure || node.dependsOn.some((key) => open.has(key))) open.add(node.key)
  }
  return { previews, redaction, secrets: [...secrets] }
}

/** Undefined when the deployment sends it. */
async function leftAlone(
  deps: PreviewDependencies,
  node: PlannedNode,
): Promise<Preview | undefined> {
  const left = await attemptPreview(() => isLeftAlone(deps, node))
  if (left.kind === 'refused') {
    return { kind: 'refused', node, error: { ...left.error, target: node.id } }
  }
  return left.value ? { kind: 'existing', node } : undefined
}

/** Refusals of addresses, for resources whose bodies are unknown or checked elsewhere. */
async function refusedAddresses(
  { caller, principal, correlationId, signal }: PreviewDependencies,
  nodes: readonly PlannedNode[],
): Promise<ReadonlyMap<string, ErrorDetail>> {
  const requests = nodes.map(({ id, apiVersion }) => ({ path: id, version: apiVersion, body: {} }))
  const results = await caller.dryRun(requests, principal, correlationId, { signal })
  const refused = new Map<string, ErrorDetail>()
  for (const [at, { key, id }] of nodes.entries()) {
    const result = results[at]
    if (result?.kind !== 'refused') continue
    refused.set(key, { ...errorOf(result.error), target: id })
  }
  return refused
}

async function nestedPreview(node: PlannedNode, body: Json): Promise<Preview> {
  const checked = await attemptPreview(async () => requireIncremental(body))
  if (checked.kind === 'ok') return { kind: 'nested', node, body }
  return { kind: 'refused', node, error: { ...checked.error, target: node.id } }
}

/** What is known when the bodies of one wave are made. */
interface Wave {
  readonly plan: Planned
  /** Planned nodes by their ids in lower case. */
  readonly planned: ReadonlyMap<string, PlannedNode>
  /** Answers of the previous wave's dry run, by node keys. */
  readonly answers: ReadonlyMap<string, DryRunResult>
  readonly settled: ReadonlyMap<string, Preview>
}

/** Undefined: not in this wave. */
async function prepareNode(
  deps: PreviewDependencies,
  node: PlannedNode,
  { plan, planned, answers, settled }: Wave,
): Promise<Prepared | Preview | undefined> {
  let isEarly = false
  const made = await attemptPreview(() =>
    evaluateLate({ ...deps, plan }, node, (need) => {
      // What a resource reads of itself is how it is before the deployment.
      const isItself = need.id.toLowerCase() === node.id.toLowerCase()
      const other = isItself ? undefined : planned.get(need.id.toLowerCase())
      if (other === undefined || other.existing || need.kind === 'list') return undefined
      const result = settled.has(other.key) ? undefined : answers.get(other.key)
      isEarly ||= result === undefined || result.kind === 'refused'
      if (result?.kind !== 'ok') return { value: null, secure: false }
      const open = result.isOpen ? { open: need.id } : {}
      return { value: jsonOf(result.body), secure: false, ...open }
    }),
  )
  if (isEarly) return undefined
  if (made.kind === 'ok') {
    return made.value
  }
  const error = { ...made.error, target: node.id }
  if (node.dependsOn.length === 0) return { kind: 'refused', node, error }
  const lack = made.by === 'plane' ? lackOf(error, error) : undefined
  return { kind: 'unknown', node, reason: error.message, lack }
}

/** What outputs read and does not exist. */
export async function lacksOfOutputs(
  deps: PreviewDependencies,
  { plan }: Expanded,
  redaction: Redaction,
): Promise<readonly Lack[]> {
  const made = plan.nodes.filter(({ existing }) => !existing)
  const planned = new Set(made.map(({ id }) => id.toLowerCase()))
  const found: Lack[] = []
  // Only its existence matters. Beyond the limit nothing is read, and nothing is certain.
  const room = newAnswerRoom()
  for (const output of plan.outputs) {
    if (room.left < 0) break
    deps.signal?.throwIfAborted()
    const answered = await attemptPreview(() => askAround({ ...deps, plan, room }, planned, output))
    if (answered.kind === 'ok' || answered.by !== 'plane') continue
    const shown = { ...redaction.of(answered.error), target: `outputs.${output.name}` }
    const lack = lackOf(answered.error, shown)
    if (lack !== undefined) found.push(lack)
  }
  return found
}

/** Fetches what an output reads first, except what the plan itself makes. Throws the refusals of the answers. */
async function askAround(
  asking: Asking,
  planned: ReadonlySet<string>,
  output: Planned['outputs'][number],
): Promise<void> {
  const result = await output.late(new Map())
  for (const need of 'needs' in result ? result.needs : []) {
    if (need.kind !== 'reference' || planned.has(need.id.toLowerCase())) continue
    await evaluateLate<void>(asking, {
      late: async (answers) => (answers.has(need.key) ? { value: undefined } : { needs: [need] }),
    })
  }
}

/** When others are created first, only what none of them can cure is a refusal; the rest is unknown. */
export function asTentative(previews: readonly Preview[]): readonly Preview[] {
  return previews.map((one) =>
    one.kind === 'refused' && !certain.has(one.error.code)
      ? { kind: 'unknown', node: one.node, reason: one.error.message, lack: one.lack }
      : one,
  )
}
