/** Shared by the parts of the deployment type: turns bodies and rows into expanded plans and previews. */

import { refuse } from '#kernel/error.ts'
import { parseExactJson } from '#kernel/exact-json.ts'
import { nameOf, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { JsonObject } from '#template/plan.ts'
import type { DeploymentDependencies } from '../../dependencies.ts'
import { refuseDeployment } from '../../errors.ts'
import {
  type Deployment,
  type DeploymentRequest,
  type Fallback,
  sealContext,
  secretsSealContext,
} from '../../resources/deployments/model.ts'
import type { Planned } from '../evaluation/remote-plan.ts'
import { jsonOf } from './answers.ts'
import { attempt } from './attempt.ts'
import { deploysTo, type Expanded, expandRequest, type Occasion } from './expand.ts'
import { Redaction, secretsMax } from './redact.ts'
import { readRequest } from './request.ts'
import { templateHash } from './template-hash.ts'
import { specTemplate } from './template-specs.ts'
import { withVaultValues } from './vault-values.ts'

interface RequestPlace {
  /** The deployment's id; it may be nested in the deployment of the context. */
  readonly id: ResourceId
  readonly context: Context
  readonly isAccepted?: boolean
}

/** Throws the refusals of the scope and of the body. */
export async function requestAt(
  deps: DeploymentDependencies,
  { id, context, isAccepted = false }: RequestPlace,
  body: unknown,
): Promise<DeploymentRequest> {
  const payer = { principalId: context.principal.id, accepted: isAccepted }
  const place = deploysTo(id, deps.words)
  if (place === undefined) {
    throw refuseDeployment.InvalidDeploymentScope({ scope: scopeOf(id).text })
  }
  const spec = (link: unknown) => specTemplate(deps.services.caller, link, context)
  const awaited = () => context.signal
  const request = await readRequest({ ...deps, spec, awaited }, body, place === 'group', payer)
  return withVaultValues(deps, request, context, payer)
}

export function expandAt(
  deps: DeploymentDependencies,
  request: DeploymentRequest,
  occasion: Occasion,
): Promise<Expanded> {
  const { threads, words, tenantId, services, takesAnyType = false, roles = {} } = deps
  const { reader } = services
  const publicUrl = (): string => deps.publicUrl()
  const offers = (): Readonly<Record<string, JsonObject>> => deps.offers?.() ?? {}
  const managementGroup = (scope: ResourceId, by: Occasion): Promise<JsonObject> =>
    managementGroupAs(deps, scope, by)
  return expandRequest(
    { threads, words, tenantId, reader, publicUrl, offers, takesAnyType, roles, managementGroup },
    request,
    occasion,
  )
}

/** Read like any client's request; a caller who may not read it knows its name and no more. */
async function managementGroupAs(
  { services, words }: DeploymentDependencies,
  scope: ResourceId,
  { deployer, run }: Occasion,
): Promise<JsonObject> {
  const request = { method: 'GET', path: scope.text, version: groupVersion } as const
  const read = await attempt(() =>
    services.caller.call({ ...request, principal: deployer, correlationId: run }),
  )
  if (read.kind === 'ok') return jsonOf(read.value.body) as JsonObject
  if (read.status === 404) throw refuse.ResourceNotFound({ id: scope.text })
  const type = qualify(words, 'Management/managementGroups')
  return { id: scope.text, name: nameOf(scope), type }
}

/** The version in which a management group is read for expressions. */
const groupVersion = '2020-05-01'

/** Throws when a client's deployment above a group has no location. */
export function requireLocation(
  { words }: Pick<DeploymentDependencies, 'words'>,
  id: ResourceId,
  { location }: DeploymentRequest,
): void {
  if (location !== undefined || deploysTo(id, words) === 'group') return
  throw refuse.LocationRequired({}, { target: 'location' })
}

/** The request of a stored run. */
export function storedRequest(
  deps: Pick<DeploymentDependencies, 'seal'>,
  id: ResourceId,
  model: Deployment,
): DeploymentRequest {
  const opened = deps.seal.open(model.sealedParameters, sealContext(id.key, model.run))
  if (opened === undefined) throw new Error(`the arguments of ${id.text} cannot be opened`)
  const { mode, template, templateLink, location } = model
  return {
    mode,
    template,
    // Only `modelOf` seals this.
    parameters: parseExactJson(opened) as JsonObject,
    ...(templateLink === undefined ? {} : { templateLink }),
    ...(location === undefined ? {} : { location }),
  }
}

/** The plan of a stored run, the same each time. */
export async function expandStored(
  deps: DeploymentDependencies,
  id: ResourceId,
  model: Deployment,
): Promise<Expanded> {
  const { deployer, run, startedAt } = model
  const request = storedRequest(deps, id, model)
  const isNested = model.nesting !== undefined
  const occasion = { id, deployer, run, startedAt, isAccepted: true, isNested }
  const expanded = await expandAt(deps, request, occasion)
  return withSecrets(expanded, storedSecrets(deps, id, model))
}

/** The plan masks these as well as its own secure values. */
export function withSecrets(expanded: Expanded, secrets: readonly string[]): Expanded {
  if (secrets.length === 0) return expanded
  // One more than are searched for: then everything is masked.
  const all = [...new Set([...expanded.secrets, ...secrets])].slice(0, secretsMax + 1)
  return { ...expanded, secrets: all }
}

function storedSecrets(
  { seal }: Pick<DeploymentDependencies, 'seal'>,
  id: ResourceId,
  { sealedSecrets, run }: Deployment,
): readonly string[] {
  if (sealedSecrets === undefined) return []
  const opened = seal.open(sealedSecrets, secretsSealContext(id.key, run))
  if (opened === undefined) throw new Error(`the secrets of ${id.text} cannot be opened`)
  // Sealed by `modelOf` alone.
  return JSON.parse(opened) as readonly string[]
}

interface ModelSource extends Pick<Deployment, 'deployer' | 'correlationId' | 'run' | 'startedAt'> {
  readonly request: DeploymentRequest
  readonly expanded: Expanded
  readonly onError?: Fallback | undefined
  /** Texts that an outer template gave and calls secure. */
  readonly given?: readonly string[]
}

export function modelOf(
  deps: DeploymentDependencies,
  id: ResourceId,
  { request, expanded, onError, given = [], ...origin }: ModelSource,
): Deployment {
  const { plan, texts } = expanded
  const { parameters: _sealed, onError: _requested, ...kept } = request
  return {
    ...origin,
    ...kept,
    ...(onError === undefined ? {} : { onError }),
    templateHash: templateHash(texts.template),
    dependencies: dependenciesOf(plan),
    sealedParameters: deps.seal.seal(texts.parameters, sealContext(id.key, origin.run)),
    ...(given.length === 0
      ? {}
      : {
          sealedSecrets: deps.seal.seal(
            JSON.stringify(given),
            secretsSealContext(id.key, origin.run),
          ),
        }),
    parameters: shownParameters(plan, given),
    providers: providersOf(plan),
  }
}

/** A parameter that its own template does not call secure may have been given what another calls so. */
function shownParameters(plan: Planned, given: readonly string[]): Deployment['parameters'] {
  if (given.length === 0) return plan.parameters
  const redaction = new Redaction(
    given,
    plan.nodes.map(({ id }) => id),
  )
  return Object.fromEntries(
    Object.entries(plan.parameters).map(([name, one]) => [name, { ...one, ...redaction.of(one) }]),
  )
}

function providersOf(plan: Planned): NonNullable<Deployment['providers']> {
  const types = new Map<string, Set<string>>()
  for (const type of new Set(plan.nodes.flatMap((node) => (node.existing ? [] : node.type)))) {
    const [namespace = '', ...rest] = type.split('/')
    types.set(namespace, (types.get(namespace) ?? new Set()).add(rest.join('/')))
  }
  return [...types].map(([namespace, all]) => ({ namespace, types: [...all] }))
}

/** The number of edges stored for display; the engine follows the plan itself. */
const dependenciesMax = 4000

function dependenciesOf(plan: Planned): Deployment['dependencies'] {
  const idOf = new Map(plan.nodes.map((node) => [node.key, node.id]))
  let left = dependenciesMax
  return plan.nodes.flatMap(({ id, dependsOn }) => {
    const ids = dependsOn.slice(0, left).flatMap((key) => idOf.get(key) ?? [])
    left -= ids.length
    return ids.length === 0 ? [] : [{ id, dependsOn: ids }]
  })
}
