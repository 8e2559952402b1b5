/**
 * Functions about resources: their ids, which are made of text alone, and what only a running resource can say,
 * which the scope asks for.
 */
import { isUuid } from '#kernel/uuid.ts'
import { isArray, objectOf } from '../fields.ts'
import type { Json, JsonObject } from '../plan.ts'
import { EvaluationError } from '../scope.ts'
import type { Call, ValueFunction } from './define.ts'
import { arrayAt, integerAt, textAt } from './values.ts'

const group = 'resource'

/** `listKeys` and its like. The name's rest is the provider's business. */
export const listFunction: ValueFunction = {
  name: 'list*',
  group,
  parameters: 'resource, apiVersion, [body]',
  least: 2,
  most: 3,
  doc: 'The answer of a POST to a resource, whose last segment is the name of the function.',
  apply(values, call) {
    const target = textAt(values, 0, call)
    const apiVersion = textAt(values, 1, call)
    const [, , body = null] = values
    return call.scope.list(call.name, target, apiVersion, body === null ? undefined : body)
  },
}

export const resourceFunctions: readonly ValueFunction[] = [
  {
    name: 'extensionResourceId',
    group,
    parameters: 'id, type, names…',
    least: 3,
    doc: 'The id of a resource that extends the one with the given id.',
    apply: (values, call) =>
      `${textAt(values, 0, call).replace(/\/$/, '')}/providers/${path(values, 1, call)}`,
  },
  {
    name: 'managementGroupResourceId',
    group,
    parameters: '[managementGroup], type, names…',
    least: 2,
    doc: 'The id of a resource at a management group, by default the one that is deployed to.',
    apply(values, call) {
      const at = typeAt(values, 1, call)
      const own = call.scope.context.managementGroup
      const rest = path(values, at, call)
      const vendor = rest.split(/[./]/)[0] ?? ''
      const base =
        at === 1
          ? `/providers/${vendor}.Management/managementGroups/${textAt(values, 0, call)}`
          : idOf(own, call, 'a management group')
      return `${base}/providers/${rest}`
    },
  },
  {
    name: 'pickZones',
    group,
    parameters: 'namespace, type, location, [count], [offset]',
    least: 3,
    most: 5,
    doc: 'So many zones (by default one) that the location has for the type, or an empty array when it has none.',
    apply: pickZones,
  },
  {
    name: 'providers',
    group,
    parameters: 'namespace, [type]',
    least: 1,
    most: 2,
    doc: 'What a provider offers, or one of its types with locations and API versions; kept for old templates.',
    apply: providers,
  },
  {
    name: 'reference',
    group,
    parameters: "resource, [apiVersion], ['Full']",
    least: 1,
    most: 3,
    doc: "The properties of a running resource, or with 'Full' the whole of it.",
    apply(values, call) {
      const target = textAt(values, 0, call)
      const [, version = null] = values
      const apiVersion = version === null ? undefined : textAt(values, 1, call)
      return call.scope.reference(target, apiVersion, isFull(values, 2, call))
    },
  },
  {
    name: 'target',
    group,
    parameters: "['Full']",
    least: 0,
    most: 1,
    doc: "The properties that the resource around has before it is deployed, or with 'Full' the whole of it; null where it is not there.",
    apply: (values, call) => call.scope.target(isFull(values, 0, call)),
  },
  {
    name: 'references',
    group,
    parameters: "symbolicLoop, ['Full']",
    least: 1,
    most: 2,
    doc: 'What reference() gives for each resource of a copy loop, by its symbolic name.',
    apply: (values, call) =>
      call.scope.references(textAt(values, 0, call), isFull(values, 1, call)),
  },
  {
    name: 'resourceId',
    group,
    parameters: '[subscription], [resourceGroup], type, names…',
    least: 2,
    doc: 'The id of a resource in the place that is deployed to, or in another subscription or group.',
    apply: resourceId,
  },
  {
    name: 'resourceInfo',
    group,
    parameters: 'symbolicName',
    least: 1,
    most: 1,
    doc: 'What is known of a resource of the template before it exists: id, name, type and apiVersion.',
    apply: (values, call) => call.scope.resourceInfo(textAt(values, 0, call)),
  },
  {
    name: 'roleDefinitions',
    group,
    parameters: 'name',
    least: 1,
    most: 1,
    doc: 'The ids of a built-in role by its name.',
    apply(values, call) {
      const name = textAt(values, 0, call)
      const found = call.scope.context.roleDefinition?.(name)
      if (found !== undefined) return found
      throw new EvaluationError(`there is no built-in role '${name}'`)
    },
  },
  {
    name: 'subscriptionResourceId',
    group,
    parameters: '[subscription], type, names…',
    least: 2,
    doc: 'The id of a resource at a subscription, by default the one that is deployed to.',
    apply(values, call) {
      const at = typeAt(values, 1, call)
      const { subscription } = call.scope.context
      const base =
        at === 1
          ? `/subscriptions/${textAt(values, 0, call)}`
          : idOf(subscription, call, 'a subscription')
      return `${base}/providers/${path(values, at, call)}`
    },
  },
  {
    name: 'tenantResourceId',
    group,
    parameters: 'type, names…',
    least: 2,
    doc: 'The id of a resource of the tenant.',
    apply: (values, call) => `/providers/${path(values, 0, call)}`,
  },
  {
    name: 'toLogicalZone',
    group,
    parameters: 'subscription, location, physicalZone',
    least: 3,
    most: 3,
    doc: 'The number of a zone by its name in the location, or an empty string when it is none of it.',
    apply: (values, call) => logical(textAt(values, 2, call), location(values, call)),
  },
  {
    name: 'toLogicalZones',
    group,
    parameters: 'subscription, location, physicalZones',
    least: 3,
    most: 3,
    doc: 'The numbers of zones by their names in the location.',
    apply: (values, call) => {
      const zones = arrayAt(values, 2, call)
      return zones.map((_, index) => logical(textAt(zones, index, call), location(values, call)))
    },
  },
  {
    name: 'toPhysicalZone',
    group,
    parameters: 'subscription, location, logicalZone',
    least: 3,
    most: 3,
    doc: 'The name of a zone in the location by its number, or an empty string when it is none.',
    apply: (values, call) => physical(textAt(values, 2, call), location(values, call)),
  },
  {
    name: 'toPhysicalZones',
    group,
    parameters: 'subscription, location, logicalZones',
    least: 3,
    most: 3,
    doc: 'The names of zones in the location by their numbers.',
    apply: (values, call) => {
      const zones = arrayAt(values, 2, call)
      return zones.map((_, index) => physical(textAt(zones, index, call), location(values, call)))
    },
  },
]

