/**
 * Turns a parsed template and its arguments into a plan. It fetches nothing; the plan says what must be fetched.
 */
import { exactJsonText } from '#kernel/exact-json.ts'
import { bindParameters, bindVariables, shownParameters } from './bind.ts'
import { checkValue } from './check-value.ts'
import type { CompiledMember } from './compile.ts'
import { dependenciesOf } from './dependencies.ts'
import type { OutputSection, ReadTemplate, ResourceSection } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import { EvaluationQuota } from './evaluation-quota.ts'
import { Budget, type Expansion, type LazyValue } from './expansion.ts'
import { callOf, type Expression } from './expression.ts'
import { isArray, isObject, objectOf } from './fields.ts'
import { inOrder } from './graph.ts'
import { conditionOf, type Instance, nameInstances } from './instances.ts'
import { lateSteps, linkFrom, type MadeBody, makeBody } from './node-body.ts'
import type {
  ExpansionContext,
  Json,
  JsonObject,
  Need,
  Plan,
  PlanNode,
  PlanOutput,
  Position,
  Runtime,
} from './plan.ts'
import { TemplateRefusal } from './plan.ts'
import { Problems } from './problems.ts'
import { ResourceIndex } from './resource-index.ts'
import { EvaluationError } from './scope.ts'
import type { ParameterArgument, Read } from './template.ts'
import { TemplateScope } from './template-scope.ts'
import { resolved, shownTypes } from './types.ts'

const nothingYet: Runtime = { answer: () => undefined }

export function expandTemplate(
  template: ReadTemplate,
  given: Readonly<Record<string, ParameterArgument>>,
  context: ExpansionContext,
): Read<Plan> {
  const expansion = begin(template, given, context)
  const { problems } = expansion
  const { isNested = false, scope } = context
  if (template.isScopeKnown && !isNested && template.scope !== scope) {
    const message = `the template is for the scope ${template.scope}, and deployed to ${scope}`
    problems.add({ parent: undefined, key: '$schema' }, message)
  }
  // In order of declaration, so that new ids are the same each time.
  for (const value of expansion.parameters.values()) value.find()
  const nodes = distinct(nameInstances(expansion), problems)
  const made = new Map<string, MadeBody | undefined>()
  const needs = new Map<string, Iterable<Need>>()
  const shared = { problems, budget: expansion.budget }
  for (const [key, instance] of nodes) {
    const one = instance.section.existing
      ? undefined
      : makeBody(instance, nothingYet, 'all', shared)
    made.set(key, one)
    if (one !== undefined && one.run.needs.size > 0) needs.set(key, one.run.needs.values())
  }
  const dependencies = dependenciesOf(expansion, nodes, needs)
  const { keys, circles } = inOrder(dependencies)
  for (const circle of circles) {
    const names = circle.map((key) => nodes.get(key)?.name ?? key).join(' → ')
    const path = nodes.get(circle[0] ?? '')?.section.path
    problems.add(path, `resources depend on each other in a circle: ${names}`)
  }
  requireAsserts(expansion)
  const outputs = expansion.document.outputs.flatMap((section) => outputOf(expansion, section))
  if (!problems.isEmpty || template.isPartial) return { ok: false, problems: problems.list }
  return {
    ok: true,
    value: {
      nodes: keys.flatMap((key) => {
        const instance = nodes.get(key)
        if (instance === undefined) return []
        return [nodeOf(key, instance, listed(dependencies.get(key)), made.get(key))]
      }),
      outputs,
      parameters: shownParameters(expansion),
      characters: expansion.budget.spent + expansion.valuesBudget.spent,
    },
  }
}

function requireAsserts(expansion: Expansion): void {
  const { document, context, problems } = expansion
  const scope = new TemplateScope({ expansion, context, loops: [], late: nothingYet })
  for (const { name, condition, path } of document.asserts) {
    if (conditionOf(expansion, condition, scope, path) !== false) continue
    problems.add(path, `the assertion '${name.slice(0, 60)}' does not hold`)
  }
}

