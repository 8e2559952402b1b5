/** cancel, validate, whatIf, exportTemplate and the listing of outputs. Only the first changes anything, and that only the deployment. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import type { Action, ActionContext } from '#plane/declare/action.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { sizeOf } from '#template/expansion.ts'
import type { Json } from '#template/plan.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { jsonOf } from '../../domain/deployments/answers.ts'
import { attempt } from '../../domain/deployments/attempt.ts'
import { comparable, deltaOf } from '../../domain/deployments/delta.ts'
import { expandAt, modelOf, requestAt, requireLocation } from '../../domain/deployments/engine.ts'
import { deploysTo } from '../../domain/deployments/expand.ts'
import { type Member, membersOf } from '../../domain/deployments/group-members.ts'
import { outermost } from '../../domain/deployments/kept-resources.ts'
import { fallbackAt } from '../../domain/deployments/on-error.ts'
import { pauseAfter } from '../../domain/deployments/pause.ts'
import type { Preview } from '../../domain/deployments/preview.ts'
import { previewTree } from '../../domain/deployments/preview-tree.ts'
import { redact } from '../../domain/deployments/redact.ts'
import { showDeployment } from '../../domain/deployments/show.ts'
import { refuseDeployment } from '../../errors.ts'
import {
  type Deployment,
  type DeploymentRequest,
  outputsSealContext,
  type Progress,
} from './model.ts'
import { deploymentBody } from './versions/2025-03-01.ts'

interface Change {
  readonly resourceId: string
  readonly changeType: string
  readonly before?: unknown
  readonly after?: unknown
  readonly delta?: readonly unknown[]
  readonly unsupportedReason?: string
}

export function deploymentActions(
  deps: DeploymentDependencies,
): Readonly<Record<string, Action<Deployment>>> {
  return {
    cancel: {
      method: 'POST',
      description: 'Cancel a deployment that is running; what it has made stays',
      writes: true,
      whileRunning: true,
      run({ resource, id }) {
        if (resource === undefined || isTerminalState(resource.state)) {
          const state = resource?.state ?? 'NotFound'
          throw refuseDeployment.DeploymentNotActive({ name: nameOf(id), state })
        }
        return Promise.resolve({ status: 204, model: { ...resource.model, canceled: true } })
      },
    },
    validate: {
      method: 'POST',
      description: 'Check a template and what would become of each of its resources',
      body: deploymentBody,
      answer: Type.Object({ properties: Type.Object({}) }),
      unstored: true,
      async run(context, body: unknown) {
        const { id, principal, correlationId, now } = context
        const request = await requestAt(deps, { id, context }, body)
        requireLocation(deps, id, request)
        const at = { run: deps.ids.uuid(), startedAt: now }
        const expanded = await expandAt(deps, request, occasionOf(context, at.run))
        const by = { deployer: principal, correlationId }
        const onError = await fallbackAt(context, id, request, false)
        const model = modelOf(deps, id, { onError, request, expanded, ...by, ...at })
        const validatedResources: { readonly id: string }[] = []
        const validation = request.validationLevel
        await previewTree(deps, context, { id, expanded, validation }, ({ node }) => {
          validatedResources.push({ id: node.id })
        })
        const shown = showDeployment(model, 'Succeeded', undefined)
        const { outputResources: _none, ...properties } = shown['properties'] as Record<
          string,
          unknown
        >
        return {
          status: 200,
          body: {
            id: context.id.text,
            name: nameOf(context.id),
            type: `${deps.words.namespace}.Resources/deployments`,
            ...shown,
            properties: { ...properties, validatedResources },
          },
        }
      },
    },
    whatIf: {
      method: 'POST',
      description: 'Show what a deployment would change, property by property',
      body: deploymentBody,
      answer: Type.Object({ status: Type.String(), properties: Type.Object({}) }),
      unstored: true,
      countsAsRead: true,
      async run(context, body: unknown) {
        const { correlationId } = context
        const short = resultFormat(body) === 'ResourceIdOnly'
        const request = await requestAt(deps, { id: context.id, context }, body)
        requireLocation(deps, context.id, request)
        await fallbackAt(context, context.id, request, false)
        const changes = await whatIf(deps, context, request)
        const shown = short
          ? changes.map(({ resourceId, changeType }) => ({
              resourceId,
              changeType: ['Create', 'Modify', 'NoChange'].includes(changeType)
                ? 'Deploy'
                : changeType,
            }))
          : changes
        return {
          status: 200,
          body: { status: 'Succeeded', properties: { correlationId, changes: shown } },
        }
      },
    },
    listOutputsWithSecureValues: {
      method: 'POST',
      description: 'The values of all outputs, those too that are not shown',
      answer: Type.Object({}, { additionalProperties: true }),
      revealsSecret: true,
      countsAsRead: true,
      async run({ resource, id }) {
        if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
        const { run } = resource.model
        // Written by the reconciler of this type alone.
        const progress = resource.observed as Progress | undefined
        const isDone = resource.state === 'Succeeded' && progress?.run === run
        const { outputs = {}, sealedOutputs } = isDone ? progress : {}
        const opened =
          sealedOutputs === undefined
            ? '{}'
            : deps.seal.open(sealedOutputs, outputsSealContext(id.key, run))
        if (opened === undefined) throw new Error(`the outputs of ${id.text} cannot be opened`)
        const shown = Object.entries(outputs).flatMap(([name, one]) =>
          'value' in one ? [[name, one.value] as const] : [],
        )
        // Sealed by the reconciler alone.
        const hidden = JSON.parse(opened) as object
        return { status: 200, body: { ...Object.fromEntries(shown), ...hidden } }
      },
    },
    exportTemplate: {
      method: 'POST',
      description: 'The template of a deployment as it was given',
      answer: Type.Object({ template: Type.Object({}) }),
      countsAsRead: true,
      run: ({ resource }) =>
        Promise.resolve({ status: 200, body: { template: resource?.model.template ?? {} } }),
    },
  }
}

function occasionOf(
  { id, principal, now }: ActionContext<Deployment>,
  run: string,
): Parameters<typeof expandAt>[2] {
  return { id, deployer: principal, run, startedAt: now, isAccepted: false, isNested: false }
}

/** Characters of JSON, about, that the changes of one answer have together. Those beyond it are shown without what they hold. */
const shownCharactersMax = 4 * 1024 * 1024
/** Members of the group that are read before others get a turn. */
const membersAtOnce = 20

