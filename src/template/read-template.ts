/** Parses a whole template and checks it: all problems that can be found without parameters, at once. */
import { adopt } from './adopt.ts'
import { readApiProfile } from './api-profile.ts'
import { type DeclaredNames, nameChecker } from './check-names.ts'
import { compile } from './compile.ts'
import { type ReadTemplate, type TemplateDocument, templateLimits } from './document.ts'
import { sizeOf } from './expansion.ts'
import { type Field, fieldOf, isObject, kindOf, membersOf } from './fields.ts'
import { jsonLimits, readJson } from './json.ts'
import type { Json, JsonObject } from './plan.ts'
import { type Locate, Problems, pathsOnly } from './problems.ts'
import { readResources } from './read-resources.ts'
import {
  functionFields,
  readFunctions,
  readOutputs,
  readParameters,
  readVariables,
  variableNames,
} from './read-sections.ts'
import type { ParameterDeclaration, ParsedTemplate, Read, Unreadable } from './template.ts'
import { appendPath, formatPath, keysOf } from './template-path.ts'
import { readDefinitions, resolved } from './types.ts'

const scopes: ReadonlyMap<string, ParsedTemplate['scope']> = new Map([
  ['deploymenttemplate.json', 'resourceGroup'],
  // Not a template schema, but the published service accepts it, and samples of its command line use it.
  ['deploymentparameters.json', 'resourceGroup'],
  ['subscriptiondeploymenttemplate.json', 'subscription'],
  ['managementgroupdeploymenttemplate.json', 'managementGroup'],
  ['tenantdeploymenttemplate.json', 'tenant'],
])

const sections: ReadonlySet<string> = new Set([
  '$schema',
  'contentversion',
  'languageversion',
  'apiprofile',
  'metadata',
  'definitions',
  'functions',
  'parameters',
  'variables',
  'resources',
  'outputs',
  'asserts',
])

type ParsedOrPartial =
  | { readonly ok: true; readonly value: ReadTemplate }
  | (Unreadable & { readonly partial?: ReadTemplate })

export function parseTemplate(template: string | JsonObject): ParsedOrPartial {
  const opened = open(template)
  if (!opened.ok) return opened
  const { value, locate, source } = opened.value
  const problems = new Problems(locate)
  if (!isObject(value)) {
    problems.add(undefined, `a template is an object, not ${kindOf(value)}`)
    return { ok: false, problems: problems.list }
  }
  const read = readDocument(value, undefined, problems, 0)
  const { document } = read
  const parameters = [...document.parameters.values()].map(
    ({ name, schema, secure, defaultValue }): readonly [string, ParameterDeclaration] => {
      const type = resolved(schema, document.definitions)?.type ?? 'object'
      const isNullable = resolved(schema, document.definitions)?.nullable === true
      const required = defaultValue === undefined && !isNullable
      return [name, { type: type === 'any' ? 'object' : type, secure, required }]
    },
  )
  const isPartial = !problems.isEmpty
  const made = { ...read, parameters: Object.fromEntries(parameters), source, isPartial }
  return isPartial
    ? { ok: false, problems: problems.list, partial: made }
    : { ok: true, value: made }
}

/** Copies a text or object into values without prototypes. Also for parameter files. */
export function open(given: string | JsonObject): Read<{
  readonly value: JsonObject | null
  readonly locate: Locate
  readonly source: JsonObject
}> {
  if (typeof given !== 'string') {
    const adopted = adopt(given)
    if (!adopted.ok) {
      const { message } = adopted
      return { ok: false, problems: [{ line: 0, column: 0, path: '', message }] }
    }
    const { value } = adopted
    return {
      ok: true,
      value: { value: isObject(value) ? value : null, locate: pathsOnly, source: given },
    }
  }
  const read = readJson(given)
  if (!read.ok) {
    const problems = read.faults.map(({ line, column, keys, message }) => ({
      line,
      column,
      path: keys.reduce<string>((path, key) => appendPath(path, key), ''),
      message,
    }))
    return { ok: false, problems }
  }
  const text = read.value
  const { value } = text
  if (!isObject(value)) {
    const message = `expected an object, not ${kindOf(value)}`
    return { ok: false, problems: [{ ...text.locate([]), path: '', message }] }
  }
  const locate: Locate = (path, within) => ({
    ...text.locate(keysOf(path), within),
    path: formatPath(path),
  })
  return { ok: true, value: { value, locate, source: value } }
}

interface ReadDocument
  extends Pick<ParsedTemplate, 'scope' | 'languageVersion' | 'contentVersion'> {
  readonly document: TemplateDocument
  readonly isScopeKnown: boolean
}

/** The current and the first name of the section of extensions. */
const extensionSections = new Set(['extensions', 'imports'])

/** What every template has anyway may be declared too: the resources themselves, and the language's own functions. */
const ownExtension = /^(\w*ResourceManager|System)$/i

function extensionName(declared: Json, alias: string): string {
  const { name, provider = name } = isObject(declared) ? declared : {}
  return (typeof provider === 'string' ? provider : alias).slice(0, 60)
}