function begin(
  template: ReadTemplate,
  given: Readonly<Record<string, ParameterArgument>>,
  context: ExpansionContext,
): Expansion {
  const { document, languageVersion } = template
  const parameters = new Map<string, LazyValue>()
  const variables = new Map<string, LazyValue>()
  const expansion: Expansion = {
    document,
    languageVersion,
    context: withoutChance(context),
    defaultsContext: context,
    problems: new Problems(document.locate),
    budget: new Budget(),
    valuesBudget: new Budget(),
    quota: new EvaluationQuota(),
    parameters,
    variables,
    deployment: deploymentOf(template, given, context),
    resources: new ResourceIndex(() => [], []),
    isPartial: template.isPartial,
    notes: { isSecure: false, needs: undefined },
    evaluating: [],
  }
  for (const [name, value] of bindParameters(expansion, given)) parameters.set(name, value)
  for (const [name, value] of bindVariables(expansion)) variables.set(name, value)
  return expansion
}

/** The time and new ids are for default values only, whose result is the same wherever the parameter is used. */
function withoutChance(context: ExpansionContext): ExpansionContext {
  const refuse = (name: string): never => {
    throw new EvaluationError(`${name}() is for default values of parameters`)
  }
  return {
    ...context,
    get now(): number {
      return refuse('utcNow')
    },
    uuid: () => refuse('newGuid'),
  }
}

function deploymentOf(
  template: ReadTemplate,
  given: Readonly<Record<string, ParameterArgument>>,
  { deploymentName, location, scope, templateLink }: ExpansionContext,
): JsonObject {
  const shown = Object.entries(given).flatMap(([name, argument]) => {
    const section = template.document.parameters.get(name.toLowerCase())
    if (section === undefined || section.secure || !('value' in argument)) return []
    return [[name, objectOf([['value', argument.value]])] as const]
  })
  const properties = objectOf([
    ...(templateLink === undefined ? [] : [['templateLink', templateLink] as const]),
    ['template', template.source],
    ['parameters', objectOf(shown)],
    ['mode', 'Incremental'],
    ['provisioningState', 'Accepted'],
  ])
  const isLocated = scope !== 'resourceGroup' && location !== undefined
  return objectOf([
    ['name', deploymentName],
    ...(isLocated ? [['location', location] as const] : []),
    ['properties', properties],
  ])
}

/** By key. An existing resource may be declared several times and also be deployed; it is one node then. */
function distinct(
  instances: readonly Instance[],
  problems: Problems,
): ReadonlyMap<string, Instance> {
  const nodes = new Map<string, Instance>()
  for (const instance of instances) {
    const { nodeKey, section } = instance
    if (nodeKey === undefined) continue
    const before = nodes.get(nodeKey)
    if (before === undefined || before.section.existing) nodes.set(nodeKey, instance)
    else if (!section.existing) {
      problems.add(section.path, `the resource is declared twice: ${instance.id}`)
    }
  }
  return nodes
}

function nodeOf(
  key: string,
  instance: Instance,
  dependsOn: readonly string[],
  made: MadeBody | undefined,
): PlanNode {
  const { id, apiVersion, name, section, scope, loop } = instance
  const { symbolicName, existing, options } = section
  const { onlyNew, retryOn, waitUntil } = options
  const early = made?.run.isWaiting === true ? undefined : (made?.body ?? objectOf([]))
  return {
    key,
    id,
    type: typeOf(instance),
    apiVersion,
    name,
    ...(symbolicName === undefined ? {} : { symbolicName }),
    ...(loop === undefined ? {} : { copy: loop }),
    existing,
    onlyNew,
    ...(retryOn === undefined ? {} : { retryOn }),
    ...(waitUntil === undefined ? {} : { waitSeconds: waitUntil.seconds }),
    nested: section.nested !== undefined && !existing,
    ...(early === undefined ? knownLinkOf(instance) : {}),
    dependsOn,
    position: positionOf(instance),
    needs(runtime) {
      if (early !== undefined) return []
      const { run } = makeBody(instance, runtime, 'certain')
      return run.isWaiting ? unanswered(run.needs, runtime) : []
    },
    evaluate(runtime) {
      if (early !== undefined) return { body: early, securePaths: listed(made?.run.securePaths) }
      const { body, run, problems } = makeBody(instance, runtime, 'none')
      if (run.isFailed) throw refusalOf(problems, scope.expansion)
      requireAnswers(run)
      return { body, securePaths: listed(run.securePaths) }
    },
    ...readinessOf(instance),
  }
}

