/**
 * The templates of `ARMATURE_TEST_CORPUS` with their arguments: a folder of published templates, which is not part
 * of this repository. This file only reads files; tests decide what to do with them.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { hyphenate } from '#kernel/uuid.ts'
import { templateLanguage } from '#template/language.ts'
import type { Json, JsonObject } from '#template/plan.ts'
import type { ParameterArgument } from '#template/template.ts'

export interface CorpusTemplate {
  /** Path below the corpus folder. */
  readonly path: string
  readonly text: string
}

export interface Arguments {
  readonly values: Readonly<Record<string, ParameterArgument>>
  /** Parameters without a value in a file and without a default. Their values are generated. */
  readonly madeUp: readonly string[]
}

/** A placeholder that the publisher's pipeline replaces. */
const placeholder = /^\s*(GEN-|GET-)/
/** The depth of nested types for which values are generated. */
const depthMax = 8

export function corpusFolder(): string | undefined {
  return process.env['ARMATURE_TEST_CORPUS']
}

export function readCorpus(folder: string): readonly CorpusTemplate[] {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && one.name.endsWith('.json'))
    .map((one) => join(one.parentPath, one.name))
    .sort()
  return files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    if (!isTemplate(text)) return []
    return [{ path: relative(folder, file), text }]
  })
}

const isTemplate = (text: string): boolean =>
  /"\$schema"\s*:\s*"[^"]*deploymentTemplate\.json/i.test(text) && /"resources"\s*:/i.test(text)

/** Arguments from the parameter file beside the template. Missing ones are generated from the declarations. */
export function argumentsOf(folder: string, { path, text }: CorpusTemplate): Arguments {
  const declared = objectAt(objectOf(text), 'parameters')
  const definitions = objectAt(objectOf(text), 'definitions')
  const known = new Set(Object.keys(declared).map((name) => name.toLowerCase()))
  const values: Record<string, ParameterArgument> = { ...given(join(folder, path), known) }
  const names = new Set(Object.keys(values).map((name) => name.toLowerCase()))
  const used = membersUsed(text)
  const madeUp: string[] = []
  for (const [name, declaration] of Object.entries(declared)) {
    if (names.has(name.toLowerCase()) || !isObject(declaration)) continue
    if ('defaultValue' in declaration || declaration['nullable'] === true) continue
    const made = madeUpValue(declaration, definitions, name, 0)
    values[name] = { value: withMembers(made, used.get(name.toLowerCase()) ?? []) }
    madeUp.push(name)
  }
  return { values, madeUp }
}

/** A file that is named after another template gives only the parameters that this one declares. */
function given(
  file: string,
  declared: ReadonlySet<string>,
): Readonly<Record<string, ParameterArgument>> {
  const own = `${basename(file, '.json')}.parameters.json`
  for (const other of [own, 'azuredeploy.parameters.json']) {
    const text = textAt(join(dirname(file), other))
    const read = text === undefined ? undefined : templateLanguage.parseParameters(text)
    if (read?.ok !== true) continue
    const kept = Object.entries(read.value).filter(
      ([name, one]) =>
        (other === own || declared.has(name.toLowerCase())) &&
        'value' in one &&
        !(typeof one.value === 'string' && placeholder.test(one.value)),
    )
    return Object.fromEntries(kept)
  }
  return {}
}

function textAt(file: string): string | undefined {
  return readdirSync(dirname(file)).includes(basename(file))
    ? readFileSync(file, 'utf8')
    : undefined
}

