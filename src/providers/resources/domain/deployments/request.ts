/** Parses the body of a deployment as leniently as known clients need, and refuses what cannot be done. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Awaited } from '#kernel/room.ts'
import { roomForLarge } from '#plane/behalf-of.ts'
import type { Json, JsonObject } from '#template/plan.ts'
import { refuseDeployment, refuseTemplate } from '../../errors.ts'
import type {
  DeploymentMode,
  DeploymentRequest,
  ValidationLevel,
} from '../../resources/deployments/model.ts'
import type { Payer, TemplateThreads } from '../evaluation/template-threads.ts'
import { refusing } from './expand.ts'
import { type Followed, followLink, requireContentVersion, type TemplateLinks } from './links.ts'
import { fallbackIn } from './on-error.ts'
import type { specTemplate } from './template-specs.ts'

interface RequestDependencies {
  readonly threads: TemplateThreads
  readonly links?: TemplateLinks
  readonly awaited: Awaited
  /** The template of a template spec, if the link names one. */
  spec(link: unknown): ReturnType<typeof specTemplate>
}

/** Links are read here, once: what is stored and deployed is what was found. */
export async function readRequest(
  deps: RequestDependencies,
  body: unknown,
  isGroup: boolean,
  payer: Payer,
): Promise<DeploymentRequest> {
  const outer = isJsonObject(body) ? body : {}
  const properties = isJsonObject(outer['properties']) ? outer['properties'] : {}
  const read = () => requestOf(deps, { outer, properties }, isGroup, payer)
  const { templateLink, parametersLink } = properties
  const hasLinks = isJsonObject(templateLink) || isJsonObject(parametersLink)
  if (!hasLinks) return read()
  // What they lead to may have megabytes. Before the room of links: whoever waits there keeps nobody from going on.
  await roomForLarge()
  return deps.links === undefined
    ? read()
    : deps.links.inRoom(payer.principalId, read, deps.awaited)
}

interface Body {
  readonly outer: Readonly<Record<string, unknown>>
  readonly properties: Readonly<Record<string, unknown>>
}

async function requestOf(
  { threads, links, spec: specOf }: RequestDependencies,
  { outer, properties }: Body,
  isGroup: boolean,
  payer: Payer,
): Promise<DeploymentRequest> {
  const { location, tags } = outer
  requireServed(properties)
  const validationLevel = levelOf(properties['validationLevel'])
  const debugLevel = debugLevelOf(properties['debugSetting'])
  const onError = fallbackIn(properties)
  const mode = modeOf(properties['mode'])
  if (mode === 'Complete' && !isGroup) throw refuseDeployment.InvalidDeploymentMode()
  const spec = await specOf(properties['templateLink'])
  const template =
    spec === undefined ? await followLink(properties['templateLink'], links) : undefined
  const parameters = await followLink(properties['parametersLink'], links)
  return {
    mode,
    template:
      template === undefined
        ? (spec?.template ?? parsed(properties['template'], 'template'))
        : await followedTemplate(template, threads, payer),
    parameters:
      parameters === undefined
        ? withInputs(
            parsed(properties['parameters'] ?? {}, 'parameters'),
            properties['externalInputs'],
          )
        : await followedParameters(parameters, threads, payer),
    ...(spec === undefined ? {} : { templateLink: spec.link }),
    ...(template === undefined ? {} : { templateLink: template.link }),
    ...(typeof location === 'string' && location !== '' ? { location } : {}),
    // The schema of the body allows only strings.
    ...(isJsonObject(tags) ? { tags: tags as Readonly<Record<string, string>> } : {}),
    ...(validationLevel === undefined ? {} : { validationLevel }),
    ...(debugLevel === undefined ? {} : { debugLevel }),
    ...(onError === undefined ? {} : { onError }),
  }
}

/** Throws for what is not supported: nothing is silently dropped. */
function requireServed(properties: Readonly<Record<string, unknown>>): void {
  const { extensionConfigs } = properties
  const refuse = (name: string, reason: string): never => {
    throw refuseDeployment.DeploymentSettingNotServed({ name, reason })
  }
  if (isJsonObject(extensionConfigs) && Object.keys(extensionConfigs).length > 0) {
    refuse('extensionConfigs', 'there are no extensions')
  }
}

const details = ['requestContent', 'responseContent'] as const

/** What is also recorded of each resource, in the family's spelling. Undefined for nothing. */
function debugLevelOf(given: unknown): string | undefined {
  const level = isJsonObject(given) ? given['detailLevel'] : undefined
  if (level === undefined || level === null) return undefined
  const words = String(level)
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter((one) => one !== '' && one !== 'none')
  const known = details.filter((one) => words.includes(one.toLowerCase()))
  if (known.length === words.length) return words.length === 0 ? undefined : known.join(', ')
  const reason = `the detail level is none, ${details.join(', or ')}, or both with a comma`
  throw refuseDeployment.DeploymentSettingNotServed({ name: 'debugSetting', reason })
}

const levels: readonly ValidationLevel[] = ['Template', 'Provider', 'ProviderNoRbac']

function levelOf(given: unknown): ValidationLevel | undefined {
  if (given === undefined || given === null) return undefined
  const found = levels.find((one) => one.toLowerCase() === String(given).toLowerCase())
  if (found !== undefined) return found
  const reason = `expected one of ${levels.join(', ')}`
  throw refuseDeployment.DeploymentSettingNotServed({ name: 'validationLevel', reason })
}

/** Read as text, so that its problems have lines and columns. */
async function followedTemplate(
  { text, link }: Followed,
  threads: TemplateThreads,
  payer: Payer,
): Promise<JsonObject> {
  const { answer } = await refusing(() =>
    threads.ask<'template'>({ kind: 'template', text }, payer),
  )
  if (!answer.ok) throw refuseTemplate(answer.problems)
  requireContentVersion(link, answer.value.contentVersion)
  return answer.value.source
}

async function followedParameters(
  { text }: Followed,
  threads: TemplateThreads,
  payer: Payer,
): Promise<JsonObject> {
  const { answer } = await refusing(() =>
    threads.ask<'parameters'>({ kind: 'parameters', text, isText: true }, payer),
  )
  if (!answer.ok) throw refuseTemplate(answer.problems)
  return Object.fromEntries(
    Object.entries(answer.value).map(([name, argument]) => [name, { ...argument }]),
  )
}

function modeOf(given: unknown): DeploymentMode {
  return typeof given === 'string' && given.toLowerCase() === 'complete'
    ? 'Complete'
    : 'Incremental'
}

function parsed(given: unknown, path: string): JsonObject {
  // It came from a JSON parser.
  if (isJsonObject(given)) return given as JsonObject
  const message = 'expected an object'
  throw refuseTemplate([{ line: 0, column: 0, path: `properties.${path}`, message }])
}

/** As a parameter file, where expressions of the arguments read external inputs. */
function withInputs(parameters: JsonObject, externalInputs: unknown): JsonObject {
  if (externalInputs === undefined || externalInputs === null) return parameters
  // They came from a JSON parser.
  return { contentVersion: '1.0.0.0', parameters, externalInputs: externalInputs as Json }
}

/** Throws for a nested deployment in complete mode: only a client's deployment may delete. */
export function requireIncremental(body: unknown): void {
  const { properties } = isJsonObject(body) ? body : {}
  const mode = isJsonObject(properties) ? properties['mode'] : undefined
  if (modeOf(mode) === 'Complete') throw refuseDeployment.NestedDeploymentMode()
}
