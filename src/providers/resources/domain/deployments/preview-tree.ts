/**
 * Previews a deployment with all that is nested in it, and collects every refusal of every level. A level that others
 * are made before is tentative: there only what they cannot mend is a refusal. Writes nothing.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { nameOf, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { refusePreflight } from '../../errors.ts'
import type { ValidationLevel } from '../../resources/deployments/model.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'
import { attemptPreview } from './attempt.ts'
import { expandAt, requestAt, withSecrets } from './engine.ts'
import type { Expanded } from './expand.ts'
import { Lacks } from './lacks.ts'
import { nestResourcesMax, requireShare, shareOfNested } from './nested-share.ts'
import { nestingLimits } from './nesting.ts'
import { fallbackAt } from './on-error.ts'
import { asTentative, lacksOfOutputs, type Preview, previewPlan } from './preview.ts'
import type { Redaction } from './redact.ts'

/**
 * Called for each preview, in the order of the plans; `deploymentId` is that of the deployment whose template has
 * it.
 */
type Visit = (
  preview: Preview,
  level: { readonly redaction: Redaction; readonly deploymentId: string },
) => Promise<void> | void

interface Level {
  readonly id: ResourceId
  readonly expanded: Expanded
  readonly depth: number
  /** The resources it may have with everything nested in it. */
  readonly share: number
  readonly isTentative: boolean
  /** Its plan is carried out next; nested ones are expanded once more until then. */
  readonly isSentNext?: boolean | undefined
}

interface Walk {
  readonly deps: DeploymentDependencies
  readonly context: Context
  readonly visit: Visit
  readonly refusals: ErrorDetail[]
  readonly lacks: Lacks
  nested: number
}

/** Throws `InvalidTemplateDeployment` with the refusals of all resources at all depths. */
export async function previewTree(
  deps: DeploymentDependencies,
  context: Context,
  root: Pick<Level, 'id' | 'expanded'> &
    Partial<Pick<Level, 'depth' | 'share' | 'isSentNext'>> & {
      readonly validation?: ValidationLevel | undefined
    },
  visit: Visit = () => undefined,
): Promise<void> {
  const { id, expanded, depth = 0, share = nestResourcesMax, validation, isSentNext } = root
  if (validation === 'Template') {
    requireShare(nameOf(id), expanded.plan.nodes.length, share)
    return
  }
  const walk: Walk = { deps, context, visit, refusals: [], lacks: new Lacks(), nested: 0 }
  await previewLevel(walk, { id, expanded, depth, isTentative: false, share, isSentNext })
  // Others run beside a nested deployment, and may create it until then.
  const lacking = depth === 0 ? walk.lacks.forGood() : []
  const refusals = [...walk.refusals, ...lacking].filter(
    ({ code }) => validation !== 'ProviderNoRbac' || code !== 'AuthorizationFailed',
  )
  if (refusals.length > 0) throw refusePreflight(refusals)
}

async function previewLevel(walk: Walk, level: Level): Promise<void> {
  const { id, expanded, isTentative, share, isSentNext } = level
  const { principal, correlationId, signal } = walk.context
  const { caller } = walk.deps.services
  requireShare(nameOf(id), expanded.plan.nodes.length, share)
  const by = { caller, principal, correlationId, signal, isSentNext }
  const seen = await previewPlan(by, expanded)
  const previews = isTentative ? asTentative(seen.previews) : seen.previews
  const { redaction } = seen
  const asking = { caller, principal, correlationId, signal }
  for (const one of await lacksOfOutputs(asking, expanded, redaction)) walk.lacks.lack(one)
  for (const node of expanded.plan.nodes) walk.lacks.make(node)
  const shown = { redaction, deploymentId: id.text }
  const nestedCount = previews.filter(({ node }) => node.nested).length
  for (const preview of previews) {
    if (preview.kind === 'refused') {
      if (preview.node.nested) walk.lacks.missLevel()
      walk.refusals.push(preview.error)
      continue
    }
    const wrong = preview.kind === 'unknown' ? await wrongLink(walk, preview.node) : undefined
    if (wrong !== undefined) {
      walk.lacks.missLevel()
      walk.refusals.push(redaction.of(wrong))
      continue
    }
    const inside =
      preview.kind === 'nested' ? await insideOf(walk, level, preview, seen.secrets) : undefined
    if (inside?.kind === 'refused') {
      walk.lacks.missLevel()
      walk.refusals.push(redaction.of(inside.error))
    } else if (inside?.kind === 'expanded') {
      await walk.visit(preview, shown)
      await previewLevel(walk, {
        ...inside,
        depth: level.depth + 1,
        isTentative: isTentative || preview.node.dependsOn.length > 0,
        share: shareOfNested(share, seen.previews.length, nestedCount),
      })
    } else {
      const shownPreview =
        inside === undefined ? preview : { ...inside, reason: redaction.of(inside.reason) }
      if (shownPreview.kind === 'unknown') {
        if (preview.node.nested) walk.lacks.missLevel()
        if (shownPreview.lack !== undefined) walk.lacks.lack(shownPreview.lack)
      }
      await walk.visit(shownPreview, shown)
    }
  }
}

