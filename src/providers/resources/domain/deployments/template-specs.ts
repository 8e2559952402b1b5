/** Templates that a deployment names by the id of a template spec, read with the deploying caller's rights. */

import { fromMembers } from '#kernel/named-members.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Caller } from '#plane/caller.ts'
import type { Context } from '#plane/declare/resource.ts'
import { sizeOf } from '#template/expansion.ts'
import type { JsonObject } from '#template/plan.ts'
import { isDeploymentType } from '#template/read-resources.ts'
import { refuseDeployment } from '../../errors.ts'
import {
  includedTemplates,
  type TemplateSpecVersion,
} from '../../resources/template-spec-versions/model.ts'
import { jsonOf } from './answers.ts'
import { requireContentVersion, type ShownLink } from './links.ts'
import { nestingLimits } from './nesting.ts'

const readVersion = '2022-02-01'
const shownMax = 500
/** Characters of all templates at relative paths, each counted as often as it is linked. */
const includedCharactersMax = 4 * 1024 * 1024

interface SpecTemplate {
  readonly template: JsonObject
  readonly link: ShownLink
}

/** Undefined for another kind of link. Throws what a GET of the version would throw. */
export async function specTemplate(
  caller: Caller,
  link: unknown,
  { principal, correlationId, words }: Pick<Context, 'principal' | 'correlationId' | 'words'>,
): Promise<SpecTemplate | undefined> {
  const { id, contentVersion } = isJsonObject(link) ? link : {}
  if (typeof id !== 'string') return undefined
  const last = parseResourceId(id)?.segments.at(-1)
  const named = `${last?.namespace}/${last?.types.join('/')}`.toLowerCase()
  if (named !== qualify(words, 'Resources/templateSpecs/versions').toLowerCase()) {
    throw refused(id, 'an id is that of a version of a template spec')
  }
  const request = { method: 'GET', path: id, version: readVersion } as const
  const { body } = await caller.call({ ...request, principal, correlationId })
  // As in the answer's schema.
  const { properties } = jsonOf(body) as unknown as {
    readonly properties: TemplateSpecVersion
  }
  const { mainTemplate, [includedTemplates]: included = [] } = properties
  const held = new Map(included.map(({ path, template }) => [normal(path), template]))
  const left = { links: nestingLimits.deployments, characters: includedCharactersMax }
  const shown = { id, ...(typeof contentVersion === 'string' ? { contentVersion } : {}) }
  requireContentVersion(shown, String(mainTemplate['contentVersion'] ?? ''))
  return { template: withIncluded(mainTemplate, { held, left }, 0), link: shown }
}

function refused(uri: string, reason: string): Error {
  return refuseDeployment.InvalidContentLink({ uri: uri.slice(0, shownMax), reason })
}

/** `./nested/a.json` and `nested/a.json` are the same. */
function normal(path: string): string {
  return path
    .replaceAll('\\', '/')
    .replace(/^(\.\/)+/, '')
    .toLowerCase()
}

interface Included {
  readonly held: ReadonlyMap<string, JsonObject>
  /** Templates may link to each other, so their size is counted. */
  readonly left: { links: number; characters: number }
}

/** Replaces relative paths by the linked templates, which are then nested ones with a scope of their own. */
function withIncluded(template: JsonObject, included: Included, depth: number): JsonObject {
  const { resources } = template
  if (typeof resources !== 'object' || resources === null) return template
  const filled = (one: unknown): unknown => {
    if (!isJsonObject(one) || !isDeploymentType(String(one['type']))) return one
    // It came from a JSON parser.
    const properties = one['properties'] as JsonObject | undefined
    return isJsonObject(properties)
      ? { ...one, properties: inside(properties, included, depth) }
      : one
  }
  const all = Array.isArray(resources)
    ? resources.map(filled)
    : fromMembers(Object.entries(resources).map(([name, one]) => [name, filled(one)]))
  return { ...template, resources: all as JsonObject[] }
}

function inside(properties: JsonObject, included: Included, depth: number): JsonObject {
  const { templateLink: link, ...rest } = properties
  const path = isJsonObject(link) ? link['relativePath'] : undefined
  if (typeof path !== 'string') {
    // It came from a JSON parser.
    const template = properties['template'] as JsonObject | undefined
    if (!isJsonObject(template)) return properties
    return { ...properties, template: withIncluded(template, included, depth) }
  }
  const { held, left } = included
  const found = held.get(normal(path))
  if (found === undefined) throw refused(path, 'the template spec holds no template of that path')
  left.links -= 1
  left.characters -= sizeOf(found, left.characters)
  if (depth >= nestingLimits.depth || left.links < 0 || left.characters < 0) {
    throw refused(path, 'the templates of the template spec link to each other too often')
  }
  return {
    ...rest,
    template: withIncluded(found, included, depth + 1),
    expressionEvaluationOptions: { scope: 'inner' },
  }
}
