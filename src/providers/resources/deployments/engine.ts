/** What the parts of the deployment type share: from bodies and rows to expanded plans and previews. */

import { createHash } from 'node:crypto'
import type { Clock, Ids, Seal } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Context } from '#plane/define.ts'
import type { JsonObject } from '#template/plan.ts'
import { refuseDeployment } from './errors.ts'
import type { Planned } from './evaluation/remote-plan.ts'
import type { TemplateThreads } from './evaluation/template-threads.ts'
import { deploysTo, type Expanded, expandRequest, type Occasion } from './expand.ts'
import type { TemplateLinks } from './links.ts'
import { type Deployment, type DeploymentRequest, sealContext } from './model.ts'
import { readRequest } from './request.ts'
import { type VaultSecrets, withVaultValues } from './vault-values.ts'

/** What deployments need of the installation. */
export interface DeploymentParts {
  /** Where templates are evaluated. */
  readonly threads: TemplateThreads
  /** Without them no parameter takes its value from a vault. */
  readonly secrets?: VaultSecrets
  /** Without them no link is followed. */
  readonly links?: TemplateLinks
  readonly services: Pick<PlaneServices, 'caller' | 'reader' | 'listTracked' | 'onSettled'>
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly words: VendorWords
  readonly tenantId: string
  publicUrl(): string
  /** What providers offer, by their namespaces in lower case: for `providers()` in templates. */
  offers?(): Readonly<Record<string, JsonObject>>
}

/** Throws the refusals of the place and of the body. */
export async function requestAt(
  parts: DeploymentParts,
  id: ResourceId,
  body: unknown,
  context: Context,
  isAccepted = false,
): Promise<DeploymentRequest> {
  const payer = { principalId: context.principal.id, accepted: isAccepted }
  const place = deploysTo(id)
  if (place === undefined) {
    throw refuseDeployment.InvalidDeploymentScope({ scope: scopeOf(id).text })
  }
  const request = await readRequest(parts, body, place === 'group', payer)
  return withVaultValues(parts, request, context, payer)
}

export function expandAt(
  parts: DeploymentParts,
  request: DeploymentRequest,
  occasion: Occasion,
): Promise<Expanded> {
  const { threads, words, tenantId, services } = parts
  const { reader } = services
  const publicUrl = (): string => parts.publicUrl()
  const offers = (): Readonly<Record<string, JsonObject>> => parts.offers?.() ?? {}
  return expandRequest({ threads, words, tenantId, reader, publicUrl, offers }, request, occasion)
}

/** The plan of a stored run, the same each time. */
export function expandStored(
  parts: DeploymentParts,
  id: ResourceId,
  model: Deployment,
): Promise<Expanded> {
  const opened = parts.seal.open(model.sealedParameters, sealContext(id.key, model.run))
  if (opened === undefined) throw new Error(`the arguments of ${id.text} cannot be opened`)
  const { mode, template, templateLink, location, deployer, run, startedAt } = model
  const request: DeploymentRequest = {
    mode,
    template,
    // Sealed by `modelOf` alone.
    parameters: JSON.parse(opened) as JsonObject,
    ...(templateLink === undefined ? {} : { templateLink }),
    ...(location === undefined ? {} : { location }),
  }
  return expandAt(parts, request, { id, deployer, run, startedAt, isAccepted: true })
}

export function modelOf(
  parts: DeploymentParts,
  id: ResourceId,
  request: DeploymentRequest,
  { plan }: Expanded,
  by: { readonly deployer: Principal; readonly correlationId: string },
  at: { readonly run: string; readonly startedAt: number },
): Deployment {
  const { mode, template, templateLink, parameters, location } = request
  return {
    ...at,
    ...by,
    mode,
    template,
    ...(templateLink === undefined ? {} : { templateLink }),
    templateHash: hashOf(template),
    dependencies: dependenciesOf(plan),
    sealedParameters: parts.seal.seal(JSON.stringify(parameters), sealContext(id.key, at.run)),
    parameters: plan.parameters,
    ...(location === undefined ? {} : { location }),
  }
}

/** Edges that are kept for showing; what the engine goes by is the plan itself. */
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

export function hashOf(template: JsonObject): string {
  const digest = createHash('sha256').update(JSON.stringify(template)).digest()
  return digest.readBigUInt64BE().toString()
}