function objectOf(text: string): JsonObject {
  const read = templateLanguage.parseTemplate(text)
  return (read.ok ? read.value : read.partial)?.source ?? {}
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function objectAt(object: JsonObject, name: string): JsonObject {
  const value = object[name]
  return isObject(value) ? value : {}
}

/** The smallest value that the declaration accepts. Different names get different texts. */
function madeUpValue(
  declaration: JsonObject,
  definitions: JsonObject,
  name: string,
  depth: number,
): Json {
  const { allowedValues, minLength, maxLength, minValue } = declaration
  if (Array.isArray(allowedValues) && allowedValues.length > 0) return allowedValues[0] ?? null
  const reference = declaration['$ref']
  if (typeof reference === 'string') {
    const target = definitions[reference.replace('#/definitions/', '')]
    return isObject(target) && depth < depthMax
      ? madeUpValue(target, definitions, name, depth + 1)
      : {}
  }
  const least = typeof minLength === 'number' ? minLength : 0
  const most = typeof maxLength === 'number' ? maxLength : 60
  switch (String(declaration['type']).toLowerCase()) {
    case 'int':
      return typeof minValue === 'number' ? minValue : 1
    case 'bool':
      return true
    case 'array':
      return Array.from({ length: least }, () => madeUpItem(declaration, definitions, name, depth))
    case 'object':
    case 'secureobject':
      return madeUpObject(declaration, definitions, depth)
    default:
      return madeUpText(name).padEnd(least, '0').slice(0, most)
  }
}

function madeUpText(name: string): string {
  const text = name.toLowerCase()
  if (/(uri|url|artifactslocation)$/.test(text))
    return `https://${text.replaceAll('_', '')}.example/`
  // Short enough for the name of a storage account, even with a prefix.
  if (/storage/.test(text) && !/id$/.test(text)) return `sa${guidOf(text).slice(0, 6)}`
  if (/(principal|object|client|tenant|o)id$|guid$|guid_/.test(text)) return guidOf(text)
  if (!/resourceid$/.test(text)) return text
  return `/subscriptions/${subscription}/resourceGroups/rg/providers/Vendor.A/b/${text}/c/${text}`
}

const subscription = 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee'

/** The same GUID for the same name. */
function guidOf(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex')
  return hyphenate(`${hex.slice(0, 12)}4${hex.slice(13, 16)}a${hex.slice(17)}`)
}

/** The properties of a parameter that expressions read, as paths: `parameters('sizes').disk.count`. */
function membersUsed(text: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const used = new Map<string, string[][]>()
  for (const [, name = '', rest = ''] of text.matchAll(
    /parameters\(\s*'([^']+)'\s*\)((?:\.\w+|\[\d+\])+)/gi,
  )) {
    const paths = used.get(name.toLowerCase()) ?? []
    paths.push(rest.split(/[.[\]]+/).filter((one) => one !== ''))
    used.set(name.toLowerCase(), paths)
  }
  return used
}

/** Adds texts at paths that do not exist yet. */
function withMembers(value: Json, paths: readonly (readonly string[])[]): Json {
  return paths.reduce(withMember, value)
}

function withMember(value: Json, [name, ...rest]: readonly string[]): Json {
  if (name === undefined) return value
  if (Array.isArray(value) && /^\d+$/.test(name)) {
    const all = [...value, ...Array.from({ length: Math.max(0, Number(name) + 1 - value.length) })]
    return all.map((one, at) =>
      at === Number(name) ? inside(one ?? undefined, rest, name) : (one ?? ''),
    ) as readonly Json[]
  }
  if (!isObject(value)) return value
  const known = Object.keys(value).find((one) => one.toLowerCase() === name.toLowerCase()) ?? name
  return { ...value, [known]: inside(value[known], rest, known) }
}

function inside(value: Json | undefined, rest: readonly string[], name: string): Json {
  if (rest.length === 0) return value ?? madeUpText(name)
  return withMember(value ?? (/^\d+$/.test(rest[0] ?? '') ? [] : {}), rest)
}

function madeUpItem(
  { items }: JsonObject,
  definitions: JsonObject,
  name: string,
  depth: number,
): Json {
  return isObject(items) && depth < depthMax
    ? madeUpValue(items, definitions, name, depth + 1)
    : name
}

function madeUpObject(declaration: JsonObject, definitions: JsonObject, depth: number): JsonObject {
  const members = Object.entries(objectAt(declaration, 'properties')).flatMap(([name, one]) => {
    if (!isObject(one) || one['nullable'] === true || depth > depthMax) return []
    return [[name, madeUpValue(one, definitions, name, depth + 1)] as const]
  })
  const { discriminator } = declaration
  if (!isObject(discriminator) || typeof discriminator['propertyName'] !== 'string') {
    return Object.fromEntries(members)
  }
  const [first] = Object.entries(objectAt(discriminator, 'mapping'))
  if (first === undefined || depth > depthMax) return Object.fromEntries(members)
  const [kind, variant] = first
  const chosen = isObject(variant) ? madeUpValue(variant, definitions, kind, depth + 1) : {}
  return {
    ...Object.fromEntries(members),
    ...(isObject(chosen) ? chosen : {}),
    [discriminator['propertyName']]: kind,
  }
}

/** The vendor words of the corpus' templates. */
export const corpusWords = { namespace: 'Microsoft', brand: 'Microsoft' } as const
