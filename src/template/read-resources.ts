/** Reads the resources of a template, nested ones included, and collects the problems. */
import { type CompileDependencies, type Compiled, type CompiledMember, compile } from './compile.ts'
import {
  type NestedSection,
  type ResourceCopy,
  type ResourceSection,
  templateLimits,
} from './document.ts'
import { type Field, fieldOf, isArray, isObject, kindOf, membersOf, refuseTwice } from './fields.ts'
import type { JsonObject } from './plan.ts'
import { readOptions } from './read-options.ts'
import { childPath } from './template-path.ts'

interface ResourceDependencies extends CompileDependencies {
  readonly languageVersion: '1.0' | '2.0'
  readonly apiProfile: string | undefined
  /** In lower case: extensions whose resources are resources like any other. */
  readonly ownExtensions: ReadonlySet<string>
  /** Looks a template inside the template over, when it is there as it stands. */
  readTemplate(field: Field): void
}

/** Members of the language, which are never sent. */
const syntax: ReadonlySet<string> = new Set([
  'type',
  'apiversion',
  'name',
  'condition',
  'copy',
  'scope',
  'dependson',
  'existing',
  'resources',
  'extension',
  'import',
  'comments',
  'metadata',
  '@options',
])

const nestedType = /^[^/]*\.resources\/deployments$/i

/** The nesting of child resources. */
const childrenMax = 8

/** Whether it is a nested deployment. */
export function isDeploymentType(type: string): boolean {
  return nestedType.test(type)
}

export function readResources(
  section: Field | undefined,
  deps: ResourceDependencies,
): readonly ResourceSection[] {
  const made: ResourceSection[] = []
  if (section !== undefined) readLevel(section, { parent: undefined, depth: 0 }, { ...deps, made })
  const names = made.flatMap(({ symbolicName, path }) =>
    symbolicName === undefined ? [] : [[symbolicName, { value: null, path }] as const],
  )
  refuseTwice(names, 'the resource', deps.problems)
  return made
}

/** What contains a resource. */
interface Place {
  readonly parent: ResourceSection | undefined
  readonly depth: number
}

interface MadeSections {
  readonly made: ResourceSection[]
}

function readLevel(section: Field, place: Place, deps: ResourceDependencies & MadeSections): void {
  const { depth } = place
  const { problems, languageVersion } = deps
  const { value, path } = section
  if (depth > childrenMax) {
    problems.add(path, `resources stand inside each other at most ${childrenMax} deep`)
  } else if (languageVersion === '2.0' && !isObject(value)) {
    const wanted = "in language version 2.0 'resources' is an object by symbolic names"
    problems.add(path, `${wanted}, not ${kindOf(value)}`)
  } else if (languageVersion === '1.0' && !isArray(value)) {
    const hint = isObject(value) ? ' (symbolic names need languageVersion 2.0)' : ''
    problems.add(path, `'resources' has to be an array, not ${kindOf(value)}${hint}`)
  } else if (isArray(value)) {
    for (const [at, one] of value.entries()) {
      const field = { value: one, path: childPath(path, at) }
      readResource(field, undefined, place, deps)
    }
  } else {
    for (const [name, field] of membersOf(section, "'resources'", problems)) {
      readResource(field, name, place, deps)
    }
  }
}

