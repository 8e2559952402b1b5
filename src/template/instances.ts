/**
 * Names the resources of a template before anything is sent: one instance with its id for each iteration of a loop.
 */
import { parsePath } from '#kernel/resource-id.ts'
import { profileVersion } from './api-profile.ts'
import type { Compiled } from './compile.ts'
import { type ResourceSection, templateLimits } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import { Budget, type Expansion } from './expansion.ts'
import type { Json } from './plan.ts'
import { Problems, pathsOnly } from './problems.ts'
import { type Known, ResourceIndex } from './resource-index.ts'
import type { TemplatePath } from './template-path.ts'
import { type Loop, TemplateScope } from './template-scope.ts'

/** A resource that the template declares. It has no `nodeKey` when its condition is false. */
export interface Instance extends Known {
  readonly section: ResourceSection
  /** The scope of its expressions, inside the loop that made it. */
  readonly scope: TemplateScope
  readonly loop: { readonly name: string; readonly index: number } | undefined
  /** The start of its id: `{base}/providers/…`. */
  readonly base: string
}

/** Only the instances that could be named; the others are among the problems. */
export function nameInstances(expansion: Expansion): readonly Instance[] {
  const made = new Map<ResourceSection, readonly Instance[]>()
  const names: FoundNames = { loopNames: [], broken: [] }
  let count = 0
  for (const section of expansion.document.resources) {
    const instances: Instance[] = []
    if (section.isBroken) {
      noteBroken(expansion, section, names)
      continue
    }
    const parents = section.parent === undefined ? [undefined] : (made.get(section.parent) ?? [])
    for (const parent of parents) {
      for (const turn of turnsOf(expansion, section, parent, names)) {
        count += 1
        if (count > templateLimits.resources) {
          const message = `a template has at most ${templateLimits.resources} resources`
          expansion.problems.add(section.path, message)
          expansion.isPartial = true
          return [...made.values()].flat()
        }
        const instance = nameOne(expansion, section, parent, turn)
        if (instance === undefined) noteBroken(expansion, section, names)
        else instances.push(instance)
      }
    }
    made.set(section, instances)
  }
  const all = [...made.values()].flat()
  expansion.resources = new ResourceIndex(
    () =>
      all.map((known) => ({
        known,
        ...(known.section.symbolicName === undefined
          ? {}
          : { symbolicName: known.section.symbolicName }),
        ...(known.loop === undefined || known.section.parent !== undefined
          ? {}
          : { loop: known.loop }),
        otherIds: otherIdsOf(known),
      })),
    names.loopNames,
    names.broken,
  )
  return all
}

interface FoundNames {
  readonly loopNames: string[]
  /** The names of resources that could not be read. */
  readonly broken: string[]
}

/**
 * Other resources may refer to one that could not be read. Where its name is unknown too, no reference is called
 * wrong.
 */
function noteBroken(
  expansion: Expansion,
  { name, symbolicName }: ResourceSection,
  { broken }: FoundNames,
): void {
  if (symbolicName !== undefined) broken.push(symbolicName)
  if (name.kind === 'static' && typeof name.value === 'string') broken.push(name.value)
  else expansion.isPartial = true
}

interface Turn {
  readonly scope: TemplateScope
  readonly loop: { readonly name: string; readonly index: number } | undefined
}

function turnsOf(
  expansion: Expansion,
  section: ResourceSection,
  parent: Instance | undefined,
  names: FoundNames,
): readonly Turn[] {
  if (parent !== undefined) return [{ scope: parent.scope, loop: parent.loop }]
  const { context, problems, valuesBudget: budget } = expansion
  const late = 'in the name of a resource'
  const scope = new TemplateScope({ expansion, context, loops: [], late })
  const { copy, symbolicName } = section
  if (copy === undefined) return [{ scope, loop: undefined }]
  const at = { scope, path: copy.path, problems }
  const name = textOf(copy.name, 'the name of the loop', at, templateLimits.names)
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const count = run.count(copy.count, scope, copy.path)
  if (run.isFailed || name === undefined) noteBroken(expansion, section, names)
  if (name === undefined) return []
  names.loopNames.push(name, ...(symbolicName === undefined ? [] : [symbolicName]))
  if (copy.isSerial && copy.batchSize > count && count > 0) {
    problems.add(copy.path, `'batchSize' is larger than the ${count} turns of the loop`)
  }
  return Array.from({ length: count }, (_, index) => {
    const loop: Loop = { name: name.toLowerCase(), index, isMain: true }
    return { scope: scope.with({ loop }), loop: { name, index } }
  })
}

