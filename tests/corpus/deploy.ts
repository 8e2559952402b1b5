/**
 * Puts the corpus' templates to a real plane with generic resources: deployed, asked what a second deployment would
 * change, and taken away again. Each has a subscription and a group of its own.
 */

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { ApiError } from '#kernel/error.ts'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import {
  parentOf,
  parseResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import type { Outcome } from '#plane/plane.ts'
import { owner } from '#plane/testing/start.ts'
import { templateLanguage } from '#template/language.ts'
import { ownerRoleId } from '../../src/providers/authorization/domain/built-in-roles.ts'
import { type Started, startDeployments } from '../../src/providers/resources/testing/start.ts'
import { argumentsOf, type CorpusTemplate, corpusWords } from './corpus.ts'

export interface Fate {
  readonly path: string
  /** How far it came; `done` is all the way. */
  readonly step: 'validate' | 'deploy' | 'what-if' | 'delete' | 'done'
  readonly cause: string
  readonly text: string
  /** It passed validation, and failed for want of something that was missing then and that nothing made. */
  readonly isKnowable: boolean
  /** Values of its parameters were made up. */
  readonly isMadeUp: boolean
}

/** Templates of the corpus may link to each other by where they were published. */
export function startCorpusPlane(folder: string): Promise<Started> {
  return startDeployments({
    generic: true,
    words: corpusWords,
    links: {
      async read(uri) {
        const path = uri.startsWith(place)
          ? decodeURIComponent(uri.slice(place.length))
          : published.exec(uri)?.[1]?.replace(/^/, 'quick/')
        const file = join(folder, path ?? '..')
        const isThere = file.startsWith(`${folder}/`) && existsSync(file)
        return isThere
          ? { ok: true, text: readFileSync(file, 'utf8') }
          : { ok: false, reason: 'the corpus does not have it' }
      },
    },
  })
}

const place = 'https://templates.example/'
const published = /azure-quickstart-templates\/\w+\/([^?]+)/

const location = 'westeurope'
/** Looks at what is being deleted. */
const roundsMax = 200

/** Undefined for one that cannot be read. */
export async function fateOf(
  shared: Started,
  folder: string,
  template: CorpusTemplate,
): Promise<Fate | undefined> {
  const { path, text } = template
  const read = templateLanguage.parseTemplate(text)
  if (!read.ok) return undefined
  const started = await withOwnPrincipal(shared)
  const isGroup = read.value.scope === 'resourceGroup'
  const subscription = `/subscriptions/${randomUUID()}`
  const group = `${subscription}/resourceGroups/rg`
  const above = `/providers/${corpusWords.namespace}.Management/managementGroups/${randomUUID()}`
  const scopes = { resourceGroup: group, subscription, managementGroup: above, tenant: '' }
  const scope = scopes[read.value.scope]
  const id = `${scope}/providers/${corpusWords.namespace}.Resources/deployments/d`
  const { values: parameters, madeUp } = argumentsOf(folder, template)
  const isMadeUp = madeUp.length > 0
  const body = {
    ...(isGroup ? {} : { location }),
    properties: { mode: 'Incremental', templateLink: { uri: `${place}${path}` }, parameters },
  }
  await attempt(() => started.call('PUT', group, { location }))
  if (scope === above) {
    await attempt(() => started.call('PUT', above, {}, { version: '2020-05-01' }))
  }
  const fate = (step: Fate['step'], cause: string, isKnowable = false): Fate => ({
    path,
    text,
    step,
    cause,
    isKnowable,
    isMadeUp,
  })
  const invalid = await validated(started, id, body, subscription)
  if (invalid !== undefined) return fate('validate', invalid)
  let failed = await deployed(started, id, body)
  const isKnowable = failed !== undefined && lacking.test(failed)
  // What it takes to be there is made, and it is sent again.
  for (let round = 0; round < missingMax && failed !== undefined; round++) {
    if (!(await madeFor(started, subscription, failed))) break
    failed = await deployed(started, id, body)
  }
  if (failed !== undefined) return fate('deploy', failed, isKnowable)
  const preview = await attempt(() => started.call('POST', `${id}/whatIf`, body))
  const changed = changeIn(await resultOf(started, preview))
  if (changed !== undefined) return fate('what-if', changed)
  const left = (await removedAbove(started, id, scope)) ?? (await removed(started, subscription))
  return left === undefined ? fate('done', '', isKnowable) : fate('delete', left, isKnowable)
}

/** Time for evaluations is a principal's own. */
async function withOwnPrincipal(shared: Started): Promise<Started> {
  const id = randomUUID()
  const { namespace } = corpusWords
  const role = `/providers/${namespace}.Authorization/roleDefinitions/${ownerRoleId}`
  const assignment = `/providers/${namespace}.Authorization/roleAssignments/${randomUUID()}`
  const properties = { principalId: id, roleDefinitionId: role, principalType: 'User' }
  await shared.call('PUT', assignment, { properties }, { version: '2022-04-01' })
  const as = { ...owner, id }
  return {
    ...shared,
    call: (method, to, body, options = {}) => shared.call(method, to, body, { as, ...options }),
  }
}

/** Makes what the template takes to be there, as far as refusals name it. */
async function validated(
  started: Started,
  id: string,
  body: object,
  subscription: string,
): Promise<string | undefined> {
  const ask = async (): Promise<string | undefined> =>
    problemOf(await attempt(() => started.call('POST', `${id}/validate`, body)))
  let problem = await ask()
  for (let round = 0; round < missingMax && problem !== undefined; round++) {
    if (!(await madeFor(started, subscription, problem))) break
    problem = await ask()
  }
  return problem
}

async function deployed(started: Started, id: string, body: object): Promise<string | undefined> {
  const refused = problemOf(await attempt(() => started.call('PUT', id, body)))
  return refused ?? endOf(started, id)
}

/** Makes what a refusal says is missing. Was there anything to make? */
async function madeFor(started: Started, subscription: string, problem: string): Promise<boolean> {
  const group = absentGroup.exec(problem)?.[1]
  if (group !== undefined) {
    const path = `${subscription}/resourceGroups/${group}`
    return problemOf(await attempt(() => started.call('PUT', path, { location }))) === undefined
  }
  const [, first, missing = first] = absent.exec(problem) ?? []
  if (missing === undefined || parseResourceId(missing) === undefined) return false
  return problemOf(await makeWithParents(started, missing)) === undefined
}

const absentGroup = /Resource group '([^']+)' could not be found/
const lacking = /^(ResourceNotFound|ResourceGroupNotFound|ParentResourceNotFound):/

