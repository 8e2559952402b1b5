/** Deployments: a template carried out at a group or a subscription, long-running, as the one who asked for it. */

import { refuse } from '#kernel/error.ts'
import { compileFilter } from '#kernel/filter/evaluate.ts'
import type { FieldMap } from '#kernel/filter/field-map.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { lenientProfile } from '#kernel/filter/profile.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { nameOf, scopeOf } from '#kernel/resource-id.ts'
import {
  defineResource,
  type ListContext,
  type ListPage,
  type Resource,
  type ResourceType,
} from '#plane/define.ts'
import { scanPage } from '../scan-page.ts'
import { deploymentActions } from './actions.ts'
import { type DeploymentParts, expandAt, expandStored, modelOf, requestAt } from './engine.ts'
import { refuseDeployment } from './errors.ts'
import type { Expanded } from './expand.ts'
import { assignedRun } from './kept-resources.ts'
import type { Deployment } from './model.ts'
import { deploymentOperations } from './operations.ts'
import { previewPlan, requireAccepted } from './preview.ts'
import { carryOut } from './reconcile.ts'
import { deploymentVersions, type PreparedBody } from './versions/2025-03-01.ts'

type Stored = Resource<Deployment>

const type = 'Resources/deployments'
const keptMax = 800
const scanRowsMax = 5000

export function deployments(parts: DeploymentParts): readonly ResourceType[] {
  const { services, clock } = parts
  const fresh = freshPlans()
  return [
    defineResource<Deployment>({
      type,
      description: 'Deployments: templates carried out at a group or a subscription.',
      scope: 'any',
      tracked: false,
      // Published command lines send a template as it stands in its file.
      bodySyntax: 'relaxed',
      name: {
        pattern: /^[-\w._()]{1,64}$/,
        rule: '1 to 64 letters, digits, or any of "-._()"',
      },
      versions: deploymentVersions,
      verbs: ['get', 'list', 'put', 'delete'],
      async prepare(context, body: unknown): Promise<PreparedBody> {
        const { id, principal, correlationId, now } = context
        const assigned = assignedRun(body)
        // A nested deployment is sent by one that was accepted.
        const isAccepted = assigned !== undefined
        const request = await requestAt(parts, id, body, context, isAccepted)
        const at = { run: assigned ?? parts.ids.uuid(), startedAt: now }
        const occasion = { id, deployer: principal, ...at, isAccepted }
        const expanded = await expandAt(parts, request, occasion)
        const { previews } = await previewPlan(
          { caller: services.caller, principal, correlationId },
          expanded,
        )
        requireAccepted(previews)
        fresh.keep(at.run, expanded)
        const by = { deployer: principal, correlationId }
        return { deployment: modelOf(parts, id, request, expanded, by, at) }
      },
      async rules({ id, previous, reader: inside }) {
        if (previous !== undefined) return []
        const under = scopeOf(id)
        if ((await inside.count({ type, under, limit: keptMax })) < keptMax) return []
        throw refuseDeployment.DeploymentQuotaExceeded({ limit: keptMax })
      },
      deleteRules({ resource }) {
        if (resource !== undefined && !isTerminalState(resource.state)) {
          throw refuseDeployment.DeploymentActive({ name: nameOf(resource.id) })
        }
      },
      busy: ({ id }) => refuseDeployment.DeploymentActive({ name: nameOf(id) }),
      reconcile: carryOut({
        caller: services.caller,
        listTracked: (query) => services.listTracked(query),
        reader: services.reader,
        onSettled: (callback, signal) => services.onSettled(callback, signal),
        clock,
        expand: async (id, model) => fresh.take(model.run) ?? expandStored(parts, id, model),
      }),
      actions: deploymentActions(parts),
      list: (context) => listDeployments(context),
    }),
    ...deploymentOperations(
      parts.words,
      deploymentVersions.map((version) => version.date),
    ),
  ]
}

/** As many as are likely to be taken up by this process right after they were accepted. */
const freshMax = 8

interface FreshPlans {
  keep(run: string, expanded: Expanded): void
  take(run: string): Expanded | undefined
}

/** Plans that were just made for the request: whoever carries them out here need not make them once more. */
function freshPlans(): FreshPlans {
  const plans = new Map<string, Expanded>()
  return {
    keep(run, expanded) {
      expanded.plan.accept()
      plans.set(run, expanded)
      const [oldest] = plans.keys()
      if (plans.size > freshMax && oldest !== undefined) plans.delete(oldest)
    },
    take(run) {
      const plan = plans.get(run)
      plans.delete(run)
      return plan
    },
  }
}

const fields: FieldMap<Stored> = {
  fields: {
    provisioningState: { type: 'string', read: (one) => one.state, ignoreCase: true },
    name: { type: 'string', read: (one) => nameOf(one.id), ignoreCase: true },
  },
}

/** Those of this very scope: a subscription's list has none of its groups'. */
function listDeployments(context: ListContext): Promise<ListPage<Stored>> {
  const matches = predicateOf(context.query.get('$filter') ?? '')
  return scanPage<Stored>({
    async read(after, limit) {
      const rows = await context.reader.list({
        type,
        under: context.parent,
        ...(after === undefined ? {} : { after }),
        limit,
      })
      const last = rows.at(-1)
      return {
        // Rows of this type were made by its `toModel`.
        rows: rows as readonly Stored[],
        ...(rows.length === limit && last !== undefined ? { next: last.id.key } : {}),
      }
    },
    keyOf: (one) => one.id.key,
    accepts: (one) => scopeOf(one.id).key === context.parent.key && matches(one),
    limit: context.limit,
    cursor: context.cursor,
    scanRowsMax,
  })
}

function predicateOf(text: string): (one: Stored) => boolean {
  if (text.trim() === '') return () => true
  const parsed = parseFilter(text, lenientProfile)
  if (!parsed.ok) throw refuse.InvalidFilterInQueryString({ reason: parsed.message })
  const compiled = compileFilter(parsed.node, fields)
  if (!compiled.ok) throw refuse.InvalidFilterInQueryString({ reason: compiled.message })
  return compiled.matches
}
