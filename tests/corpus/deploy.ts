/**
 * Runs the corpus' templates against a whole installation with generic resources, over HTTP as any client: deploys
 * each, previews a second deployment, and deletes everything. Each has its own subscription and group.
 */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isTerminalState } from '#kernel/operation.ts'
import { isJsonObject } from '#kernel/patch.ts'
import {
  parentOf,
  parseResourceId,
  resourceGroupIdOf,
  resourceGroupOf,
  subscriptionOf,
} from '#kernel/resource-id.ts'
import { templateLanguage } from '#template/language.ts'
import { start } from '../../src/embedded/index.ts'
import { until } from '../until.ts'
import { argumentsOf, type CorpusTemplate, corpusWords } from './corpus.ts'

export interface Fate {
  readonly path: string
  /** The step it reached; `done` means all. */
  readonly step: 'validate' | 'deploy' | 'what-if' | 'delete' | 'done'
  readonly cause: string
  readonly text: string
  /** It passed validation, and failed for this reason, which was knowable. */
  readonly knowable: string | undefined
  /** Values of its parameters were generated. */
  readonly isMadeUp: boolean
}

interface CorpusPlane extends AsyncDisposable {
  /** Where the corpus is served, for templates that link to each other. */
  readonly place: string
  call(method: string, path: string, body?: unknown, version?: string): Promise<Answer>
}

interface Answer {
  readonly status: number
  readonly body: unknown
  /** The address of the operation's result. */
  readonly resultAt: string | undefined
}

