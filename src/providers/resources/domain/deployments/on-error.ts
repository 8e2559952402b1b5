/**
 * What a deployment falls back to when it fails (`onErrorDeployment`): an earlier one of the same scope and principal that
 * succeeded, carried out again with its own template and arguments. As published, it is run in complete mode where there is one.
 */

import { isJsonObject } from '#kernel/patch.ts'
import type { Principal } from '#kernel/principal.ts'
import { nameOf, parseResourceId, type ResourceId } from '#kernel/resource-id.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { refuseDeployment } from '../../errors.ts'
import type { Deployment, DeploymentRequest, Fallback } from '../../resources/deployments/model.ts'
import { requireRight } from './require-right.ts'

const type = 'Resources/deployments'
export const deploymentName = {
  pattern: /^[-\w._()]{1,64}$/,
  rule: '1 to 64 letters, digits, or any of "-._()"',
}

/** Undefined when none is requested. Throws when the requested one is impossible. */
export function fallbackIn(
  properties: Readonly<Record<string, unknown>>,
): DeploymentRequest['onError'] {
  const { onErrorDeployment: given } = properties
  if (given === undefined || given === null) return undefined
  const { type: kind, deploymentName: name } = isJsonObject(given) ? given : { type: '' }
  const word = String(kind ?? 'LastSuccessful').toLowerCase()
  if (word === 'lastsuccessful') return { type: 'LastSuccessful' }
  const isName = typeof name === 'string' && deploymentName.pattern.test(name)
  if (word === 'specificdeployment' && isName) {
    return { type: 'SpecificDeployment', deploymentName: name }
  }
  throw notServed("expected 'LastSuccessful', or 'SpecificDeployment' with a deploymentName")
}

function notServed(reason: string): Error {
  return refuseDeployment.DeploymentSettingNotServed({ name: 'onErrorDeployment', reason })
}

/**
 * The intended deployment, found at the time of the request: a later one does not count. Throws when there is none,
 * and when the caller may not read or deploy it.
 */
export async function fallbackAt(
  context: Pick<Context, 'reader' | 'may' | 'words' | 'principal' | 'signal'>,
  id: ResourceId,
  { onError }: Pick<DeploymentRequest, 'onError'>,
  isNested: boolean,
): Promise<Fallback | undefined> {
  if (onError === undefined) return undefined
  if (isNested) throw notServed('only the outermost deployment falls back')
  const { type: kind, deploymentName: name } = onError
  // Checked first, so that a refusal does not reveal what exists.
  if (name !== undefined) await requireRights(context, siblingOf(id, name))
  const found =
    name === undefined
      ? await lastSuccessful(context, id)
      : // Rows at ids of this type were made by its `toModel`.
        ((await context.reader.get(siblingOf(id, name))) as Resource<Deployment> | undefined)
  if (found === undefined || !isMeant(found, id)) {
    throw refuseDeployment.OnErrorDeploymentNotFound({ name: name ?? 'LastSuccessful' })
  }
  if (name === undefined) await requireRights(context, found.id.text)
  requireOwn(context, found)
  return { type: kind, deploymentName: nameOf(found.id), run: found.model.run }
}

async function requireRights(
  context: Pick<Context, 'may' | 'words' | 'principal'>,
  path: string,
): Promise<void> {
  const id = parseResourceId(path)
  if (id === undefined) throw new Error(`${path} is no id`)
  await requireRight(context, `${type}/read`, id)
  await requireRight(context, `${type}/write`, id)
}

/**
 * A deployment is repeated by whoever deployed it, and by nobody else. Others could have its secure arguments written to
 * where they may read them, and its template would do with their rights what its writer may not do.
 */
export function requireOwn(
  { principal }: Pick<Context, 'principal'>,
  { id, model }: Pick<Resource<Deployment>, 'id' | 'model'>,
): void {
  if (!isOf(principal, model)) {
    throw refuseDeployment.OnErrorDeploymentForbidden({ name: nameOf(id) })
  }
}

function isOf({ id, issuer }: Principal, { deployer }: Deployment): boolean {
  return deployer.id === id && deployer.issuer === issuer
}

/** A nested deployment is part of another one: by itself, in complete mode, it would delete what the other made. */
function isMeant({ id, state, model }: Resource<Deployment>, own: ResourceId): boolean {
  return state === 'Succeeded' && model.nesting === undefined && id.key !== own.key
}

/** The path of a deployment at the same scope. */
export function siblingOf(id: ResourceId, name: string): string {
  return `${id.text.slice(0, id.text.lastIndexOf('/'))}/${name}`
}

/** Pages that are looked through: each has two megabytes of deployments, or five hundred of them. */
const pagesMax = 32

/** Finds the caller's own last successful deployment of a scope; a bounded number is kept, of megabytes each. */
async function lastSuccessful(
  { reader, principal, signal }: Pick<Context, 'reader' | 'principal' | 'signal'>,
  id: ResourceId,
): Promise<Resource<Deployment> | undefined> {
  const under = id.key.slice(0, id.key.lastIndexOf('/'))
  let last: Resource<Deployment> | undefined
  let after: string | undefined
  let pages = 0
  do {
    if (++pages > pagesMax) {
      throw notServed('the deployments of this scope are too large to look through: name the one')
    }
    await nextTurn()
    signal?.throwIfAborted()
    const page = await reader.page({ type, under, after, limit: rowsAtOnce })
    // The type's `toModel` made the rows.
    for (const row of page.items as readonly Resource<Deployment>[]) {
      if (!isMeant(row, id) || !isOf(principal, row.model)) continue
      if (row.model.startedAt >= (last?.model.startedAt ?? 0)) last = row
    }
    after = page.next
  } while (after !== undefined)
  return last
}

const rowsAtOnce = 500

interface Repeated {
  readonly run: string
  readonly model: Deployment
}

const repeated = new WeakMap<object, Repeated>()

/** Records that the PUT of this very body repeats an earlier deployment. */
export function assignRepeated(body: object, one: Repeated): void {
  repeated.set(body, one)
}

/** Undefined for a body from a client. */
export function repeatedIn(body: unknown): Repeated | undefined {
  return typeof body === 'object' && body !== null ? repeated.get(body) : undefined
}