function isFull(values: readonly Json[], index: number, call: Call): boolean {
  if (values.length <= index || values[index] === null) return false
  const word = textAt(values, index, call).toLowerCase()
  if (word === 'full') return true
  if (word === 'properties' || word === '') return false
  throw new EvaluationError(`${call.name}() gives 'Full' or 'Properties', not '${word}'`)
}

/** Where the type stands: what comes before it is optional, and has no slash. */
function typeAt(values: readonly Json[], most: number, call: Call): number {
  for (let index = 0; index <= most && index < values.length; index += 1) {
    if (textAt(values, index, call).includes('/')) return index
  }
  throw new EvaluationError(
    `${call.name}() expects a type with its namespace, as in 'Vendor.Namespace/type'`,
  )
}

/** `namespace/type/name/type/name`: as many types as names. A slash behind the type is common, and says nothing. */
function path(values: readonly Json[], at: number, call: Call): string {
  const type = textAt(values, at, call).replace(/\/$/, '')
  const [namespace = '', ...types] = type.split('/')
  const names = values.slice(at + 1).map((_, index) => textAt(values, at + 1 + index, call))
  if (types.length === 0 || namespace === '' || types.includes('')) {
    throw new EvaluationError(
      `${call.name}() expects a type with its namespace, as in 'Vendor.Namespace/type', not '${type}'`,
    )
  }
  if (types.length !== names.length) {
    throw new EvaluationError(
      `the type '${type}' needs ${types.length} names; ${call.name}() got ${names.length}`,
    )
  }
  return [namespace, ...types.flatMap((one, index) => [one, names[index] ?? ''])].join('/')
}

