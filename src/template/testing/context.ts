/** A place to deploy to, for tests: its clock stands still and its chance counts. */

import { templateLanguage } from '../language.ts'
import type { ExpansionContext, JsonObject, Plan, PlanNode, Runtime } from '../plan.ts'
import type { ParameterArgument } from '../template.ts'

export const subscriptionId = '11111111-2222-4333-8444-555555555555'
export const groupId = `/subscriptions/${subscriptionId}/resourceGroups/rg`

export function groupContext(change: Partial<ExpansionContext> = {}): ExpansionContext {
  let drawn = 0
  return {
    scope: 'resourceGroup',
    tenant: { tenantId: 'tenant' },
    subscription: {
      id: `/subscriptions/${subscriptionId}`,
      subscriptionId,
      tenantId: 'tenant',
      displayName: 'one',
    },
    resourceGroup: { id: groupId, name: 'rg', location: 'local', tags: {} },
    deploymentName: 'd',
    deployer: { objectId: 'someone', tenantId: 'tenant' },
    environment: { name: 'test', resourceManager: 'http://armature.example/' },
    now: Date.UTC(2026, 10, 21),
    uuid: () => `00000000-0000-4000-8000-${String(drawn++).padStart(12, '0')}`,
    zones: () => [],
    ...change,
  }
}

export function subscriptionContext(): ExpansionContext {
  const { resourceGroup: _none, ...rest } = groupContext()
  return { ...rest, scope: 'subscription', location: 'local' }
}

/** A template of these sections. */
export function template(sections: object): JsonObject {
  return {
    $schema: 'https://schema.example/2019-04-01/deploymentTemplate.json#',
    contentVersion: '1.0.0.0',
    resources: [],
    ...sections,
  }
}

type Expected<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Reads and expands; problems as `path (line:column) message`, without the place where there is no text. */
export function expandAll(
  given: string | JsonObject,
  parameters: Readonly<Record<string, ParameterArgument>> = {},
  context: ExpansionContext = groupContext(),
): Expected<Plan> {
  const read = templateLanguage.parseTemplate(given)
  const made = read.ok ? templateLanguage.expand(read.value, parameters, context) : read
  if (made.ok) return made
  const problems = made.problems.map(({ line, column, path, message }) =>
    line === 0 ? `${path}: ${message}` : `${path} (${line}:${column}): ${message}`,
  )
  return { ok: false, problems }
}

/** The plan; throws with its problems when there is none. */
export function planOf(
  given: string | JsonObject,
  parameters: Readonly<Record<string, ParameterArgument>> = {},
  context: ExpansionContext = groupContext(),
): Plan {
  const made = expandAll(given, parameters, context)
  if (made.ok) return made.value
  throw new Error(made.problems.join('\n'))
}

export function problemsOf(
  given: string | JsonObject,
  parameters: Readonly<Record<string, ParameterArgument>> = {},
  context: ExpansionContext = groupContext(),
): readonly string[] {
  const made = expandAll(given, parameters, context)
  return made.ok ? [] : made.problems
}

export const noAnswers: Runtime = { answer: () => undefined }

/** What is sent for it, as plain objects. Its needs have to be answered. */
export function bodyOf(node: PlanNode | undefined, runtime: Runtime = noAnswers): unknown {
  return JSON.parse(JSON.stringify(node?.evaluate(runtime).body ?? null))
}

/** Everything a plan says, as one text: two plans are the same when these are. */
export function shown(plan: Plan): string {
  const nodes = plan.nodes.map(({ needs, evaluate, ...data }) => {
    const wanted = needs(noAnswers)
    return { ...data, wanted, body: wanted.length === 0 ? evaluate(noAnswers) : null }
  })
  const outputs = plan.outputs.map(({ needs, evaluate, ...data }) => {
    const wanted = needs(noAnswers)
    return { ...data, wanted, value: wanted.length === 0 ? evaluate(noAnswers) : null }
  })
  return JSON.stringify({ nodes, outputs, parameters: plan.parameters })
}