/** The same list for all that have none: what is sent to another thread is sent once. */
const none: readonly string[] = []

function listed(set: ReadonlySet<string> | undefined): readonly string[] {
  return set === undefined || set.size === 0 ? none : [...set]
}

const positions = new WeakMap<ResourceSection, Position>()

/** All that one loop makes are at the same place. */
function positionOf({ section, scope }: Instance): Position {
  const known = positions.get(section) ?? scope.expansion.document.locate(section.path)
  positions.set(section, known)
  return known
}

function knownLinkOf(instance: Instance): Pick<PlanNode, 'knownLink'> {
  const { section, scope } = instance
  const properties = section.late.find(({ name }) => isNamed(name, 'properties'))?.value
  if (section.nested === undefined || properties?.kind !== 'object') return {}
  const link = properties.members.find(({ name }) => isNamed(name, 'templateLink'))?.value
  if (link === undefined) return {}
  const budget = new Budget()
  const problems = new Problems(scope.expansion.document.locate)
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const value = run.of(
    link,
    scope.with({ late: nothingYet, quota: lateWork(), valuesBudget: budget }),
  )
  if (run.isWaiting || run.isFailed) return {}
  const made = linkFrom(value, scope.context.templateLink?.['uri'])
  return isObject(made) ? { knownLink: made } : {}
}

function isNamed(name: CompiledMember['name'], wanted: string): boolean {
  return typeof name === 'string' && name.toLowerCase() === wanted.toLowerCase()
}

/** Evaluates `filter(createArray(reference(id, version, 'Full')), lambda(…))`: one element is left when it is ready. */
function readinessOf({ id, apiVersion, section, scope }: Instance): Pick<PlanNode, 'readiness'> {
  const { waitUntil } = section.options
  if (waitUntil === undefined) return {}
  const { lambda, path } = waitUntil
  const { at } = lambda
  const text = (value: string): Expression => ({ kind: 'string', value, at })
  const whole = callOf(at, 'reference', text(id), text(apiVersion), text('Full'))
  const expression = callOf(at, 'filter', callOf(at, 'createArray', whole), lambda)
  const evaluated = (runtime: Runtime) => {
    const problems = new Problems(scope.expansion.document.locate)
    const budget = new Budget()
    const run = new ValueEvaluation({ problems, budget, needs: 'certain' })
    const late = scope.with({ late: runtime, quota: lateWork(), valuesBudget: budget })
    const value = run.of({ kind: 'expression', expression, path }, late)
    return { run, problems, isReady: isArray(value) && value.length > 0 }
  }
  return {
    readiness: {
      needs: (runtime) => unanswered(evaluated(runtime).run.needs, runtime),
      evaluate(runtime) {
        const { run, problems, isReady } = evaluated(runtime)
        if (run.isFailed) throw refusalOf(problems, scope.expansion)
        return { value: isReady, secure: false }
      },
    },
  }
}

/** Old templates write extensions as `Namespace/type/providers/kind`; the id has the real type. */
function typeOf({ id, type }: Instance): string {
  if (!type.toLowerCase().includes('/providers/')) return type
  const tail = id.slice(id.toLowerCase().lastIndexOf('/providers/') + '/providers/'.length)
  const [namespace, ...rest] = tail.split('/')
  return [namespace, ...rest.filter((_, at) => at % 2 === 0)].join('/')
}