function idOf(place: JsonObject | undefined, call: Call, what: string): string {
  const id = place?.['id']
  if (typeof id === 'string') return id.replace(/\/$/, '')
  throw new EvaluationError(`${call.name}() without it is for deployments to ${what}`)
}

function resourceId(values: readonly Json[], call: Call): Json {
  const at = typeAt(values, 2, call)
  const before = values.slice(0, at).map((_, index) => textAt(values, index, call))
  return `${baseOf(before, call)}/providers/${path(values, at, call)}`
}

/** Outside of groups and subscriptions ids hang on the tenant, unless the arguments say otherwise. */
function baseOf(before: readonly string[], call: Call): string {
  const { context } = call.scope
  const [one, two] = before
  if (one === undefined) {
    if (context.scope === 'resourceGroup') return idOf(context.resourceGroup, call, 'a group')
    if (context.scope === 'subscription') return idOf(context.subscription, call, 'a subscription')
    return ''
  }
  if (two !== undefined) return `/subscriptions/${one}/resourceGroups/${two}`
  if (!isUuid(one)) {
    return `${idOf(context.subscription, call, 'a subscription')}/resourceGroups/${one}`
  }
  const own = context.resourceGroup?.['name']
  if (context.scope !== 'resourceGroup' || typeof own !== 'string') return `/subscriptions/${one}`
  return `/subscriptions/${one}/resourceGroups/${own}`
}

function pickZones(values: readonly Json[], call: Call): Json {
  const [namespace, type, where] = [0, 1, 2].map((index) => textAt(values, index, call))
  const count = values.length > 3 ? integerAt(values, 3, call) : 1
  const offset = values.length > 4 ? integerAt(values, 4, call) : 0
  if (count < 1 || offset < 0) {
    throw new EvaluationError(`${call.name}() picks at least one zone, from offset 0 on`)
  }
  const zones = call.scope.context.zones(namespace ?? '', type ?? '', where ?? '')
  if (zones.length === 0) return []
  if (offset + count > zones.length) {
    throw new EvaluationError(`'${where}' has ${zones.length} zones for ${namespace}/${type}`)
  }
  return zones.slice(offset, offset + count)
}

function providers(values: readonly Json[], call: Call): Json {
  const namespace = textAt(values, 0, call)
  const type = values.length === 1 ? undefined : textAt(values, 1, call)
  const found = call.scope.context.provider?.(namespace, type)
  if (found === undefined) throw new EvaluationError(`there is no provider '${namespace}' here`)
  if (type === undefined) return found
  const wanted = type.toLowerCase()
  const types = found['resourceTypes'] ?? null
  const offered = isArray(types) ? types.find((one) => nameOf(one) === wanted) : undefined
  if (offered !== undefined) return offered
  throw new EvaluationError(`the provider '${namespace}' has no type '${wanted}'`)
}

function nameOf(type: Json): string | undefined {
  const { resourceType } = objectOf(Object.entries(type ?? {}))
  return typeof resourceType === 'string' ? resourceType.toLowerCase() : undefined
}

/** A location as it stands in names of zones. */
function location(values: readonly Json[], call: Call): string {
  textAt(values, 0, call)
  return textAt(values, 1, call).replaceAll(' ', '').toLowerCase()
}

/** This installation numbers its zones alike in all subscriptions. */
function logical(zone: string, where: string): string {
  const prefix = `${where}-az`
  const number = zone.toLowerCase().startsWith(prefix) ? zone.slice(prefix.length) : ''
  return /^[1-9][0-9]?$/.test(number) ? number : ''
}

function physical(zone: string, where: string): string {
  return /^[1-9][0-9]?$/.test(zone) ? `${where}-az${zone}` : ''
}
