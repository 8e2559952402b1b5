/** From a request to a plan: parses, binds and expands with what this installation says of itself. Writes nothing. */

import { createHash } from 'node:crypto'
import type { Principal } from '#kernel/principal.ts'
import {
  nameOf,
  type ResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  scopeOf,
  subscriptionIdOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Reader } from '#plane/define.ts'
import type { ExpansionContext, JsonObject, Plan, TemplateProblem } from '#template/plan.ts'
import type { ParameterArgument, Read, TemplateLanguage } from '#template/template.ts'
import { refuseTemplate } from './errors.ts'
import type { DeploymentRequest } from './model.ts'
import { secretsIn } from './redact.ts'

export interface ExpandParts {
  readonly language: TemplateLanguage
  readonly reader: Reader
  readonly words: VendorWords
  readonly tenantId: string
  publicUrl(): string
  offers(namespace: string): JsonObject | undefined
}

export interface Expanded {
  readonly plan: Plan
  /** Texts that came in as secure parameters. */
  readonly secrets: readonly string[]
}

export interface Occasion {
  readonly id: ResourceId
  readonly deployer: Principal
  /** Of the run: everything that chance or time decides comes of these two, also after a restart. */
  readonly run: string
  readonly startedAt: number
}

/** Throws `InvalidTemplate` with every problem there is. */
export async function expandRequest(
  parts: ExpandParts,
  request: DeploymentRequest,
  occasion: Occasion,
): Promise<Expanded> {
  const context = await contextOf(parts, request, occasion)
  const { read, given, expanded } = attempted(parts.language, request.template, request, context)
  if (!read.ok || !given.ok || expanded?.ok !== true) {
    // A body holds a template as an object: its problems are placed in its text as it is commonly printed.
    const text = JSON.stringify(request.template, undefined, 2)
    const placed = attempted(parts.language, text, request, context)
    throw refuseTemplate(
      problemsOf([placed.read, placed.given, placed.expanded, read, given, expanded]),
    )
  }
  const plan = expanded.value
  const declared = new Map(
    Object.entries(read.value.parameters).map(([name, one]) => [name.toLowerCase(), one.secure]),
  )
  const secrets = Object.entries(given.value).flatMap(([name, argument]) =>
    declared.get(name.toLowerCase()) === true ? secretsIn(argumentOf(argument)) : [],
  )
  return { plan, secrets }
}

/** What could be read is expanded even so: it may have problems that reading alone does not find. */
function attempted(
  language: TemplateLanguage,
  text: string | JsonObject,
  request: DeploymentRequest,
  context: ExpansionContext,
) {
  const read = language.parseTemplate(text)
  const given = language.parseParameters(request.parameters)
  const template = read.ok ? read.value : read.partial
  const expanded =
    template !== undefined && given.ok ? language.expand(template, given.value, context) : undefined
  return { read, given, expanded }
}

function argumentOf(argument: ParameterArgument): unknown {
  return 'value' in argument ? argument.value : undefined
}

/** Each once, as it was found first. */
function problemsOf(reads: readonly (Read<unknown> | undefined)[]): readonly TemplateProblem[] {
  const all = reads.flatMap((read) => (read === undefined || read.ok ? [] : read.problems))
  const first = new Map<string, TemplateProblem>()
  for (const one of all) {
    const key = `${one.path} ${one.message}`
    if (!first.has(key)) first.set(key, one)
  }
  return [...first.values()]
}

async function contextOf(
  parts: ExpandParts,
  request: DeploymentRequest,
  { id, deployer, run, startedAt }: Occasion,
): Promise<ExpansionContext> {
  const subscription = subscriptionOf(id) ?? ''
  const group = resourceGroupOf(id)
  const url = parts.publicUrl()
  let drawn = 0
  return {
    scope: group === undefined ? 'subscription' : 'resourceGroup',
    tenant: { tenantId: parts.tenantId },
    subscription: {
      id: subscriptionIdOf(subscription).text,
      subscriptionId: subscription,
      tenantId: parts.tenantId,
      displayName: subscription,
    },
    ...(group === undefined ? {} : { resourceGroup: await groupOf(parts, subscription, group) }),
    deploymentName: nameOf(id),
    ...(request.location === undefined ? {} : { location: request.location }),
    ...(request.templateLink === undefined ? {} : { templateLink: { ...request.templateLink } }),
    deployer: { objectId: deployer.id, tenantId: deployer.tenantId },
    environment: {
      name: parts.words.brand,
      resourceManager: `${url}/`,
      authentication: { loginEndpoint: `${url}/`, audiences: [url], tenant: parts.tenantId },
    },
    now: startedAt,
    uuid: () => uuidOf(`${run} ${drawn++}`),
    zones: () => [],
    provider: (namespace) => parts.offers(namespace),
  }
}

async function groupOf(
  parts: ExpandParts,
  subscription: string,
  group: string,
): Promise<JsonObject> {
  const id = resourceGroupIdOf(subscription, group)
  const stored = await parts.reader.get(id)
  return {
    id: stored?.id.text ?? id.text,
    name: nameOf(stored?.id ?? id),
    type: qualify(parts.words, 'Resources/resourceGroups'),
    location: stored?.location ?? 'local',
    tags: { ...stored?.tags },
    properties: { provisioningState: stored?.state ?? 'Succeeded' },
  }
}

/** The same for the same text, in the form of a random one. */
export function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** Is the deployment at a place where one can be? */
export function deploysTo(id: ResourceId): 'group' | 'subscription' | undefined {
  const scope = scopeOf(id)
  if (scope.segments.length !== 1 || subscriptionOf(id) === undefined) return undefined
  const types = scope.segments[0]?.types ?? []
  if (types.length === 1) return 'subscription'
  return resourceGroupOf(id) !== undefined && types.length === 2 ? 'group' : undefined
}
