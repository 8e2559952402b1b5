/** Turns a request into a plan, in a thread, with the facts of this installation. Writes nothing. */

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
import type { Reader } from '#plane/declare/resource.ts'
import { environmentOf } from '#template/environment.ts'
import { type JsonObject, TemplateRefusal } from '#template/plan.ts'
import { refuseTemplate } from '../../errors.ts'
import type { DeploymentRequest } from '../../resources/deployments/model.ts'
import type { ExpandQuestion, PlainContext } from '../evaluation/questions.ts'
import { type Planned, remotePlan } from '../evaluation/remote-plan.ts'
import type { TemplateThreads } from '../evaluation/template-threads.ts'
import { pauseAfter } from './pause.ts'

interface ExpandDependencies {
  readonly threads: TemplateThreads
  readonly reader: Reader
  readonly words: VendorWords
  readonly tenantId: string
  publicUrl(): string
  /** What providers offer, by namespace in lower case. */
  offers(): Readonly<Record<string, JsonObject>>
  readonly takesAnyType: boolean
  readonly roles: Readonly<Record<string, string>>
  /** A management group as the deploying caller sees it. Throws when there is none. */
  managementGroup(id: ResourceId, occasion: Occasion): Promise<JsonObject>
}

export interface Expanded {
  readonly plan: Planned
  /** Texts of secure parameters. */
  readonly secrets: readonly string[]
  /** The template and the arguments as JSON. */
  readonly texts: { readonly template: string; readonly parameters: string }
}

export interface Occasion {
  readonly id: ResourceId
  readonly deployer: Principal
  /** The id of the run: everything that depends on chance or time derives from these two, also after a restart. */
  readonly run: string
  readonly startedAt: number
  /** It is accepted, or part of an accepted one: it waits for its turn, and is not refused for the quota. */
  readonly isAccepted: boolean
  /** Another deployment started it. */
  readonly isNested: boolean
}

/** Throws `InvalidTemplate` with all problems. */
export async function expandRequest(
  deps: ExpandDependencies,
  request: DeploymentRequest,
  occasion: Occasion,
): Promise<Expanded> {
  const { threads } = deps
  const { deployer, isAccepted } = occasion
  const template = JSON.stringify(request.template)
  await pauseAfter(template)
  const parameters = JSON.stringify(request.parameters)
  await pauseAfter(parameters)
  const question: ExpandQuestion = {
    kind: 'expand',
    plan: threads.nextPlan(),
    template,
    parameters,
    context: await contextOf(deps, request, occasion),
  }
  const payer = { principalId: deployer.id, accepted: isAccepted }
  const { answer, thread } = await refusing(() => threads.ask<'expand'>(question, payer))
  if (!answer.ok) throw refuseTemplate(answer.problems)
  const plan = remotePlan(threads, question, payer, { plan: answer.value, thread })
  return { plan, secrets: answer.value.secrets, texts: { template, parameters } }
}

/** A template that takes too long or too much memory is refused like a wrong one. */
export async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TemplateRefusal) throw refuseTemplate(error.problems)
    throw error
  }
}

async function contextOf(
  deps: ExpandDependencies,
  request: DeploymentRequest,
  occasion: Occasion,
): Promise<PlainContext> {
  const { id, deployer, run, startedAt, isNested } = occasion
  const url = deps.publicUrl()
  return {
    ...(await placeOf(deps, occasion)),
    tenant: {
      id: `/tenants/${deps.tenantId}`,
      tenantId: deps.tenantId,
      displayName: deps.words.brand,
      countryCode: '',
    },
    deploymentName: nameOf(id),
    ...(isNested ? { isNested } : {}),
    ...(request.location === undefined ? {} : { location: request.location }),
    ...(request.templateLink === undefined ? {} : { templateLink: { ...request.templateLink } }),
    deployer: {
      objectId: deployer.id,
      tenantId: deployer.tenantId,
      userPrincipalName: deployer.displayName,
    },
    environment: environmentOf({ name: deps.words.brand, url, tenantId: deps.tenantId }),
    now: startedAt,
    run,
    offers: deps.offers(),
    takesAnyType: deps.takesAnyType,
    roles: deps.roles,
  }
}

/** What expressions may read of the scope of the deployment, and of those around it. */
async function placeOf(
  deps: ExpandDependencies,
  occasion: Occasion,
): Promise<Pick<PlainContext, 'scope' | 'subscription' | 'resourceGroup' | 'managementGroup'>> {
  const { id } = occasion
  const place = deploysTo(id, deps.words)
  if (place === 'tenant') return { scope: 'tenant' }
  if (place === 'managementGroup') {
    const managementGroup = await deps.managementGroup(scopeOf(id), occasion)
    return { scope: 'managementGroup', managementGroup }
  }
  const owner = subscriptionOf(id) ?? ''
  const subscription = {
    id: subscriptionIdOf(owner).text,
    subscriptionId: owner,
    tenantId: deps.tenantId,
    displayName: owner,
  }
  const group = resourceGroupOf(id)
  if (group === undefined) return { scope: 'subscription', subscription }
  const resourceGroup = await groupOf(deps, owner, group)
  return { scope: 'resourceGroup', subscription, resourceGroup }
}

async function groupOf(
  deps: ExpandDependencies,
  subscription: string,
  group: string,
): Promise<JsonObject> {
  const id = resourceGroupIdOf(subscription, group)
  const stored = await deps.reader.get(id)
  return {
    id: stored?.id.text ?? id.text,
    name: nameOf(stored?.id ?? id),
    type: qualify(deps.words, 'Resources/resourceGroups'),
    location: stored?.location ?? 'local',
    tags: { ...stored?.tags },
    properties: { provisioningState: stored?.state ?? 'Succeeded' },
  }
}

/** The kind of scope that a deployment is for. */
type DeploymentPlace = 'group' | 'subscription' | 'managementGroup' | 'tenant'

/** Whether a deployment may be at this scope. */
export function deploysTo(id: ResourceId, words: VendorWords): DeploymentPlace | undefined {
  const scope = scopeOf(id)
  const [first, ...more] = scope.segments
  if (first === undefined) return 'tenant'
  if (more.length > 0) return undefined
  if (first.namespace !== undefined) {
    const type = `${first.namespace}/${first.types.join('/')}`
    return isSame(type, qualify(words, 'Management/managementGroups'))
      ? 'managementGroup'
      : undefined
  }
  if (subscriptionOf(id) === undefined) return undefined
  if (first.types.length === 1) return 'subscription'
  return resourceGroupOf(id) !== undefined && first.types.length === 2 ? 'group' : undefined
}

function isSame(one: string, two: string): boolean {
  return one.toLowerCase() === two.toLowerCase()
}
