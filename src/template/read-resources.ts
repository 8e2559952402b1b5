/** Reads the resources of a template, those inside others too. What is wrong goes to the problems. */
import { type Compiled, type CompiledMember, type CompileParts, compile } from './compile.ts'
import type { NestedSection, ResourceCopy, ResourceSection } from './document.ts'
import { type Field, fieldOf, isArray, isObject, kindOf, membersOf, refuseTwice } from './fields.ts'
import { placeIn } from './place.ts'
import type { JsonObject } from './plan.ts'

export interface ResourceParts extends CompileParts {
  readonly languageVersion: '1.0' | '2.0'
  /** Looks a template inside the template over, when it is there as it stands. */
  readTemplate(field: Field): void
}

/** Members that are the language's, and never sent. */
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
  'comments',
  'metadata',
])

const nestedType = /^[^/]*\.resources\/deployments$/i

/** Children of children are declared this deep. */
const childrenMax = 8

/** Is it a deployment inside this one? */
export function isDeploymentType(type: string): boolean {
  return nestedType.test(type)
}

export function readResources(
  section: Field | undefined,
  parts: ResourceParts,
): readonly ResourceSection[] {
  const made: ResourceSection[] = []
  if (section !== undefined) readLevel(section, undefined, parts, made, 0)
  const names = made.flatMap(({ symbolicName, place }) =>
    symbolicName === undefined ? [] : [[symbolicName, { value: null, place }] as const],
  )
  refuseTwice(names, 'the resource', parts.problems)
  return made
}

function readLevel(
  section: Field,
  parent: ResourceSection | undefined,
  parts: ResourceParts,
  made: ResourceSection[],
  depth: number,
): void {
  const { problems, languageVersion } = parts
  const { value, place } = section
  if (depth > childrenMax) {
    problems.add(place, `resources stand inside each other at most ${childrenMax} deep`)
  } else if (languageVersion === '2.0' && !isObject(value)) {
    const wanted = "in language version 2.0 'resources' is an object by symbolic names"
    problems.add(place, `${wanted}, not ${kindOf(value)}`)
  } else if (languageVersion === '1.0' && !isArray(value)) {
    const hint = isObject(value) ? ' (symbolic names need languageVersion 2.0)' : ''
    problems.add(place, `'resources' has to be an array, not ${kindOf(value)}${hint}`)
  } else if (isArray(value)) {
    for (const [at, one] of value.entries()) {
      const field = { value: one, place: placeIn(place, at) }
      readResource(field, undefined, parent, parts, made, depth)
    }
  } else {
    for (const [name, field] of membersOf(section, "'resources'", problems)) {
      readResource(field, name, parent, parts, made, depth)
    }
  }
}

function readResource(
  field: Field,
  symbolicName: string | undefined,
  parent: ResourceSection | undefined,
  parts: ResourceParts,
  made: ResourceSection[],
  depth: number,
): void {
  const { value, place } = field
  const { problems } = parts
  if (!isObject(value)) {
    problems.add(place, `expected a resource, that is an object, not ${kindOf(value)}`)
    return
  }
  const at = (name: string): Field | undefined => fieldOf(value, place, name)
  const compiled = (name: string): Compiled | undefined => {
    const found = at(name)
    return found === undefined ? undefined : compile(found.value, found.place, parts)
  }
  const required = (name: string): Compiled => {
    const found = at(name)
    if (found === undefined) problems.add(place, `needs '${name}'`)
    else if (typeof found.value !== 'string' || found.value === '') {
      problems.add(found.place, 'expected a string that is not empty')
    } else return compile(found.value, found.place, parts)
    return { kind: 'broken' }
  }
  const existing = at('existing')
  if (existing !== undefined && typeof existing.value !== 'boolean') {
    problems.add(existing.place, 'expected true or false')
  }
  if (existing?.value === true && parts.languageVersion === '1.0') {
    problems.add(existing.place, "'existing' needs languageVersion 2.0")
  }
  for (const name of ['import', 'extension']) {
    const foreign = at(name)
    if (foreign !== undefined)
      problems.add(foreign.place, 'resources of extensions are not supported')
  }
  const dependsOn = at('dependsOn')
  const type = readType(required('type'), at('type'), parent, parts)
  const nested = isDeploymentType(type) ? readNested(at('properties'), field, parts) : undefined
  const isElsewhere = nested !== undefined || existing?.value === true
  const copy = at('copy')
  if (copy !== undefined && parent !== undefined) {
    problems.add(copy.place, 'a resource inside another cannot have a copy loop')
  }
  const loop = copy === undefined || parent !== undefined ? undefined : readCopy(copy, parts)
  const section: ResourceSection = {
    isBroken: type === '' || (copy !== undefined && loop === undefined),
    place,
    symbolicName,
    parent,
    type,
    apiVersion: required('apiVersion'),
    name: required('name'),
    condition: compiled('condition'),
    scope: compiled('scope'),
    dependsOn:
      dependsOn === undefined
        ? undefined
        : { value: compile(dependsOn.value, dependsOn.place, parts), place: dependsOn.place },
    copy: loop,
    existing: existing?.value === true,
    nested,
    elsewhere: isElsewhere
      ? { subscriptionId: compiled('subscriptionId'), resourceGroup: compiled('resourceGroup') }
      : { subscriptionId: undefined, resourceGroup: undefined },
    ...readBody(value, field, nested !== undefined, parts),
  }
  made.push(section)
  const inner = at('resources')
  if (inner !== undefined) readLevel(inner, section, parts, made, depth + 1)
}