export async function startCorpusPlane(folder: string): Promise<CorpusPlane> {
  await using opened = new AsyncDisposableStack()
  const files = opened.use(await serveTemplates(folder))
  const installation = opened.use(
    await start({
      settings: {
        vendorNamespace: corpusWords.namespace,
        vendorBrand: corpusWords.brand,
        genericResources: 'on',
        templateLinks: files.place,
        outbound: 'open',
        logLevel: 'silent',
      },
    }),
  )
  const ask: CorpusPlane['call'] = async (method, path, body, version = '2025-03-01') => {
    const url = new URL(path, installation.url)
    if (!url.searchParams.has('api-version')) url.searchParams.set('api-version', version)
    const answer = await fetch(url, {
      method,
      headers: {
        authorization: `Bearer ${await installation.tokenOf(installation.principalId)}`,
        'content-type': 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.status === 429) {
      await pause(1000 * Number(answer.headers.get('retry-after') ?? '1'))
      return ask(method, path, body, version)
    }
    return {
      status: answer.status,
      body: text === '' ? undefined : JSON.parse(text),
      resultAt: answer.headers.get('location') ?? undefined,
    }
  }
  const running = opened.move()
  return {
    place: files.place,
    call: ask,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

/** Serves links to the addresses where the templates were published, and links between neighbours. */
async function serveTemplates(
  folder: string,
): Promise<AsyncDisposable & { readonly place: string }> {
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://here').pathname)
    const file = join(folder, path)
    const isThere = file.startsWith(`${folder}/`) && existsSync(file)
    response.writeHead(isThere ? 200 : 404)
    response.end(isThere ? withOwnLinks(readFileSync(file, 'utf8'), place) : '')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return {
    place,
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const published = /https:\/\/raw\.githubusercontent\.com\/Azure\/azure-quickstart-templates\/\w+\//g

function withOwnLinks(text: string, place: string): string {
  return text.replace(published, `${place}quick/`)
}

const location = 'westeurope'
/** The number of polls, and the milliseconds between them. */
const roundsMax = 1000
const between = 30

/** Undefined for a template that cannot be read. */
export async function fateOf(
  started: CorpusPlane,
  folder: string,
  template: CorpusTemplate,
): Promise<Fate | undefined> {
  const { path, text } = template
  const read = templateLanguage.parseTemplate(text)
  if (!read.ok) return undefined
  const isGroup = read.value.scope === 'resourceGroup'
  const subscription = `/subscriptions/${randomUUID()}`
  const group = `${subscription}/resourceGroups/rg`
  const above = `/providers/${corpusWords.namespace}.Management/managementGroups/${randomUUID()}`
  const scopes = { resourceGroup: group, subscription, managementGroup: above, tenant: '' }
  const scope = scopes[read.value.scope]
  // Deployments at tenant scope share one namespace.
  const name = isGroup ? 'd' : `d-${randomUUID()}`
  const id = `${scope}/providers/${corpusWords.namespace}.Resources/deployments/${name}`
  const { values: parameters, madeUp } = argumentsOf(folder, template)
  const isMadeUp = madeUp.length > 0
  const templateLink = { uri: new URL(encodeURI(path), started.place).href }
  const body = {
    ...(isGroup ? {} : { location }),
    properties: { mode: 'Incremental', templateLink, parameters },
  }
  await started.call('PUT', group, { location })
  if (scope === above) await started.call('PUT', above, {}, '2020-05-01')
  const fate = (step: Fate['step'], cause: string, knowable?: string): Fate => ({
    path,
    text,
    step,
    cause,
    knowable,
    isMadeUp,
  })
  const invalid = await validated(started, id, body, subscription)
  if (invalid !== undefined) return fate('validate', invalid)
  let failed = await deployed(started, id, body)
  const knowable = failed !== undefined && !onlyAtRun.test(failed) ? failed : undefined
  // Creates the resources that the template expects, and sends it again.
  for (let round = 0; round < missingMax && failed !== undefined; round++) {
    if (!(await madeFor(started, subscription, failed))) break
    failed = await deployed(started, id, body)
  }
  if (failed !== undefined) return fate('deploy', failed, knowable)
  const changed = changeIn(
    await resultOf(started, await started.call('POST', `${id}/whatIf`, body)),
  )
  if (changed !== undefined) return fate('what-if', changed)
  const left = (await removedAbove(started, id, scope)) ?? (await removed(started, subscription))
  return left === undefined ? fate('done', '', knowable) : fate('delete', left, knowable)
}

/** Creates the resources that the template expects, as far as refusals name them. */
async function validated(
  started: CorpusPlane,
  id: string,
  body: object,
  subscription: string,
): Promise<string | undefined> {
  const ask = async (): Promise<string | undefined> =>
    problemOf(await started.call('POST', `${id}/validate`, body))
  let problem = await ask()
  for (let round = 0; round < missingMax && problem !== undefined; round++) {
    if (!(await madeFor(started, subscription, problem))) break
    problem = await ask()
  }
  return problem
}

async function deployed(
  started: CorpusPlane,
  id: string,
  body: object,
): Promise<string | undefined> {
  const refused = problemOf(await started.call('PUT', id, body))
  return refused ?? endOf(started, id)
}

/** Creates what a refusal says is missing. Returns whether there was anything to create. */
async function madeFor(
  started: CorpusPlane,
  subscription: string,
  problem: string,
): Promise<boolean> {
  const group = absentGroup.exec(problem)?.[1]
  if (group !== undefined) {
    const path = `${subscription}/resourceGroups/${group}`
    return problemOf(await started.call('PUT', path, { location })) === undefined
  }
  if (taken.test(problem)) {
    await pause(takenPause)
    return true
  }
  const [, first, missing = first] = absent.exec(problem) ?? []
  if (missing === undefined || parseResourceId(missing) === undefined) return false
  const left = problemOf(await makeWithParents(started, missing))
  if (left === undefined) return true
  return taken.test(left) && madeFor(started, subscription, left)
}

/** Another running template has this name or role. It becomes free when that one is deleted. */
const taken = /named '[^']+' is already taken|The role '[^']+' can be assigned at '/
const takenPause = 1000

const absentGroup = /Resource group '([^']+)' could not be found/
/**
 * Some failures are only known at run time: what an expression finds in an answer, a name that another template
 * took meanwhile, or a repository that cannot be reached from here, for which a container keeps waiting.
 */
const onlyAtRun =
  /^InvalidTemplate:|is already taken|The role '[^']+' can be assigned at '|^GitRepositoryNotAvailable:|^it does not end$/

/** Prefix for a change of a resource that the template writes more than once, with different content. */
export const twice = 'written twice: '

const absent = /The (?:parent )?resource '(\/[^']+)' (?:was|could) not|The Resource '(\/[^']+)'/i
const missingMax = 20

async function makeWithParents(started: CorpusPlane, text: string): Promise<Answer> {
  const id = parseResourceId(text)
  const last = id?.segments.at(-1)
  if (id === undefined || last === undefined) throw new Error(`${text} is no id`)
  if (last.types.length > 1) await makeWithParents(started, parentOf(id).text)
  const group = resourceGroupOf(id)
  const scope = resourceGroupIdOf(subscriptionOf(id) ?? '', group ?? '').text
  if (group !== undefined) await started.call('PUT', scope, { location })
  const namespace = last.namespace?.slice(last.namespace.indexOf('.') + 1) ?? ''
  const type = [namespace, ...last.types].join('/')
  const body = smallestBodies[type.toLowerCase()] ?? { properties: {} }
  return started.call('PUT', text, { location, ...body })
}

/** The smallest bodies of types that do not accept just any body. */
const smallestBodies: Readonly<Record<string, object>> = {
  'apimanagement/service': {
    sku: { name: 'Developer', capacity: 1 },
    properties: { publisherEmail: 'somebody@example.test', publisherName: 'Somebody' },
  },
  'apimanagement/service/apis': {
    properties: { displayName: 'made', path: 'made', protocols: ['https'] },
  },
  'apimanagement/service/products': { properties: { displayName: 'made' } },
  'apimanagement/service/workspaces': { properties: { displayName: 'made' } },
  'apimanagement/service/workspaces/apis': { properties: { displayName: 'made', path: 'made' } },
  'dbforpostgresql/flexibleservers': {
    properties: {
      version: '16',
      administratorLogin: 'made',
      administratorLoginPassword: 'Made-1234',
    },
  },
}

/** The innermost of nested causes, or the first of several. */
function problemOf(answer: Answer): string | undefined {
  const error = isJsonObject(answer.body) ? answer.body['error'] : undefined
  return error === undefined ? undefined : causeOf(error)
}

function causeOf(error: unknown): string {
  if (!isJsonObject(error)) return String(error)
  const { code, message, details, target } = error
  const [first] = Array.isArray(details) ? details : []
  if (first !== undefined) return causeOf(first)
  return `${String(code)}: ${String(message)}${target === undefined ? '' : ` (${String(target)})`}`
}

async function endOf(started: CorpusPlane, id: string): Promise<string | undefined> {
  for (let round = 0; round < roundsMax; round++) {
    const { body } = await started.call('GET', id)
    const { properties } = body as {
      readonly properties: { readonly provisioningState: string; readonly error?: unknown }
    }
    const { provisioningState: state, error } = properties
    if (state === 'Succeeded') return undefined
    if (isTerminalState(state)) return error === undefined ? state : causeOf(error)
    await pause(between)
  }
  return 'it does not end'
}

/** The outcome of the operation that an answer started. */
async function resultOf(started: CorpusPlane, first: Answer): Promise<Answer> {
  const { status, resultAt } = first
  if (status !== 202 || resultAt === undefined) return first
  return until(async () => {
    const answer = await started.call('GET', resultAt)
    return answer.status !== 202 && answer
  }, between)
}

/** `Deploy`: a secret is written again, and nothing else would change. */
const unchanged = new Set(['NoChange', 'Ignore', 'NoEffect', 'Unsupported', 'Deploy'])

function changeIn(answer: Answer): string | undefined {
  const problem = problemOf(answer)
  if (problem !== undefined) return problem
  const { body } = answer
  const holder = isJsonObject(body) && isJsonObject(body['properties']) ? body['properties'] : body
  const changes = isJsonObject(holder) ? holder['changes'] : undefined
  if (!Array.isArray(changes)) return `no changes in ${JSON.stringify(body)?.slice(0, 200)}`
  const one = changes.find(({ changeType }) => !unchanged.has(changeType))
  if (one === undefined) return undefined
  const isTwice = changes.filter(({ resourceId }) => resourceId === one.resourceId).length > 1
  const { resourceId, changeType, delta } = one
  return `${isTwice ? twice : ''}${JSON.stringify({ resourceId, changeType, delta }).slice(0, 600)}`
}

/** Resources that a deployment created above subscriptions are deleted one by one. */
async function removedAbove(
  started: CorpusPlane,
  id: string,
  scope: string,
): Promise<string | undefined> {
  if (scope.startsWith('/subscriptions/')) return undefined
  const { body } = await started.call('GET', id)
  const { properties } = body as {
    readonly properties: { readonly outputResources: readonly { readonly id: string }[] }
  }
  for (const made of properties.outputResources.toReversed()) {
    if (/\/deployments\/[^/]+$/.test(made.id)) continue
    const problem = problemOf(await started.call('DELETE', made.id))
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Deletes what the deployment created. Returns what could not be deleted. */
async function removed(started: CorpusPlane, subscription: string): Promise<string | undefined> {
  const list = async (): Promise<readonly { id: string }[]> => {
    const path = `${subscription}/resourcegroups`
    const { body } = await started.call('GET', path, undefined, '2021-04-01')
    return (body as { readonly value: readonly { id: string }[] }).value
  }
  // Roles belong to the tenant: another template that creates the same ones is refused while they exist.
  for (const { id } of await rolesOf(started, subscription)) {
    await started.call('DELETE', id, undefined, '2022-04-01')
  }
  for (const { id } of await list()) {
    const problem = problemOf(await started.call('DELETE', id, undefined, '2021-04-01'))
    if (problem === undefined) continue
    // A lock of the template is removed first, as anybody would.
    const [lock] = /\/[^']*\/locks\/[^']+/.exec(problem) ?? []
    if (lock === undefined) return problem
    await started.call('DELETE', lock, undefined, '2016-09-01')
    return removed(started, subscription)
  }
  let left = await list()
  for (let round = 0; round < roundsMax && left.length > 0; round++) {
    await pause(between)
    left = await list()
  }
  return left.length === 0 ? undefined : `left: ${left.map(({ id }) => id).join(', ')}`
}

/** Custom roles that can be assigned only in the subscription. */
async function rolesOf(
  started: CorpusPlane,
  subscription: string,
): Promise<readonly { readonly id: string }[]> {
  const path = `${subscription}/providers/${corpusWords.namespace}.Authorization/roleDefinitions?$filter=type eq 'CustomRole'`
  const { body } = await started.call('GET', path, undefined, '2022-04-01')
  const { value } = body as { readonly value: readonly CustomRole[] }
  return value.filter(({ properties }) =>
    properties.assignableScopes.some((scope) => scope.startsWith(subscription)),
  )
}

interface CustomRole {
  readonly id: string
  readonly properties: { readonly assignableScopes: readonly string[] }
}
