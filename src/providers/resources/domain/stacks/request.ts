/** Turns the body of a stack into the request of its deployment. */

import { refuse } from '#kernel/error.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { isWithin, nameOf, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context, Reader, Resource } from '#plane/declare/resource.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { refuseDeployment } from '../../errors.ts'
import {
  type ActionOnUnmanage,
  type DeploymentStack,
  type StackProgress,
  type StackSettings,
  unmanageKinds,
} from '../../resources/deployment-stacks/model.ts'
import type { DeploymentRequest } from '../../resources/deployments/model.ts'
import { expandAt, requestAt, requireLocation } from '../deployments/engine.ts'
import { deploysTo, type Expanded } from '../deployments/expand.ts'
import { nestResourcesMax } from '../deployments/nested-share.ts'
import { requireRight } from '../deployments/require-right.ts'
import { uuidOf } from '../evaluation/uuid-of.ts'
import { manageAction } from './deny.ts'
import { deploymentRunOf, throughStack } from './run.ts'

interface StackBody {
  readonly location?: string
  readonly tags?: Readonly<Record<string, string>>
  readonly properties: Omit<StackSettings, 'actionOnUnmanage'> &
    Readonly<Record<string, unknown>> & { readonly actionOnUnmanage: Partial<ActionOnUnmanage> }
}

interface PreparedRequest {
  readonly settings: StackSettings
  readonly request: DeploymentRequest
  readonly expanded: Expanded
  readonly deploymentId: ResourceId
  /** The context with which the deployment is checked and carried out. */
  readonly acting: Context
  readonly run: string
  readonly memberId: string
}

/** Throws the refusals of the scope, the rights and the body. */
export async function prepareStack(
  deps: DeploymentDependencies,
  context: Context & { readonly id: ResourceId },
  body: StackBody,
): Promise<PreparedRequest> {
  const { id } = context
  const settings = settingsOf(body)
  const stored = await storedStack(deps.services.reader, id)
  requireNotTooMany(id, stored)
  const memberId = stored?.model.memberId ?? deps.ids.uuid()
  await requireDenyRight(context, id, settings, stored)
  const deploymentId = deploymentIdOf(deps, id, settings.deploymentScope)
  await requireRight(context, 'Resources/deployments/write', deploymentId)
  const acting = { ...context, principal: throughStack(context.principal, memberId) }
  const request = await requestAt(deps, { id: deploymentId, context: acting }, deploymentBody(body))
  requireLocation(deps, id, request)
  const run = deps.ids.uuid()
  const expanded = await expandAt(deps, request, {
    id: deploymentId,
    deployer: acting.principal,
    run: deploymentRunOf(run),
    startedAt: context.now,
    isAccepted: false,
    isNested: false,
  })
  return { settings, request, expanded, deploymentId, acting, run, memberId }
}

function settingsOf({ properties }: StackBody): StackSettings {
  const { denySettings, deploymentScope, description, bypassStackOutOfSyncError } = properties
  const { mode, excludedPrincipals, excludedActions, applyToChildScopes } = denySettings
  return {
    actionOnUnmanage: { ...detachAll, ...withoutNothing(properties.actionOnUnmanage) },
    denySettings: {
      mode,
      ...withoutNothing({ excludedPrincipals, excludedActions, applyToChildScopes }),
    },
    ...withoutNothing({ deploymentScope, description, bypassStackOutOfSyncError }),
  }
}

const detachAll: ActionOnUnmanage = {
  resources: 'detach',
  resourceGroups: 'detach',
  managementGroups: 'detach',
}

/** The object without undefined members. */
function withoutNothing<T extends object>(given: T): { [K in keyof T]?: NonNullable<T[K]> } {
  const kept = Object.entries(given).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(kept) as { [K in keyof T]?: NonNullable<T[K]> }
}

/** What a stack hands on to its deployment as it was given. */
const deploymentSettings = [
  'template',
  'templateLink',
  'parameters',
  'parametersLink',
  'externalInputs',
  'extensionConfigs',
  'validationLevel',
  'debugSetting',
] as const

/** The deployment's part: a stack has neither a mode nor a fallback. */
function deploymentBody({ location, tags, properties }: StackBody): object {
  const given = Object.fromEntries(deploymentSettings.map((name) => [name, properties[name]]))
  return { ...withoutNothing({ location, tags }), properties: withoutNothing(given) }
}

const namePartMax = 50