function unanswered(needs: ReadonlyMap<string, Need>, runtime: Runtime): readonly Need[] {
  return [...needs.values()].filter((need) => runtime.answer(need.key) === undefined)
}

/** The problems of a variable that is first read at run time go to the list of the whole expansion. */
function refusalOf(own: Problems, expansion: Expansion): TemplateRefusal {
  return new TemplateRefusal(own.isEmpty ? expansion.problems.list : own.list)
}

function requireAnswers(run: ValueEvaluation): void {
  if (run.isWaiting) throw new Error('evaluated before its needs were answered')
}

function outputOf(expansion: Expansion, section: OutputSection): readonly PlanOutput[] {
  const { context, problems, budget } = expansion
  const { name, secure, schema, condition, path } = section
  let isInvented = false
  const ownContext = noting(context, () => {
    isInvented = true
  })
  const scope = new TemplateScope({ expansion, context: ownContext, loops: [], late: nothingYet })
  if (conditionOf(expansion, condition, scope, path) !== true) return []
  const definitions = expansion.document.definitions
  const type = resolved(schema, definitions)?.type ?? 'any'
  const evaluate = (
    runtime: Runtime,
    own: Problems,
    ownBudget: Budget,
    quota: EvaluationQuota,
  ): { readonly value: Json; readonly run: ValueEvaluation } => {
    const run = new ValueEvaluation({ problems: own, budget: ownBudget, needs: 'certain' })
    isInvented = false
    const late = scope.with({ late: runtime, quota, valuesBudget: ownBudget })
    const read = outputValue(section, late, run)
    // An invented value is made from its name alone; only here is its declared type known.
    const value = isInvented ? inventedOf(type, read) : read
    if (!run.isFailed && !run.isWaiting) {
      checkValue(schema, value, definitions, (inner, message) => {
        run.fail(path, inner === '' ? message : `${inner}: ${message}`)
      })
    }
    return { value, run }
  }
  const early = evaluate(nothingYet, problems, budget, expansion.quota)
  return [
    {
      name,
      type: shownTypes[type],
      secure,
      needs(runtime) {
        if (!early.run.isWaiting) return []
        const { run } = evaluate(runtime, new Problems(problems.locate), new Budget(), lateWork())
        return run.isWaiting ? unanswered(run.needs, runtime) : []
      },
      evaluate(runtime) {
        if (!early.run.isWaiting) return { value: early.value, secure: early.run.isSecure }
        const own = new Problems(problems.locate)
        const { value, run } = evaluate(runtime, own, new Budget(), lateWork())
        if (run.isFailed) throw refusalOf(own, expansion)
        requireAnswers(run)
        return { value, secure: run.isSecure }
      },
    },
  ]
}

/** A context that reports when a value is invented. Clock and ids stay the same. */
function noting(context: ExpansionContext, note: () => void): ExpansionContext {
  if (context.invented === undefined) return context
  const invented: ExpansionContext['invented'] = (...place) => {
    note()
    return context.invented?.(...place) ?? null
  }
  return Object.create(context, { invented: { value: invented } })
}

/** A value of the declared type, where the invented one has another. */
function inventedOf(type: string, value: Json): Json {
  const has = isArray(value) ? 'array' : value === null ? 'null' : typeof value
  switch (type.toLowerCase()) {
    case 'object':
    case 'secureobject':
      return has === 'object' ? value : {}
    case 'array':
      return has === 'array' ? value : []
    case 'int':
      return has === 'number' || has === 'bigint' ? value : 1
    case 'bool':
      return has === 'boolean' ? value : true
    case 'string':
    case 'securestring':
      return has === 'string' ? value : exactJsonText(value)
    default:
      return value
  }
}

function lateWork(): EvaluationQuota {
  return new EvaluationQuota({ steps: lateSteps })
}

function outputValue(
  { value, path }: OutputSection,
  scope: TemplateScope,
  run: ValueEvaluation,
): Json {
  if (value.kind === 'value') return run.of(value.value, scope, 'value')
  return run.copies({ ...value, path }, { name: '', isMain: true }, scope)
}