/** What a what-if has found so far, over all levels. */
interface Found {
  readonly changes: Change[]
  /** Characters that the answer may still grow by. */
  room: number
  /** Keys of what the deployment and those nested in it make or name. */
  readonly kept: Set<string>
  /** Nested deployments whose resources cannot be known yet. */
  readonly unknown: string[]
}

async function whatIf(
  deps: DeploymentDependencies,
  context: ActionContext<Deployment>,
  request: DeploymentRequest,
): Promise<readonly Change[]> {
  const { id } = context
  const found: Found = { changes: [], room: shownCharactersMax, kept: new Set(), unknown: [] }
  const expanded = await expandAt(deps, request, occasionOf(context, deps.ids.uuid()))
  await previewTree(deps, context, { id, expanded }, (preview, secrets) =>
    noteChange({ deps, context, found }, preview, secrets),
  )
  if (deploysTo(id, deps.words) === 'group') {
    let read = 0
    for await (const member of membersOf(deps.services.listTracked, scopeOf(id))) {
      if (found.kept.has(member.key)) continue
      context.signal?.throwIfAborted()
      const change = await leftOver(deps, context, member, { ...request, ...found })
      if (change !== undefined) await show(change, found)
      read++
      if (read % membersAtOnce === 0) await nextTurn()
    }
  }
  return found.changes
}