/** The whole type. A resource inside another is commonly written without the other's type, but may repeat it. */
function readType(
  compiled: Compiled,
  field: Field | undefined,
  parent: ResourceSection | undefined,
  { problems }: ResourceParts,
): string {
  if (compiled.kind === 'broken') return ''
  if (compiled.kind !== 'static') {
    problems.add(field?.place, 'the type of a resource is a plain string, not an expression')
    return ''
  }
  if (typeof compiled.value !== 'string') return ''
  if (parent !== undefined) {
    const isWhole = compiled.value.toLowerCase().startsWith(`${parent.type.toLowerCase()}/`)
    return isWhole ? compiled.value : `${parent.type}/${compiled.value}`
  }
  if (compiled.value.split('/').length < 2) {
    problems.add(field?.place, "expected a namespace and a type: 'Namespace/type'")
  }
  return compiled.value
}

function readBody(
  resource: JsonObject,
  field: Field,
  isNested: boolean,
  parts: ResourceParts,
): Pick<ResourceSection, 'early' | 'late'> {
  const early: CompiledMember[] = []
  const late: CompiledMember[] = []
  for (const [name, value] of Object.entries(resource)) {
    const lower = name.toLowerCase()
    if (syntax.has(lower)) continue
    if (isNested && ['subscriptionid', 'resourcegroup', 'properties'].includes(lower)) continue
    const place = placeIn(field.place, name)
    const member = { name, value: compile(value, place, parts, 'loops'), place }
    if (lower === 'location') early.push(member)
    else late.push(member)
  }
  if (!isNested) return { early, late }
  return { early, late: [...late, ...nestedRest(resource, field, parts)] }
}

/** What a nested deployment has beside its template and parameters: the mode, links. */
function nestedRest(
  resource: JsonObject,
  field: Field,
  parts: ResourceParts,
): readonly CompiledMember[] {
  const properties = fieldOf(resource, field.place, 'properties')
  if (!isObject(properties?.value)) return []
  const members = Object.entries(properties.value).flatMap(([name, value]) => {
    if (['template', 'parameters', 'expressionevaluationoptions'].includes(name.toLowerCase())) {
      return []
    }
    const place = placeIn(properties.place, name)
    return [{ name, value: compile(value, place, parts), place }]
  })
  const value = { kind: 'object', members, copies: [] } as const
  return [{ name: 'properties', value, place: properties.place }]
}

function readNested(
  properties: Field | undefined,
  field: Field,
  parts: ResourceParts,
): NestedSection {
  const { problems } = parts
  if (!isObject(properties?.value)) {
    problems.add(field.place, "a deployment needs 'properties', an object")
  }
  const inside = isObject(properties?.value) ? properties : undefined
  const at = (name: string): Field | undefined =>
    isObject(inside?.value) ? fieldOf(inside.value, inside.place, name) : undefined
  const options = at('expressionEvaluationOptions')
  const scope = isObject(options?.value)
    ? fieldOf(options.value, options.place, 'scope')
    : undefined
  // Language version 2.0 has no other scope, so it may be left out there: what Bicep writes for its telemetry does.
  const isInner =
    scope === undefined
      ? parts.languageVersion === '2.0'
      : typeof scope.value === 'string' && scope.value.toLowerCase() === 'inner'
  const template = at('template')
  if (template === undefined && at('templateLink') === undefined && inside !== undefined) {
    problems.add(inside.place, "a deployment needs a 'template' or a 'templateLink'")
  }
  if (template !== undefined && !isInner && parts.languageVersion === '2.0') {
    const message =
      "in language version 2.0 a nested template needs expressionEvaluationOptions.scope 'inner'"
    problems.add(scope?.place ?? inside?.place, message)
  }
  if (isInner && isObject(template?.value)) parts.readTemplate(template)
  const parameters = at('parameters')
  return {
    isInner,
    template: template === undefined ? undefined : readNestedTemplate(template, isInner, parts),
    parameters:
      parameters === undefined
        ? undefined
        : compile(parameters.value, parameters.place, parts, 'loops'),
  }
}

/** A template that is there as it stands is data in the inner scope; anything else is evaluated here. */
function readNestedTemplate(
  { value, place }: Field,
  isInner: boolean,
  parts: ResourceParts,
): NonNullable<NestedSection['template']> {
  if (isInner && isObject(value)) return { raw: value, compiled: { kind: 'static', value } }
  return { raw: value, compiled: compile(value, place, parts) }
}

const modes: ReadonlySet<string> = new Set(['serial', 'parallel'])

function readCopy({ value, place }: Field, parts: ResourceParts): ResourceCopy | undefined {
  const { problems } = parts
  const at = (name: string): Field | undefined =>
    isObject(value) ? fieldOf(value, place, name) : undefined
  const name = at('name')
  const count = at('count')
  if (name === undefined || count === undefined) {
    problems.add(place, "a copy loop is an object with 'name' and 'count'")
    return undefined
  }
  const mode = at('mode')
  const word = String(mode?.value ?? 'parallel').toLowerCase()
  if (mode !== undefined && !modes.has(word)) {
    problems.add(mode.place, "expected 'serial' or 'parallel'")
  }
  const batch = at('batchSize')
  const size = batch?.value ?? 1
  const isSize = typeof size === 'number' && Number.isInteger(size) && size >= 1
  if (!isSize) problems.add(batch?.place, 'expected an integer of at least 1')
  return {
    name: compile(name.value, name.place, parts),
    count: compile(count.value, count.place, parts),
    isSerial: word === 'serial',
    batchSize: isSize ? size : 1,
    place,
  }
}
