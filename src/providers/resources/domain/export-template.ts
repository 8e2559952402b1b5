/**
 * A template of what a resource group holds: each resource as its newest version shows it to the caller, less what its
 * body does not take. Names become parameters, ids of what is exported with it become `resourceId(…)`. Secrets are in no
 * answer, so they are in no template.
 */

import type { TSchema } from 'typebox'
import type { ErrorDetail } from '#kernel/error.ts'
import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { nameOf, parentOf, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import { roomForLarge } from '#plane/behalf-of.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { ActionContext } from '#plane/declare/action.ts'
import { nextTurn } from '#plane/next-turn.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { refuseResources } from '../errors.ts'
import { attempt } from './deployments/attempt.ts'

type Services = Pick<PlaneServices, 'caller' | 'reader' | 'describe'>
type Json = Readonly<Record<string, unknown>>

export interface ExportOptions {
  /** Ids in lower case; undefined means all of them. */
  readonly only: ReadonlySet<string> | undefined
  readonly defaultValues: boolean
  readonly comments: boolean
  readonly namesAsParameters: boolean
}

interface ExportedTemplate {
  readonly template: Json
  /** Resources that the caller may not read, or whose answers are in no body. */
  readonly missing: readonly ErrorDetail[]
}

/** The family's limit of one export. */
const resourcesMax = 200
const charactersMax = 4 * 1024 * 1024
const groupPrefix = '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/'
const schemaUri = 'https://schema.example/2019-04-01/deploymentTemplate.json#'

interface Found {
  readonly id: ResourceId
  readonly route: RouteDescription
}

export async function exportGroup(
  services: Services,
  context: ActionContext<unknown>,
  options: ExportOptions,
): Promise<ExportedTemplate> {
  const shown: { readonly one: Found; readonly version: string; readonly wire: Json }[] = []
  const missing: ErrorDetail[] = []
  let left = charactersMax
  // Objects of millions of characters are made of it, several times.
  await roomForLarge()
  for await (const one of resourcesOf(services, context, options)) {
    context.signal?.throwIfAborted()
    await nextTurn()
    const version = newestOf(one.route)
    const found = await attempt(() => read(services, context, one.id, version))
    if (found.kind === 'refused') {
      const { code, message } = found.error
      missing.push({ code, message, target: one.id.text })
      continue
    }
    const wire = found.value
    left -= JSON.stringify(wire).length
    if (left < 0) throw refuseResources.ExportTooLarge({ limit: `${charactersMax} characters` })
    shown.push({ one, version, wire })
  }
  shown.sort((a, b) => (a.one.id.key < b.one.id.key ? -1 : 1))
  const names = new TemplateNames(
    shown.map(({ one }) => one),
    options,
  )
  const resources: Json[] = []
  for (const { one, version, wire } of shown) {
    await nextTurn()
    // Besides the type's own members: the envelope of every tracked resource.
    const { location, tags } = wire
    const envelope = {
      ...(location === undefined ? {} : { location }),
      ...(isJsonObject(tags) && Object.keys(tags).length > 0 ? { tags } : {}),
    }
    const { tags: _tags, ...own } = prune(wire, one.route.body?.(version)) as Json
    const body = { ...envelope, ...own }
    const used = new Set<string>()
    const parent = parentOf(one.id)
    if (names.has(parent)) used.add(names.idOf(parent))
    const { name: _name, ...rest } = names.resolve(body, used) as Json
    resources.push({
      ...(options.comments ? { comments: `Generalized from resource: '${one.id.text}'.` } : {}),
      type: one.route.type,
      apiVersion: version,
      name: names.nameOf(one),
      ...rest,
      ...(used.size === 0 ? {} : { dependsOn: [...used] }),
    })
  }
  return {
    template: {
      $schema: schemaUri,
      contentVersion: '1.0.0.0',
      parameters: names.parameters(),
      variables: {},
      resources,
    },
    missing,
  }
}

/**
 * Resources of every type that is PUT in a group, one by one; extensions (locks, assignments) are left out. Each may have
 * megabytes, so none is read before those before it were shown, and those that are named are read alone.
 */
async function* resourcesOf(
  { describe, reader }: Services,
  { id: group, words }: ActionContext<unknown>,
  { only }: ExportOptions,
): AsyncGenerator<Found> {
  const own = `${words.namespace}.`
  const routes = new Map<string, RouteDescription>()
  for (const route of describe()) {
    if (route.method !== 'PUT' || route.isComputed || !route.path.startsWith(groupPrefix)) continue
    routes.set(route.type.startsWith(own) ? route.type.slice(own.length) : route.type, route)
  }
  if (only === undefined) {
    let left = resourcesMax
    for (const type of routes.keys()) {
      left -= await reader.count({ type, under: group, limit: resourcesMax + 1 })
    }
    if (left < 0) throw tooMany()
    for (const [type, route] of routes) {
      for await (const { id } of reader.each({ type, under: group })) yield { id, route }
    }
    return
  }
  const byType = new Map([...routes.values()].map((route) => [route.type.toLowerCase(), route]))
  let left = resourcesMax
  for (const key of only) {
    const [, last, ...more] = parseResourceId(key)?.segments ?? []
    const route = byType.get(`${last?.namespace}/${last?.types.join('/')}`.toLowerCase())
    const isMember = more.length === 0 && key.startsWith(`${group.key}/providers/`)
    const found = route !== undefined && isMember ? await reader.get(key) : undefined
    if (route === undefined || found === undefined) continue
    if (--left < 0) throw tooMany()
    yield { id: found.id, route }
  }
}

function tooMany(): Error {
  return refuseResources.ExportTooLarge({ limit: `${resourcesMax} resources` })
}

function newestOf({ versions }: RouteDescription): string {
  return versions.find((date) => !date.includes('preview')) ?? versions[0] ?? ''
}

/** As the caller sees it. */
async function read(
  { caller }: Services,
  { principal, correlationId }: ActionContext<unknown>,
  id: ResourceId,
  version: string,
): Promise<Json> {
  const request = { method: 'GET', path: id.text, version, principal, correlationId } as const
  const { body } = await caller.call(request)
  return isJsonObject(body) ? body : {}
}

interface SchemaNode {
  readonly readOnly?: boolean
  readonly properties?: Readonly<Record<string, SchemaNode>>
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>
  readonly items?: SchemaNode
  readonly anyOf?: readonly SchemaNode[]
}

/** The part of an answer that a body accepts. */
function prune(value: unknown, schema: TSchema | undefined): unknown {
  // A schema is plain data; these are the members that this walk uses.
  return pruned(value, schema as SchemaNode | undefined)
}

function pruned(value: unknown, node: SchemaNode | undefined): unknown {
  if (Array.isArray(value)) return value.map((one) => pruned(one, node?.items))
  if (!isJsonObject(value) || node === undefined) return value
  const branch = node.anyOf?.find(({ properties }) => properties !== undefined) ?? node
  const { properties, patternProperties } = branch
  if (properties === undefined || Object.keys(properties).length === 0) {
    const [each] = Object.values(patternProperties ?? {})
    return fromMembers(Object.entries(value).map(([name, part]) => [name, pruned(part, each)]))
  }
  return fromMembers(
    Object.entries(value).flatMap(([name, part]) => {
      const known = properties[name]
      return known === undefined || known.readOnly === true ? [] : [[name, pruned(part, known)]]
    }),
  )
}

/** The names of exported resources in the template, and how others refer to them. */
class TemplateNames {
  readonly #options: ExportOptions
  readonly #found: ReadonlyMap<string, Found>
  readonly #parameters = new Map<string, string>()

  constructor(found: readonly Found[], options: ExportOptions) {
    this.#options = options
    this.#found = new Map(found.map((one) => [one.id.key, one]))
    for (const one of found) this.#parameters.set(this.#parameterOf(one), outermostName(one))
  }

  has(id: ResourceId): boolean {
    return this.#found.has(id.key)
  }

  parameters(): Json {
    if (!this.#options.namesAsParameters) return {}
    return Object.fromEntries(
      [...this.#parameters].map(([parameter, name]) => [
        parameter,
        { ...(this.#options.defaultValues ? { defaultValue: name } : {}), type: 'String' },
      ]),
    )
  }

  /** The `name` of a resource: a parameter, followed by the names below it. */
  nameOf(one: Found): string {
    const [first = '', ...below] = one.id.segments.at(-1)?.names ?? []
    if (!this.#options.namesAsParameters) return literal([first, ...below].join('/'))
    const parameter = `parameters('${this.#parameterOf(one)}')`
    if (below.length === 0) return `[${parameter}]`
    return `[concat(${parameter}, ${quoted(`/${below.join('/')}`)})]`
  }

  idOf(id: ResourceId): string {
    const one = this.#found.get(id.key)
    if (one === undefined) throw new Error(`${id.text} is not exported`)
    const [first = '', ...below] = one.id.segments.at(-1)?.names ?? []
    const outer = this.#options.namesAsParameters
      ? `parameters('${this.#parameterOf(one)}')`
      : quoted(first)
    return `[resourceId(${[quoted(one.route.type), outer, ...below.map(quoted)].join(', ')})]`
  }

  /** Ids of exported resources become expressions, and are recorded; all other text stays. */
  resolve(value: unknown, used: Set<string>): unknown {
    if (typeof value === 'string') {
      const one = value.startsWith('/') ? this.#found.get(value.toLowerCase()) : undefined
      if (one === undefined) return literal(value)
      const expression = this.idOf(one.id)
      used.add(expression)
      return expression
    }
    if (Array.isArray(value)) return value.map((one) => this.resolve(one, used))
    if (!isJsonObject(value)) return value
    return fromMembers(
      Object.entries(value).map(([name, part]) => [name, this.resolve(part, used)]),
    )
  }

  #parameterOf({ id }: Found): string {
    const segment = id.segments.at(-1)
    const words = `${segment?.types[0] ?? ''}_${segment?.names[0] ?? nameOf(id)}_name`
    return words.replaceAll(/[^A-Za-z0-9_]/g, '_')
  }
}

function outermostName({ id }: Found): string {
  return id.segments.at(-1)?.names[0] ?? nameOf(id)
}

/** Text that begins like an expression is escaped. */
function literal(text: string): string {
  return text.startsWith('[') ? `[${text}` : text
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