/** What a secret lacks may be created before it is read. */
const ofVault = new Set(['ParameterSecretNotFound', 'LinkedAuthorizationFailed'])

type Inside =
  | { readonly kind: 'expanded'; readonly id: ResourceId; readonly expanded: Expanded }
  | { readonly kind: 'refused'; readonly error: ErrorDetail }
  | Extract<Preview, { readonly kind: 'unknown' }>

/** Why the link of a nested deployment cannot be followed, though what it is given is not known yet. */
async function wrongLink(
  walk: Walk,
  { id: text, knownLink, nested }: PlannedNode,
): Promise<ErrorDetail | undefined> {
  const id = parseResourceId(text)
  if (id === undefined || !nested || knownLink === undefined) return undefined
  walk.nested += 1
  if (walk.nested > nestingLimits.deployments) return undefined
  const { deps, context } = walk
  const body = { properties: { templateLink: knownLink } }
  const read = await attemptPreview(() => requestAt(deps, { id, context, isAccepted: true }, body))
  const isWrong = read.kind === 'refused' && ofLink.has(read.error.code)
  return isWrong ? { ...read.error, target: text } : undefined
}

/** No other resource of the deployment can mend these. */
const ofLink = new Set(['InvalidContentLink', 'InvalidTemplate'])

async function insideOf(
  walk: Walk,
  { depth, isTentative }: Level,
  { node, body }: Extract<Preview, { readonly kind: 'nested' }>,
  secrets: readonly string[],
): Promise<Inside> {
  const { deps, context } = walk
  const id = parseResourceId(node.id)
  if (id === undefined) throw new Error(`${node.id} is no id`)
  walk.nested += 1
  const tooMuch =
    depth >= nestingLimits.depth
      ? `it is nested more than ${nestingLimits.depth} deep`
      : `it is one of more than ${nestingLimits.deployments} nested deployments`
  if (depth >= nestingLimits.depth || walk.nested > nestingLimits.deployments) {
    return { kind: 'unknown', node, reason: tooMuch }
  }
  const made = await attemptPreview(async () => {
    // The root was admitted: nested ones wait for the quota, and are not refused for it.
    const request = await requestAt(deps, { id, context, isAccepted: true }, body)
    await fallbackAt(context, id, request, true)
    const expanded = await expandAt(deps, request, {
      id,
      deployer: context.principal,
      run: deps.ids.uuid(),
      startedAt: context.now,
      isAccepted: true,
      isNested: true,
    })
    return withSecrets(expanded, secrets)
  })
  if (made.kind === 'ok') return { kind: 'expanded', id, expanded: made.value }
  const isLate = isTentative || node.dependsOn.length > 0
  // Its management group may be created before it.
  if (isLate && (ofVault.has(made.error.code) || made.status === 404)) {
    return { kind: 'unknown', node, reason: made.error.message }
  }
  return { kind: 'refused', error: { ...made.error, target: node.id } }
}
