/** Makes the body of one resource: its evaluated members, and the template of a nested deployment. */
import type { ResourceSection } from './document.ts'
import { type NeedsWanted, ValueEvaluation, type Wanted } from './evaluate-value.ts'
import { EvaluationQuota } from './evaluation-quota.ts'
import { Budget } from './expansion.ts'
import { isArray, isObject, objectOf } from './fields.ts'
import type { Instance } from './instances.ts'
import { type OuterEvaluation, outerTemplate } from './outer-template.ts'
import type { Json, JsonObject, Runtime } from './plan.ts'
import { Problems } from './problems.ts'
import { childPath } from './template-path.ts'

/** Late evaluation runs for each resource and again after every answer, so each run is bounded. */
export const lateSteps = 2_000_000

export interface MadeBody {
  readonly body: JsonObject
  readonly run: ValueEvaluation
  readonly problems: Problems
}

/** Before anything runs, its problems belong to the template and its size counts for it; later it has its own. */
export function makeBody(
  instance: Instance,
  runtime: Runtime,
  needs: NeedsWanted,
  shared?: { readonly problems: Problems; readonly budget: Budget },
): MadeBody {
  const { section } = instance
  const { problems = new Problems(instance.scope.expansion.document.locate) } = shared ?? {}
  const { budget = new Budget() } = shared ?? {}
  const scope =
    shared === undefined
      ? instance.scope.with({
          quota: new EvaluationQuota({ steps: lateSteps }),
          valuesBudget: new Budget(),
        })
      : instance.scope
  const wanted: Wanted = { problems, budget, needs }
  const run = new ValueEvaluation(wanted)
  const early = scope.with({ late: "in 'location'" })
  const late = scope.with({ late: runtime, target: instance })
  const entries: (readonly [string, Json])[] = []
  for (const { name, value } of section.early) {
    entries.push([String(name), withoutNulls(run.of(value, early, String(name)))])
  }
  for (const { name, value } of section.late) {
    const made = withoutNulls(run.of(value, late, String(name)))
    if (made !== null) entries.push([String(name), made])
  }
  const body = objectOf(entries.filter(([, value]) => value !== null))
  if (section.nested === undefined) return { body, run, problems }
  return { body: withTemplate(section, body, { scope: late, wanted, whole: run }), run, problems }
}

function withTemplate(
  { nested, path }: ResourceSection,
  body: JsonObject,
  evaluation: OuterEvaluation,
): JsonObject {
  const { scope, whole: run } = evaluation
  const before = withLink(body['properties'], scope.context.templateLink?.['uri'])
  const entries: (readonly [string, Json])[] = isObject(before) ? Object.entries(before) : []
  const { template, parameters, isInner = true } = nested ?? {}
  if (template !== undefined && isObject(template.raw) && !isInner) {
    const at = childPath(childPath(path, 'properties'), 'template')
    const made = outerTemplate(template.raw, at, evaluation)
    entries.push(['template', made.template], ['parameters', made.parameters])
    for (const name of Object.keys(made.parameters)) {
      run.hide(`properties.parameters.${name}.value`)
    }
  } else {
    if (template !== undefined) {
      entries.push(['template', run.of(template.compiled, scope, 'properties.template')])
    }
    if (parameters !== undefined) {
      entries.push(['parameters', run.of(parameters, scope, 'properties.parameters')])
    }
  }
  return objectOf([...Object.entries(body), ['properties', objectOf(entries)]])
}

function withLink(properties: Json | undefined, base: Json | undefined): Json | undefined {
  if (!isObject(properties) || typeof base !== 'string') return properties
  const link = properties['templateLink']
  const made = link === undefined ? link : linkFrom(link, base)
  if (made === undefined || made === link) return properties
  return objectOf([...Object.entries(properties), ['templateLink', made]])
}

/** A relative link refers to the location of the template that was itself linked. */
export function linkFrom(link: Json, base: Json | undefined): Json {
  if (typeof base !== 'string') return link
  if (!isObject(link) || typeof link['relativePath'] !== 'string') return link
  const { relativePath, ...rest } = link
  const uri = `${base.slice(0, base.lastIndexOf('/') + 1)}${relativePath}`
  return objectOf([...Object.entries(rest), ['uri', uri]])
}

/** A property that is null counts as absent. Null elements of arrays stay, since the others would move. */
function withoutNulls(value: Json): Json {
  // Most values have none, and are as they were.
  return hasNulls(value) ? copiedWithoutNulls(value) : value
}

function copiedWithoutNulls(value: Json): Json {
  if (isArray(value)) return value.map(copiedWithoutNulls)
  if (!isObject(value)) return value
  const present = Object.entries(value).filter(([, one]) => one !== null)
  return objectOf(present.map(([name, one]) => [name, copiedWithoutNulls(one)] as const))
}

function hasNulls(value: Json | undefined): boolean {
  if (isArray(value)) return value.some(hasNulls)
  if (!isObject(value)) return false
  for (const name in value) if (value[name] === null || hasNulls(value[name])) return true
  return false
}
