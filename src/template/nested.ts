/**
 * Expands the templates inside a plan as far as possible without a server. Links are not followed, and of another
 * scope only the id is known.
 */
import {
  nameOf,
  parseResourceId,
  resourceGroupOf,
  scopeOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { isObject, objectOf } from './fields.ts'
import { templateLanguage } from './language.ts'
import type {
  ExpansionContext,
  Json,
  JsonObject,
  Plan,
  PlanNode,
  Runtime,
  TemplateProblem,
} from './plan.ts'
import type { Read } from './template.ts'

export type NestedExpansion =
  | { readonly kind: 'expanded'; readonly plan: Plan; readonly context: ExpansionContext }
  | { readonly kind: 'refused'; readonly problems: readonly TemplateProblem[] }
  /** It depends on other resources, or belongs to another scope. */
  | { readonly kind: 'unknown'; readonly reason: string }

const nothingYet: Runtime = { answer: () => undefined }

/** Throws `TemplateRefusal` when an expression of the deployment itself fails. */
export function expandNested(node: PlanNode, context: ExpansionContext): NestedExpansion {
  const [need] = node.needs(nothingYet)
  if (need !== undefined) return { kind: 'unknown', reason: `it waits for ${need.id}` }
  const { location, properties } = node.evaluate(nothingYet).body
  const template = isObject(properties) ? properties['template'] : undefined
  if (!isObject(template)) return { kind: 'unknown', reason: 'its template is linked' }
  const parameters = isObject(properties) ? properties['parameters'] : undefined
  const place = placeOf(node, location, context)
  const made = expandAll(template, isObject(parameters) ? parameters : objectOf([]), place)
  if (!made.ok) return { kind: 'refused', problems: made.problems }
  return { kind: 'expanded', plan: made.value, context: place }
}

/**
 * `place` may follow the scope that the template is for. Parsing and expanding find different problems, so a
 * template that could be read is expanded anyway.
 */
export function expandAll(
  template: string | JsonObject,
  parameters: string | JsonObject,
  place: ExpansionContext | ((scope: ExpansionContext['scope']) => ExpansionContext),
): Read<Plan> {
  const read = templateLanguage.parseTemplate(template)
  const given = templateLanguage.parseParameters(parameters)
  const parsed = read.ok ? read.value : read.partial
  const context = typeof place === 'function' ? place(parsed?.scope ?? 'resourceGroup') : place
  const made =
    parsed !== undefined && given.ok
      ? templateLanguage.expand(parsed, given.value, context)
      : undefined
  if (read.ok && given.ok && made?.ok === true) return made
  const all = [read, given, made].flatMap((one) => (one?.ok === false ? one.problems : []))
  const first = new Map(all.map((one) => [`${one.path} ${one.message}`, one]))
  return { ok: false, problems: [...first.values()] }
}

/** The scope of a nested deployment, as its own expressions see it. */
function placeOf(
  node: PlanNode,
  location: Json | undefined,
  { resourceGroup, subscription, managementGroup, templateLink: _, ...context }: ExpansionContext,
): ExpansionContext {
  const id = parseResourceId(node.id)
  const shared = {
    ...context,
    isNested: true,
    deploymentName: id === undefined ? node.name : nameOf(id),
    ...(typeof location === 'string' ? { location } : {}),
  }
  const owner = id === undefined ? undefined : subscriptionOf(id)
  if (id === undefined || owner === undefined) {
    const scope = id === undefined ? undefined : scopeOf(id)
    const isTenant = scope === undefined || scope.segments.length === 0
    if (isTenant) return { ...shared, scope: 'tenant' }
    const own = objectOf([
      ['id', scope.text],
      ['name', nameOf(scope)],
    ])
    return { ...shared, scope: 'managementGroup', managementGroup: sameOr(managementGroup, own) }
  }
  const subscriptionOwn = objectOf([
    ['id', `/subscriptions/${owner}`],
    ['subscriptionId', owner],
    ['tenantId', context.tenant['tenantId'] ?? null],
    ['displayName', owner],
  ])
  const within = { ...shared, subscription: sameOr(subscription, subscriptionOwn) }
  const group = resourceGroupOf(id)
  if (group === undefined) return { ...within, scope: 'subscription' }
  const groupOwn = objectOf([
    ['id', `/subscriptions/${owner}/resourceGroups/${group}`],
    ['name', group],
    ['location', context.location ?? 'local'],
    ['tags', objectOf([])],
  ])
  return { ...within, scope: 'resourceGroup', resourceGroup: sameOr(resourceGroup, groupOwn) }
}

/** More is known of the scope of the outer template. */
function sameOr(outer: JsonObject | undefined, own: JsonObject): JsonObject {
  const [one, two] = [outer?.['id'], own['id']]
  if (typeof one !== 'string' || typeof two !== 'string') return own
  return outer !== undefined && one.toLowerCase() === two.toLowerCase() ? outer : own
}