async function show(change: Change, found: Found): Promise<void> {
  // Made of answers, so it is JSON.
  const length = sizeOf(change as unknown as Json, found.room)
  const fits = length <= found.room
  const { resourceId, changeType } = change
  const unsupportedReason = 'what it holds is not shown: the answer would be too large'
  found.changes.push(fits ? change : { resourceId, changeType, unsupportedReason })
  if (fits) found.room -= length
  await pauseAfter({ length })
}

/** What becomes of a resource that the templates do not name. */
async function leftOver(
  deps: DeploymentDependencies,
  context: ActionContext<Deployment>,
  { text, version }: Member,
  { mode, unknown }: Pick<DeploymentRequest, 'mode'> & Pick<Found, 'unknown'>,
): Promise<Change | undefined> {
  const before = (await readAs(deps, context, text, version)).body
  if (before === undefined) return undefined
  const resourceId = text
  if (mode !== 'Complete') return { resourceId, changeType: 'Ignore', before, after: before }
  if (unknown.length === 0) return { resourceId, changeType: 'Delete', before }
  const unsupportedReason = `it is deleted unless a nested deployment names it, and what this one names is not known yet: ${unknown[0]}`
  return { resourceId, changeType: 'Unsupported', before, unsupportedReason }
}

interface WhatIf {
  readonly deps: DeploymentDependencies
  readonly context: ActionContext<Deployment>
  readonly found: Found
}

async function noteChange(
  { deps, context, found }: WhatIf,
  preview: Preview,
  secrets: readonly string[],
): Promise<void> {
  const { kept, unknown } = found
  const { node } = preview
  if (!node.nested) kept.add(outermost(node.id))
  if (preview.kind === 'ok') {
    await show(await changeOf(deps, context, preview, secrets), found)
  } else if (preview.kind === 'unknown') {
    if (node.nested) unknown.push(node.id)
    const unsupportedReason = preview.reason
    await show({ resourceId: node.id, changeType: 'Unsupported', unsupportedReason }, found)
  }
}

async function changeOf(
  deps: DeploymentDependencies,
  context: ActionContext<Deployment>,
  preview: Extract<Preview, { kind: 'ok' }>,
  secrets: readonly string[],
): Promise<Change> {
  const { node } = preview
  const after = comparable(preview.after)
  if (preview.status === 201) return { resourceId: node.id, changeType: 'Create', after }
  const seen = await readNode(deps, context, node)
  const before = redact(comparable(seen.body), secrets)
  if (seen.etag !== undefined && seen.etag === preview.etag) {
    return { resourceId: node.id, changeType: 'NoChange', before, after: before }
  }
  const delta = deltaOf(before, after)
  // Something changes that is never shown: it is said which of the secure values were given.
  const hidden = preview.securePaths.map((path) => ({ path, propertyChangeType: 'Modify' }))
  const shown = delta.length > 0 ? delta : hidden
  return { resourceId: node.id, changeType: 'Modify', before, after, delta: shown }
}

function readNode(
  deps: DeploymentDependencies,
  context: ActionContext<Deployment>,
  node: Pick<Preview['node'], 'id' | 'apiVersion'>,
): Promise<Seen> {
  return readAs(deps, context, node.id, node.apiVersion)
}

interface Seen {
  readonly body?: unknown
  readonly etag?: string | undefined
}

/** Nothing where the caller may not read it, or it is gone. */
async function readAs(
  deps: DeploymentDependencies,
  { principal, correlationId }: ActionContext<Deployment>,
  path: string,
  version: string,
): Promise<Seen> {
  const request = { method: 'GET', path, version, principal, correlationId } as const
  const seen = await attempt(() => deps.services.caller.call(request))
  if (seen.kind === 'refused') return {}
  return { body: jsonOf(seen.value.body), etag: seen.value.etag }
}

function resultFormat(body: unknown): unknown {
  const properties = isJsonObject(body) ? body['properties'] : undefined
  const settings = isJsonObject(properties) ? properties['whatIfSettings'] : undefined
  return isJsonObject(settings) ? settings['resultFormat'] : undefined
}
