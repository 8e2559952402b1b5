/** Reads and expands many template files, one after the other, without a server. Prints nothing. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expandAll, expandNested } from '#template/nested.ts'
import type {
  ExpansionContext,
  Json,
  JsonObject,
  Plan,
  Runtime,
  TemplateProblem,
} from '#template/plan.ts'
import { parseParameters } from '#template/read-arguments.ts'
import type { ParameterArgument, Read } from '#template/template.ts'
import type { Context } from './context.ts'
import { type SampleValues, samplePlace } from './sample-place.ts'
import { argumentsOf } from './template-parameters.ts'

type Arguments = Readonly<Record<string, ParameterArgument>>

interface ExpandValues extends SampleValues {
  readonly parameters: readonly string[]
}

/** A resource as it would be sent, or the reason why its body is not known yet. */
interface ExpandedResource {
  readonly id: string
  readonly type: string
  readonly apiVersion: string
  readonly name: string
  readonly existing?: true
  /** The nested deployment that contains it. */
  readonly within?: string
  readonly dependsOn: readonly string[]
  readonly body?: Json
  /** What must exist before its body, or its template, is known. */
  readonly waitsFor?: readonly string[]
}

interface ExpandedFile {
  readonly file: string
  readonly resources: readonly ExpandedResource[]
  readonly problems: readonly TemplateProblem[]
}

const nothingYet: Runtime = { answer: () => undefined }

/**
 * Yields each file, expanded with the given arguments or those of `<name>.parameters.json` beside it. Throws
 * `LocalProblem`.
 */
export async function* expandFiles(
  context: Context,
  files: readonly string[],
  values: ExpandValues,
): AsyncGenerator<ExpandedFile & { readonly text: string }> {
  const { words } = context.config()
  const given = values.parameters.map((one) => (/[=@]/.test(one) ? one : `@${one}`))
  const shared = given.length === 0 ? undefined : await argumentsOf(context, given)
  for (const file of files) {
    const text = await context.readText(`@${file}`)
    const beside = shared === undefined ? await argumentsBeside(context, file) : undefined
    const parameters = shared ?? (beside?.ok === true ? beside.value : {})
    let place = samplePlace(values, words)
    const made: Read<Plan> = expandAll(
      text,
      { contentVersion: '1.0.0.0', parameters: withoutVaults(parameters) },
      (scope) => {
        const templateLink = { uri: pathToFileURL(resolve(file)).href }
        place = { ...samplePlace({ ...values, scope: values.scope ?? scope }, words), templateLink }
        return place
      },
    )
    const problems: TemplateProblem[] = made.ok ? [] : [...made.problems]
    if (beside?.ok === false) problems.unshift(...beside.problems)
    const resources = made.ok ? [...resourcesOf(made.value, place, problems, undefined)] : []
    yield { file, text, resources, problems }
  }
}

async function argumentsBeside(context: Context, file: string): Promise<Read<Arguments>> {
  const beside = file.replace(/(\.jsonc?)?$/i, '.parameters.json')
  if (!existsSync(beside)) return { ok: true, value: {} }
  const read = parseParameters(await context.readText(`@${beside}`))
  if (read.ok) return read
  const problems = read.problems.map((one) => ({ ...one, message: `${beside}: ${one.message}` }))
  return { ok: false, problems }
}

/** No vault is contacted: a secret's name stands for its value. */
function withoutVaults(given: Arguments): JsonObject {
  const shown = Object.entries(given).map(([name, one]) => {
    return [name, { value: 'value' in one ? one.value : one.reference.secretName }] as const
  })
  return Object.fromEntries(shown)
}

/** Resources of nested deployments come after the deployment. Problems inside are added. */
function* resourcesOf(
  plan: Plan,
  place: ExpansionContext,
  problems: TemplateProblem[],
  within: string | undefined,
): Generator<ExpandedResource> {
  const idOf = new Map(plan.nodes.map(({ key, id }) => [key, id]))
  for (const node of plan.nodes) {
    const { id, type, apiVersion, name, existing } = node
    const needs = existing ? [] : node.needs(nothingYet)
    const inside = node.nested && !existing ? expandNested(node, place) : undefined
    const waitsFor = [
      ...new Set(needs.map((need) => need.id)),
      ...(inside?.kind === 'unknown' && needs.length === 0 ? [inside.reason] : []),
    ]
    yield {
      id,
      type,
      apiVersion,
      name,
      ...(existing ? { existing } : {}),
      ...(within === undefined ? {} : { within }),
      dependsOn: node.dependsOn.flatMap((key) => idOf.get(key) ?? []),
      ...(existing || needs.length > 0 ? {} : { body: node.evaluate(nothingYet).body }),
      ...(waitsFor.length === 0 ? {} : { waitsFor }),
    }
    if (inside?.kind === 'expanded') yield* resourcesOf(inside.plan, inside.context, problems, id)
    if (inside?.kind === 'refused') {
      const { line, column, path } = node.position
      for (const one of inside.problems) {
        problems.push({ line, column, path, message: `${one.path}: ${one.message}` })
      }
    }
  }
}
