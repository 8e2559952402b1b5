/** Reads the body of a deployment as leniently as known clients need, and refuses what cannot be followed. */

import { isJsonObject } from '#kernel/patch.ts'
import type { JsonObject } from '#template/plan.ts'
import type { TemplateLanguage } from '#template/template.ts'
import { refuseDeployment, refuseTemplate } from './errors.ts'
import { type Followed, followLink, requireContentVersion, type TemplateLinks } from './links.ts'
import type { DeploymentMode, DeploymentRequest } from './model.ts'

export interface RequestParts {
  readonly language: TemplateLanguage
  readonly links?: TemplateLinks
}

/** What links lead to is read here, once: what is stored and deployed is what was found. */
export async function readRequest(
  { language, links }: RequestParts,
  body: unknown,
  isGroup: boolean,
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
        : linkedTemplate(template, language),
    parameters:
      parameters === undefined
        ? parsed(properties['parameters'] ?? {}, 'parameters')
        : linkedParameters(parameters, language),
    ...(template === undefined ? {} : { templateLink: template.link }),
    ...(typeof location === 'string' && location !== '' ? { location } : {}),
  }
}

/** Read as text, so that what is wrong with it is told with its line and column. */
function linkedTemplate({ text, link }: Followed, language: TemplateLanguage): JsonObject {
  const read = language.parseTemplate(text)
  if (!read.ok) throw refuseTemplate(read.problems)
  requireContentVersion(link, read.value.contentVersion)
  return read.value.source
}

function linkedParameters({ text }: Followed, language: TemplateLanguage): JsonObject {
  const read = language.parseParameters(text)
  if (!read.ok) throw refuseTemplate(read.problems)
  return Object.fromEntries(
    Object.entries(read.value).map(([name, argument]) => [name, { ...argument }]),
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