function readDocument(
  template: JsonObject,
  path: Field['path'] | undefined,
  problems: Problems,
  depth: number,
): ReadDocument {
  const at = (name: string): Field | undefined => fieldOf(template, path, name)
  const ownExtensions = new Set<string>()
  for (const name of Object.keys(template)) {
    if (sections.has(name.toLowerCase())) continue
    if (extensionSections.has(name.toLowerCase())) {
      for (const [alias, one] of membersOf(at(name), `'${name}'`, problems)) {
        const extension = extensionName(one.value, alias)
        if (ownExtension.test(extension)) ownExtensions.add(alias.toLowerCase())
        else problems.add(one.path, `the extension '${extension}' is not served here`)
      }
      continue
    }
    problems.add({ parent: path, key: name }, `a template has no section '${name.slice(0, 60)}'`)
  }
  const languageVersion = readLanguageVersion(at('languageVersion'), problems)
  const apiProfile = readApiProfile(at('apiProfile'), problems)
  const definitions = readDefinitions(at('definitions'), problems)
  const parameters = membersOf(at('parameters'), "'parameters'", problems)
  const variables = membersOf(at('variables'), "'variables'", problems)
  const functions = functionFields(at('functions'), problems)
  const outputs = membersOf(at('outputs'), "'outputs'", problems)
  for (const [members, most, what] of [
    [parameters, templateLimits.parameters, 'parameters'],
    [outputs, templateLimits.outputs, 'outputs'],
  ] as const) {
    if (members.length <= most) continue
    const message = `a template has at most ${most} ${what}; this has ${members.length}`
    problems.add(members[most]?.[1].path, message)
  }
  const declared: DeclaredNames = {
    parameters: new Set(parameters.map(([name]) => name.toLowerCase())),
    variables: variableNames(variables),
    functions: new Set(functions.map(({ name }) => name.toLowerCase())),
  }
  const parts = { problems, check: nameChecker(declared, problems) }
  const resources = at('resources')
  if (resources === undefined) problems.add(path, "needs 'resources'")
  const scope = readScope(at('$schema'), path, problems)
  const definitionsSize = sizeOf(at('definitions')?.value ?? null, jsonLimits.characters)
  const document: TemplateDocument = {
    locate: problems.locate,
    apiProfile,
    definitions,
    parameters: readParameters(parameters, definitions, parts),
    variables: readVariables(variables, parts),
    functions: readFunctions(functions, { definitions, definitionsSize, declared }, problems),
    resources: readResources(resources, {
      ...parts,
      languageVersion,
      apiProfile,
      ownExtensions,
      readTemplate(nested) {
        if (depth + 1 > templateLimits.nesting) {
          problems.add(nested.path, `templates nest at most ${templateLimits.nesting} deep`)
        } else if (isObject(nested.value)) {
          readDocument(nested.value, nested.path, problems, depth + 1)
        }
      },
    }),
    outputs: readOutputs(outputs, definitions, parts),
    asserts: membersOf(at('asserts'), "'asserts'", problems).map(([name, { value, path }]) => ({
      name,
      condition: compile(value, path, parts),
      path,
    })),
  }
  return {
    document,
    languageVersion,
    scope: scope ?? 'resourceGroup',
    isScopeKnown: scope !== undefined,
    contentVersion: readContentVersion(at('contentVersion'), path, problems),
  }
}

function readScope(
  field: Field | undefined,
  path: Field['path'] | undefined,
  problems: Problems,
): ParsedTemplate['scope'] | undefined {
  const text = typeof field?.value === 'string' ? field.value : ''
  const file = text.replace(/#.*$/s, '').split('/').at(-1)?.toLowerCase() ?? ''
  const scope = scopes.get(file)
  if (scope !== undefined) return scope
  const known = 'deploymentTemplate.json#, or of subscription, managementGroup or tenant'
  if (field === undefined) problems.add(path, `needs '$schema', the address of a ${known}`)
  else problems.add(field.path, `expected the address of a ${known}`)
  return undefined
}

function readContentVersion(
  field: Field | undefined,
  path: Field['path'] | undefined,
  problems: Problems,
): string {
  if (field === undefined) problems.add(path, "needs 'contentVersion', such as '1.0.0.0'")
  else if (typeof field.value !== 'string' || field.value === '') {
    problems.add(field.path, "expected a text such as '1.0.0.0'")
  } else return field.value
  return '1.0.0.0'
}

/**
 * Experimental versions before and after 2.0 are read as 2.0; features that are new in them are refused where they
 * occur.
 */
function readLanguageVersion(field: Field | undefined, problems: Problems): '1.0' | '2.0' {
  const version = field === undefined ? '1.0' : String(field.value)
  if (version === '1.0') return '1.0'
  if (/^(2\.\d(-experimental)?|1\.(9|10)-experimental)$/.test(version)) return '2.0'
  problems.add(field?.path, "expected '1.0' or '2.0'")
  return '1.0'
}