function readResource(
  field: Field,
  symbolicName: string | undefined,
  { parent, depth }: Place,
  deps: ResourceDependencies & MadeSections,
): void {
  const { value, path } = field
  const { problems } = deps
  if (!isObject(value)) {
    problems.add(path, `expected a resource, that is an object, not ${kindOf(value)}`)
    return
  }
  if (symbolicName !== undefined && symbolicName.length > templateLimits.names) {
    problems.add(path, `a symbolic name has at most ${templateLimits.names} characters`)
  }
  const at = (name: string): Field | undefined => fieldOf(value, path, name)
  const compiled = (name: string): Compiled | undefined => {
    const found = at(name)
    return found === undefined ? undefined : compile(found.value, found.path, deps)
  }
  const extension = at('extension') ?? at('import')
  const isOwn = deps.ownExtensions.has(String(extension?.value).toLowerCase())
  const foreign = isOwn ? undefined : extension
  if (foreign !== undefined) {
    const named = typeof foreign.value === 'string' ? ` '${foreign.value.slice(0, 60)}'` : ''
    problems.add(foreign.path, `resources of the extension${named} are not served here`)
  }
  const required = (name: string): Compiled => {
    const found = at(name)
    if (found === undefined) {
      // A resource of an extension has other members as its identity.
      if (foreign === undefined) problems.add(path, `needs '${name}'`)
    } else if (typeof found.value !== 'string' || found.value === '') {
      problems.add(found.path, 'expected a string that is not empty')
    } else return compile(found.value, found.path, deps)
    return { kind: 'broken' }
  }
  const existing = at('existing')
  if (existing !== undefined && typeof existing.value !== 'boolean') {
    problems.add(existing.path, 'expected true or false')
  }
  if (existing?.value === true && deps.languageVersion === '1.0') {
    problems.add(existing.path, "'existing' needs languageVersion 2.0")
  }
  const dependsOn = at('dependsOn')
  const { type, written } = readType(required('type'), at('type'), parent, deps)
  const nested = isDeploymentType(type) ? readNested(at('properties'), field, deps) : undefined
  const isElsewhere = nested !== undefined || existing?.value === true
  const copy = at('copy')
  if (copy !== undefined && parent !== undefined) {
    problems.add(copy.path, 'a resource inside another cannot have a copy loop')
  }
  const loop = copy === undefined || parent !== undefined ? undefined : readCopy(copy, deps)
  const section: ResourceSection = {
    isBroken: type === '' || (copy !== undefined && loop === undefined),
    path,
    symbolicName,
    parent,
    type,
    written,
    apiVersion:
      deps.apiProfile !== undefined && at('apiVersion') === undefined
        ? undefined
        : required('apiVersion'),
    name: required('name'),
    condition: compiled('condition'),
    scope: compiled('scope'),
    dependsOn:
      dependsOn === undefined
        ? undefined
        : { value: compile(dependsOn.value, dependsOn.path, deps), path: dependsOn.path },
    copy: loop,
    existing: existing?.value === true,
    options: readOptions(at('@options'), deps),
    nested,
    elsewhere: isElsewhere
      ? { subscriptionId: compiled('subscriptionId'), resourceGroup: compiled('resourceGroup') }
      : { subscriptionId: undefined, resourceGroup: undefined },
    ...readBody(value, field, nested !== undefined, deps),
  }
  deps.made.push(section)
  const inner = at('resources')
  if (inner !== undefined) readLevel(inner, { parent: section, depth: depth + 1 }, deps)
}

/**
 * The full type. A child resource is usually written without its parent's type, but may repeat it. A type of
 * another namespace is no child; it is only declared there.
 */
function readType(
  compiled: Compiled,
  field: Field | undefined,
  parent: ResourceSection | undefined,
  { problems }: ResourceDependencies,
): Pick<ResourceSection, 'type' | 'written'> {
  const unread = { type: '', written: 'whole' } as const
  if (compiled.kind === 'broken') return unread
  if (compiled.kind !== 'static') {
    problems.add(field?.path, 'the type of a resource is a plain string, not an expression')
    return unread
  }
  if (typeof compiled.value !== 'string') return unread
  const type = compiled.value.replace(/\/$/, '')
  if (type.length > templateLimits.names) {
    problems.add(field?.path, `a type has at most ${templateLimits.names} characters`)
  }
  const [namespace = '', ...types] = type.split('/')
  if (parent !== undefined) {
    const isWhole = type.toLowerCase().startsWith(`${parent.type.toLowerCase()}/`)
    if (isWhole) return { type, written: 'whole' }
    if (namespace.includes('.') && types.length > 0) return { type, written: 'foreign' }
    return { type: `${parent.type}/${type}`, written: 'short' }
  }
  if (types.length === 0) {
    problems.add(field?.path, "expected a namespace and a type: 'Namespace/type'")
  }
  return { type, written: 'whole' }
}