/** One deployment for each stack, deployed again each time. */
function deploymentIdOf(
  { words }: Pick<DeploymentDependencies, 'words'>,
  id: ResourceId,
  target: string | undefined,
): ResourceId {
  const scope = scopeOf(id)
  const own = deploysTo(id, words)
  const refused = (reason: string): Error =>
    refuseDeployment.InvalidDeploymentStackScope({
      scope: scope.text,
      target: (target ?? scope.text).slice(0, shownMax),
      reason,
    })
  if (own === undefined || own === 'tenant') throw refused('no stack can be there')
  const text = target ?? scope.text
  const name = `${nameOf(id).slice(0, namePartMax)}-${uuidOf(id.key).slice(0, 8)}`
  const found = parseResourceId(
    `${text}/providers/${qualify(words, 'Resources/deployments')}/${name}`,
  )
  const place = found === undefined ? undefined : deploysTo(found, words)
  if (found === undefined || place === undefined || place === 'tenant') {
    throw refused('it is no scope that templates are deployed to')
  }
  const targetKey = scopeOf(found).key
  const isBelow =
    isWithin(targetKey, scope.key) || (own === 'managementGroup' && place === 'subscription')
  if (!isBelow) throw refused('it lies outside')
  return found
}

const shownMax = 500

/** The actions of a DELETE; what it does not name is detached. */
export function unmanageActionsIn(query: URLSearchParams): ActionOnUnmanage {
  const given = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]))
  const actions = unmanageKinds.map((kind) => {
    const name = `unmanageAction.${kind.charAt(0).toUpperCase()}${kind.slice(1)}`
    const value = given.get(name.toLowerCase())?.toLowerCase() ?? 'detach'
    if (value !== 'delete' && value !== 'detach') {
      throw refuse.InvalidQueryParameter({ name, reason: "expected 'delete' or 'detach'" })
    }
    return [kind, value] as const
  })
  return { ...detachAll, ...Object.fromEntries(actions) }
}

/** The type's `toModel` made the row of this id. */
export async function storedStack(
  reader: Pick<Reader, 'get'>,
  id: ResourceId,
): Promise<Resource<DeploymentStack> | undefined> {
  return (await reader.get(id)) as Resource<DeploymentStack> | undefined
}

/**
 * Throws where a stack is asked to deny, or denies, and the caller may not manage that: whoever writes through it is exempt.
 * What it manages may be denied still, though its last request denies nothing.
 */
export async function requireDenyRight(
  context: Parameters<typeof requireRight>[0],
  id: ResourceId,
  wanted: Pick<StackSettings, 'denySettings'> | undefined,
  stored: Resource<DeploymentStack> | undefined,
): Promise<void> {
  const isDenying = [wanted, stored?.model].some(
    (one) => one !== undefined && one.denySettings.mode !== 'none',
  )
  if (isDenying || deniedBy(stored).length > 0) await requireRight(context, manageAction, id)
}

/** The ids of what the stack manages and denies now. */
export function deniedBy(stored: Pick<Resource, 'observed'> | undefined): readonly string[] {
  return managedBy(stored).flatMap(({ id, deny }) => (deny === undefined ? [] : [id]))
}

function managedBy(stored: Pick<Resource, 'observed'> | undefined): StackProgress['resources'] {
  // Only the reconciler of this type writes it.
  const progress = stored?.observed as StackProgress | undefined
  return progress?.resources ?? []
}

/** A deployment that fails adds to what is managed, and takes nothing away. */
function requireNotTooMany(id: ResourceId, stored: Pick<Resource, 'observed'> | undefined): void {
  const managed = managedBy(stored).length
  if (managed <= nestResourcesMax) return
  const name = nameOf(id)
  throw refuseDeployment.DeploymentStackTooLarge({ name, managed, limit: nestResourcesMax })
}

/** A version in which a resource of that type can be deleted, by what providers offer. */
export function versionFrom(offers: Readonly<Record<string, unknown>>, id: ResourceId): string {
  const last = id.segments.at(-1)
  if (last?.namespace === undefined) return groupVersion
  const offer = offers[last.namespace.toLowerCase()]
  const types = isJsonObject(offer) ? offer['resourceTypes'] : undefined
  const wanted = last.types.join('/').toLowerCase()
  const found = (Array.isArray(types) ? types : []).find(
    ({ resourceType }) => String(resourceType).toLowerCase() === wanted,
  )
  const newest = isJsonObject(found) ? found['defaultApiVersion'] : undefined
  return typeof newest === 'string' ? newest : anyDate
}

const groupVersion = '2021-04-01'
/** For types that accept every version. */
const anyDate = '2025-01-01'