function nameOne(
  expansion: Expansion,
  section: ResourceSection,
  parent: Instance | undefined,
  { scope, loop }: Turn,
): Instance | undefined {
  const { path, type } = section
  const isPresent = conditionOf(expansion, section.condition, scope, path)
  if (isPresent === undefined) return undefined
  // A resource that is not deployed may have an invalid name.
  const problems = isPresent ? expansion.problems : new Problems(pathsOnly)
  const place = { scope, path, problems }
  const own = textOf(section.name, "'name'", place)
  const apiVersion = versionOf(section, place)
  const base = baseOf(expansion, section, parent, place)
  if (own === undefined || apiVersion === undefined || base === undefined) return undefined
  const name = parent === undefined ? own : nameInside(section, parent, own)
  const id = idOf(base, type, name)
  if (typeof id !== 'string') {
    problems.add(path, id.message)
    return undefined
  }
  const parsed = isPresent ? parsePath(id) : undefined
  if (parsed !== undefined && parsed.kind !== 'resource') {
    const reason = parsed.kind === 'malformed' ? parsed.reason : 'it names no resource'
    problems.add(path, `its id would be ${id.slice(0, 300)}: ${reason}`)
    return undefined
  }
  const key = isPresent ? { nodeKey: id.toLowerCase() } : {}
  const isOptional = section.existing && section.options.orNull === true
  const orNull = isOptional ? { orNull: true as const } : {}
  return { section, scope, loop, base, id, name, type, apiVersion, ...key, ...orNull }
}

function versionOf({ apiVersion, type }: ResourceSection, place: Place): string | undefined {
  if (apiVersion !== undefined) {
    return textOf(apiVersion, "'apiVersion'", place, templateLimits.apiVersion)
  }
  const { document, context } = place.scope.expansion
  return profileVersion(context, document.apiProfile ?? '', type)
}

/** A whole type may come with a whole name. */
function nameInside({ type, written }: ResourceSection, parent: Instance, own: string): string {
  const isWhole = written === 'whole' && own.split('/').length === type.split('/').length - 1
  return isWhole || written === 'foreign' ? own : `${parent.name}/${own}`
}

/** Undefined when the condition has a problem. */
export function conditionOf(
  { problems, valuesBudget: budget }: Expansion,
  condition: Compiled | undefined,
  scope: TemplateScope,
  path: TemplatePath,
): boolean | undefined {
  if (condition === undefined) return true
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const value = run.of(condition, scope.with({ late: 'in a condition' }))
  if (run.isFailed) return undefined
  if (typeof value === 'boolean') return value
  problems.add(path, "'condition' has to be true or false")
  return undefined
}

/** The scope of an expression, and where its problems are reported. */
interface Place {
  readonly scope: TemplateScope
  readonly path: TemplatePath
  readonly problems: Problems
}

function textOf(
  compiled: Compiled,
  what: string,
  { scope, path, problems }: Place,
  most = Number.POSITIVE_INFINITY,
): string | undefined {
  const fits = (value: Json): value is string => isText(value) && value.length <= most
  // Most versions.
  if (compiled.kind === 'static' && fits(compiled.value)) return compiled.value
  const run = new ValueEvaluation({ problems, budget: new Budget(), needs: 'none' })
  const value = run.of(compiled, scope)
  if (run.isFailed) return undefined
  if (fits(value)) return value
  const wrong = isText(value)
    ? `is longer than ${most} characters`
    : 'has to be a string that is not empty'
  problems.add(path, `${what} ${wrong}`)
  return undefined
}