/** In front of a change of a resource that the template writes more than once, each time otherwise. */
export const twice = 'written twice: '

const absent = /The (?:parent )?resource '(\/[^']+)' (?:was|could) not|The Resource '(\/[^']+)'/i
const missingMax = 20

async function makeWithParents(started: Started, text: string): Promise<Outcome | ApiError> {
  const id = parseResourceId(text)
  const last = id?.segments.at(-1)
  if (id === undefined || last === undefined) throw new Error(`${text} is no id`)
  if (last.types.length > 1) await attempt(() => makeWithParents(started, parentOf(id).text))
  const group = resourceGroupOf(id)
  const scope = resourceGroupIdOf(subscriptionOf(id) ?? '', group ?? '').text
  if (group !== undefined) await attempt(() => started.call('PUT', scope, { location }))
  return attempt(() => started.call('PUT', text, { location, properties: {} }))
}

async function attempt(work: () => Promise<Outcome>): Promise<Outcome | ApiError> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
}

/** The innermost of nested causes, with the first of several. */
function problemOf(outcome: unknown): string | undefined {
  if (outcome instanceof ApiError) return causeOf(outcome)
  const body = isJsonObject(outcome) ? outcome['body'] : undefined
  const error = isJsonObject(body) ? body['error'] : undefined
  return error === undefined ? undefined : causeOf(error)
}

function causeOf(error: unknown): string {
  if (!isJsonObject(error) && !(error instanceof Error)) return String(error)
  const { code, message, details, target } = error as unknown as Readonly<Record<string, unknown>>
  const [first] = Array.isArray(details) ? details : []
  if (first !== undefined) return causeOf(first)
  return `${String(code)}: ${String(message)}${target === undefined ? '' : ` (${String(target)})`}`
}

async function endOf(started: Started, id: string, round = 0): Promise<string | undefined> {
  await started.settle()
  const { body } = await started.call('GET', id)
  const { properties } = JSON.parse(JSON.stringify(body)) as {
    readonly properties: { readonly provisioningState: string; readonly error?: unknown }
  }
  if (!isTerminalState(properties.provisioningState)) {
    // The fixture looks at the first hundred deployments.
    if (round >= roundsMax) return 'it does not end'
    await pause(20)
    return endOf(started, id, round + 1)
  }
  if (properties.provisioningState === 'Succeeded') return undefined
  return properties.error === undefined ? properties.provisioningState : causeOf(properties.error)
}

/** Of an answer that is an operation, what came of it. */
async function resultOf(started: Started, outcome: Outcome | ApiError): Promise<unknown> {
  if (outcome instanceof ApiError || outcome.operation === undefined) return outcome
  for (;;) {
    await started.plane.reconciler.idle()
    const found = await started.call('GET', outcome.operation.resultPath)
    if (found.status !== 202) return found
  }
}

function changeIn(outcome: unknown): string | undefined {
  const problem = problemOf(outcome)
  if (problem !== undefined) return problem
  const body = isJsonObject(outcome) ? JSON.parse(JSON.stringify(outcome['body'])) : undefined
  const holder = isJsonObject(body) && isJsonObject(body['properties']) ? body['properties'] : body
  const changes = isJsonObject(holder) ? holder['changes'] : undefined
  if (!Array.isArray(changes)) return `no changes in ${JSON.stringify(body)?.slice(0, 200)}`
  const one = changes.find(
    (change) => !['NoChange', 'Ignore', 'NoEffect', 'Unsupported'].includes(change.changeType),
  )
  if (one === undefined) return undefined
  const isTwice = changes.filter(({ resourceId }) => resourceId === one.resourceId).length > 1
  return `${isTwice ? twice : ''}${JSON.stringify(one).slice(0, 600)}`
}

/** What a deployment made above subscriptions goes one by one. */
async function removedAbove(
  started: Started,
  id: string,
  scope: string,
): Promise<string | undefined> {
  if (scope.startsWith('/subscriptions/')) return undefined
  const { body } = await started.call('GET', id)
  const { properties } = JSON.parse(JSON.stringify(body)) as {
    readonly properties: { readonly outputResources: readonly { readonly id: string }[] }
  }
  for (const made of properties.outputResources.toReversed()) {
    if (/\/deployments\/[^/]+$/.test(made.id)) continue
    const problem = problemOf(await attempt(() => started.call('DELETE', made.id)))
    if (problem !== undefined) return problem
  }
  return undefined
}

/** What cannot be deleted, of what the deployment made. */
async function removed(started: Started, subscription: string): Promise<string | undefined> {
  const list = async (): Promise<readonly { id: string }[]> => {
    const { body } = await started.call('GET', `${subscription}/resourcegroups`, undefined, {
      version: '2021-04-01',
    })
    return (body as { readonly value: readonly { id: string }[] }).value
  }
  for (const { id } of await list()) {
    const answer = await attempt(() =>
      started.call('DELETE', id, undefined, { version: '2021-04-01' }),
    )
    const problem = problemOf(answer)
    if (problem === undefined) continue
    // A lock that the template made is taken off first, as anybody would.
    const [lock] = /\/[^']*\/locks\/[^']+/.exec(problem) ?? []
    if (lock === undefined) return problem
    await started.call('DELETE', lock, undefined, { version: '2016-09-01' })
    return removed(started, subscription)
  }
  let left = await list()
  for (let round = 0; round < roundsMax && left.length > 0; round++) {
    await started.plane.reconciler.idle()
    await pause(20)
    left = await list()
  }
  return left.length === 0 ? undefined : `left: ${left.map(({ id }) => id).join(', ')}`
}
