/** Reads the body of a deployment as leniently as known clients need, and refuses what cannot be followed. */

import { isJsonObject } from '#kernel/patch.ts'
import type { JsonObject } from '#template/plan.ts'
import { refuseDeployment, refuseTemplate } from '../../errors.ts'
import type { DeploymentMode, DeploymentRequest } from '../../resources/deployments/model.ts'
import type { Payer, TemplateThreads } from '../evaluation/template-threads.ts'
import { refusing } from './expand.ts'
import { type Followed, followLink, requireContentVersion, type TemplateLinks } from './links.ts'

interface RequestDependencies {
  readonly threads: TemplateThreads
  readonly links?: TemplateLinks
}

/** What links lead to is read here, once: what is stored and deployed is what was found. */
export async function readRequest(
  { threads, links }: RequestDependencies,
  body: unknown,
  isGroup: boolean,
  payer: Payer,
): Promise<DeploymentRequest> {
  const outer = isJsonObject(body) ? body : {}
  const properties = isJsonObject(outer['properties']) ? outer['properties'] : {}
  const { location } = outer
  const mode = modeOf(properties['mode'])
  if (mode === 'Complete' && !isGroup) throw refuseDeployment.InvalidDeploymentMode()
  const template = await followLink(properties['templateLink'], links)
  const parameters = await followLink(properties['parametersLink'], links)
  return {
    mode,
    template:
      template === undefined
        ? parsed(properties['template'], 'template')
        : await linkedTemplate(template, threads, payer),
    parameters:
      parameters === undefined
        ? parsed(properties['parameters'] ?? {}, 'parameters')
        : await linkedParameters(parameters, threads, payer),
    ...(template === undefined ? {} : { templateLink: template.link }),
    ...(typeof location === 'string' && location !== '' ? { location } : {}),
  }
}

/** Read as text, so that what is wrong with it is told with its line and column. */
async function linkedTemplate(
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

async function linkedParameters(
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

export function modeOf(given: unknown): DeploymentMode {
  return typeof given === 'string' && given.toLowerCase() === 'complete'
    ? 'Complete'
    : 'Incremental'
}

function parsed(given: unknown, path: string): JsonObject {
  // It came out of a JSON parser.
  if (isJsonObject(given)) return given as JsonObject
  const message = 'expected an object'
  throw refuseTemplate([{ line: 0, column: 0, path: `properties.${path}`, message }])
}