function readBody(
  resource: JsonObject,
  field: Field,
  isNested: boolean,
  deps: ResourceDependencies,
): Pick<ResourceSection, 'early' | 'late'> {
  const early: CompiledMember[] = []
  const late: CompiledMember[] = []
  for (const [name, value] of Object.entries(resource)) {
    const lower = name.toLowerCase()
    if (syntax.has(lower)) continue
    if (isNested && ['subscriptionid', 'resourcegroup', 'properties'].includes(lower)) continue
    const path = childPath(field.path, name)
    const member = { name, value: compile(value, path, deps, 'loops'), path }
    if (lower === 'location') early.push(member)
    else late.push(member)
  }
  if (!isNested) return { early, late }
  return { early, late: [...late, ...nestedRest(resource, field, deps)] }
}

/** The other members of a nested deployment besides its template and parameters: the mode, links. */
function nestedRest(
  resource: JsonObject,
  field: Field,
  deps: ResourceDependencies,
): readonly CompiledMember[] {
  const properties = fieldOf(resource, field.path, 'properties')
  if (!isObject(properties?.value)) return []
  const members = Object.entries(properties.value).flatMap(([name, value]) => {
    if (['template', 'parameters', 'expressionevaluationoptions'].includes(name.toLowerCase())) {
      return []
    }
    const path = childPath(properties.path, name)
    return [{ name, value: compile(value, path, deps), path }]
  })
  const value = { kind: 'object', members, copies: [] } as const
  return [{ name: 'properties', value, path: properties.path }]
}

function readNested(
  properties: Field | undefined,
  field: Field,
  deps: ResourceDependencies,
): NestedSection {
  const { problems } = deps
  if (!isObject(properties?.value)) {
    problems.add(field.path, "a deployment needs 'properties', an object")
  }
  const inside = isObject(properties?.value) ? properties : undefined
  const at = (name: string): Field | undefined =>
    isObject(inside?.value) ? fieldOf(inside.value, inside.path, name) : undefined
  const options = at('expressionEvaluationOptions')
  const scope = isObject(options?.value) ? fieldOf(options.value, options.path, 'scope') : undefined
  // Language version 2.0 has only this scope, so it may be left out there; Bicep's telemetry deployments do so.
  const isInner =
    scope === undefined
      ? deps.languageVersion === '2.0'
      : typeof scope.value === 'string' && scope.value.toLowerCase() === 'inner'
  const template = at('template')
  if (template === undefined && at('templateLink') === undefined && inside !== undefined) {
    problems.add(inside.path, "a deployment needs a 'template' or a 'templateLink'")
  }
  if (template !== undefined && !isInner && deps.languageVersion === '2.0') {
    const message =
      "in language version 2.0 a nested template needs expressionEvaluationOptions.scope 'inner'"
    problems.add(scope?.path ?? inside?.path, message)
  }
  if (isInner && isObject(template?.value)) deps.readTemplate(template)
  const parameters = at('parameters')
  return {
    isInner,
    template: template === undefined ? undefined : readNestedTemplate(template, isInner, deps),
    parameters:
      parameters === undefined
        ? undefined
        : compile(parameters.value, parameters.path, deps, 'loops'),
  }
}

/** A template in the inner scope is data; any other is evaluated here. */
function readNestedTemplate(
  { value, path }: Field,
  isInner: boolean,
  deps: ResourceDependencies,
): NonNullable<NestedSection['template']> {
  if (isInner && isObject(value)) return { raw: value, compiled: { kind: 'static', value } }
  return { raw: value, compiled: compile(value, path, deps) }
}

const modes: ReadonlySet<string> = new Set(['serial', 'parallel'])

function readCopy({ value, path }: Field, deps: ResourceDependencies): ResourceCopy | undefined {
  const { problems } = deps
  const at = (name: string): Field | undefined =>
    isObject(value) ? fieldOf(value, path, name) : undefined
  const name = at('name')
  const count = at('count')
  if (name === undefined || count === undefined) {
    problems.add(path, "a copy loop is an object with 'name' and 'count'")
    return undefined
  }
  const mode = at('mode')
  const word = String(mode?.value ?? 'parallel').toLowerCase()
  if (mode !== undefined && !modes.has(word)) {
    problems.add(mode.path, "expected 'serial' or 'parallel'")
  }
  const batch = at('batchSize')
  const size = batch?.value ?? 1
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1
  if (!isSize) problems.add(batch?.path, 'expected an integer of at least 1')
  return {
    name: compile(name.value, name.path, deps),
    count: compile(count.value, count.path, deps),
    isSerial: word === 'serial',
    batchSize: isSize ? size : 1,
    path,
  }
}
