/**
 * Gets values of secure parameters from vaults, for callers who may use them there. It shows no value to anybody.
 */

import { childOf, nameOf, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { DataUse } from '#plane/access.ts'
import type { Context } from '#plane/declare/resource.ts'
import { nextTurn } from '#plane/next-turn.ts'
import type { JsonObject } from '#template/plan.ts'
import type { ParameterArgument } from '#template/template.ts'
import { refuseDeployment } from '../../errors.ts'
import type { DeploymentRequest } from '../../resources/deployments/model.ts'
import type { Payer, TemplateThreads } from '../evaluation/template-threads.ts'
import { refusing } from './expand.ts'
import { pauseAfter } from './pause.ts'
import { requireRight } from './require-right.ts'

/** The secrets of the installation. It checks no permission. */
export interface VaultSecrets {
  /** What using a secret takes, on the id that `locate` returns. */
  readonly use: DataUse
  locate(uri: string): Promise<ResourceId | undefined>
  read(uri: string): Promise<string | undefined>
}

interface VaultDependencies {
  readonly threads: TemplateThreads
  readonly secrets?: VaultSecrets
}

/**
 * The request with values in the place of references. Only of secure parameters: the language refuses the others,
 * since their values are shown. Throws when a secret is not there, or not the caller's to use.
 */
export async function withVaultValues(
  { threads, secrets }: VaultDependencies,
  request: DeploymentRequest,
  context: Context,
  payer: Payer,
): Promise<DeploymentRequest> {
  // The body was checked in this turn.
  await nextTurn()
  const text = JSON.stringify(request.parameters)
  await pauseAfter(text)
  // The usual request refers to no secret. A text that only looks like a reference is parsed in vain.
  if (secrets === undefined || !text.includes('"reference"')) return request
  const { answer: given } = await refusing(() =>
    threads.ask<'parameters'>({ kind: 'parameters', text, isText: false }, payer),
  )
  if (!given.ok) return request
  const references = Object.entries(given.value).filter(([, one]) => 'reference' in one)
  if (references.length === 0) return request
  const template = JSON.stringify(request.template)
  const { answer } = await refusing(() =>
    threads.ask<'secure'>({ kind: 'secure', template }, payer),
  )
  const secure = new Set(answer)
  const values = new Map<string, JsonObject>()
  for (const [name, argument] of references) {
    if (!secure.has(name.toLowerCase()) || !('reference' in argument)) continue
    values.set(name, { value: await secretOf(secrets, name, argument.reference, context) })
  }
  const parameters = Object.entries(given.value).map(([name, argument]) => [
    name,
    values.get(name) ?? { ...argument },
  ])
  // Each is an argument as it was read, or a value.
  return { ...request, parameters: Object.fromEntries(parameters) as JsonObject }
}

type Reference = Extract<ParameterArgument, { readonly reference: unknown }>['reference']

async function secretOf(
  secrets: VaultSecrets,
  name: string,
  { keyVault, secretName, secretVersion }: Reference,
  context: Context,
): Promise<string> {
  const shown = `${keyVault.id}/secrets/${secretName}`.slice(0, 500)
  const absent = (): Error => refuseDeployment.ParameterSecretNotFound({ name, secret: shown })
  const vault = parseResourceId(keyVault.id)
  if (vault === undefined) throw absent()
  const id = childOf(vault, 'secrets', secretName)
  // Checked first, so that a refusal does not reveal what exists.
  await requireRight(context, secrets.use, id)
  const version = secretVersion === undefined ? '' : `/${secretVersion}`
  const uri = `armature://${nameOf(vault)}/secrets/${secretName}${version}`
  // Vaults are found by name; one of that name elsewhere is a different one.
  const located = await secrets.locate(uri)
  const value = located?.key === id.key ? await secrets.read(uri) : undefined
  if (value === undefined) throw absent()
  return value
}