function isText(value: Json): value is string {
  return typeof value === 'string' && value !== ''
}

/** The start of the id, without a trailing slash; the tenant's is the empty text. */
function baseOf(
  expansion: Expansion,
  section: ResourceSection,
  parent: Instance | undefined,
  place: Place,
): string | undefined {
  const here = placeOfContext(expansion)
  if (section.scope !== undefined) {
    const text = textOf(section.scope, "'scope'", place)
    return text === undefined ? undefined : absolute(text, here)
  }
  if (parent !== undefined) return parent.base
  return elsewhere(expansion, section, place, here)
}

/** The scope of a nested deployment. An empty text counts as absent: templates write it to mean the same scope. */
function elsewhere(
  expansion: Expansion,
  { elsewhere: { subscriptionId, resourceGroup } }: ResourceSection,
  { scope, path, problems }: Place,
  here: string,
): string | undefined {
  const optional = (compiled: Compiled | undefined, what: string): string | undefined | false => {
    if (compiled === undefined) return undefined
    const run = new ValueEvaluation({ problems, budget: new Budget(), needs: 'none' })
    const value = run.of(compiled, scope)
    if (run.isFailed) return false
    if (value === '' || value === null) return undefined
    if (typeof value === 'string') return value
    problems.add(path, `${what} has to be a string`)
    return false
  }
  const group = optional(resourceGroup, "'resourceGroup'")
  const given = optional(subscriptionId, "'subscriptionId'")
  if (group === false || given === false) return undefined
  if (group === undefined && given === undefined) return here
  const subscription = given ?? expansion.context.subscription?.['subscriptionId']
  if (typeof subscription !== 'string') {
    problems.add(path, "here 'resourceGroup' needs a 'subscriptionId' beside it")
    return undefined
  }
  if (group === undefined) return `/subscriptions/${subscription}`
  return `/subscriptions/${subscription}/resourceGroups/${group}`
}

/** The scope of the deployment. */
function placeOfContext({ context }: Expansion): string {
  const { resourceGroup, subscription, managementGroup } = context
  const scopes = { resourceGroup, subscription, managementGroup, tenant: undefined }
  const id = scopes[context.scope]?.['id']
  return typeof id === 'string' ? id.replace(/\/$/, '') : ''
}

const managementGroup = /^[^/]*\.management\/managementgroups\/[^/]+$/i

function absolute(text: string, here: string): string {
  const trimmed = text.replace(/\/$/, '')
  if (trimmed === '' || trimmed.startsWith('/')) return trimmed
  if (managementGroup.test(trimmed)) return `/providers/${trimmed}`
  return `${here}/providers/${trimmed}`
}

const groupType = /^[^/]*\.resources\/resourcegroups$/i

function isGroup(base: string, type: string): boolean {
  return groupType.test(type) && /^\/subscriptions\/[^/]+$/i.test(base)
}

function idOf(base: string, type: string, name: string): string | { readonly message: string } {
  if (isGroup(base, type)) return `${base}/resourceGroups/${name}`
  const [namespace, ...types] = type.split('/')
  const names = name.split('/')
  if (types.length !== names.length) {
    const message = `the type '${type}' has ${types.length} segments after its namespace, so the name needs as many; it has ${names.length}`
    return { message }
  }
  if (names.includes('') || types.includes('')) {
    return { message: 'no segment of a type or a name may be empty' }
  }
  let id = `${base}/providers/${namespace}`
  for (let at = 0; at < types.length; at++) id += `/${types[at]}/${names[at]}`
  return id
}

/** Groups are also named in the form that subscriptionResourceId() returns. */
function otherIdsOf({ base, type, name }: Instance): readonly string[] {
  return isGroup(base, type) ? [`${base}/providers/${type}/${name}`] : []
}
