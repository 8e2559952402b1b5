/**
 * Published templates expand. Those that do not are grouped by cause. Templates that nobody could expand are
 * excluded by rules, never by names of files.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { environmentOf } from '#template/environment.ts'
import { templateLanguage } from '#template/language.ts'
import { expandAll, expandNested } from '#template/nested.ts'
import type { ExpansionContext, Plan, TemplateProblem } from '#template/plan.ts'
import { TemplateRefusal } from '#template/plan.ts'
import { contextOf } from '../../src/template/testing/answering-scope.ts'
import {
  type Arguments,
  argumentsOf,
  type CorpusTemplate,
  corpusFolder,
  readCorpus,
} from './corpus.ts'

/**
 * Of a thousand templates that are not excluded, how many expand. May only rise: raise it when the test reports
 * more.
 */
const expandFloor = 997
/** The same for the templates nested in them. */
const nestedFloor = 1000
/** A folder with fewer templates is another corpus, for which the floors mean nothing. */
const templatesLeast = 100

/** Faults of the template itself: no implementation of the language accepts it. */
const ownFaults: readonly (readonly [RegExp, string])[] = [
  [/^the extension '|^resources of the extension/, 'it needs extensions'],
  [/^the resource is declared twice/, 'it declares a resource twice'],
  [/^(the variable|the parameter) '.*' is not declared/, 'it uses a name that it does not declare'],
  [/^the variable '.*' is made of itself/, 'a variable is made of itself'],
  [/^needs 'apiVersion'/, 'a resource has no apiVersion'],
  [/is given twice$/, 'a property is given twice, with different values'],
  [/^resourceId\(\) expects a type|needs \d+ names; resourceId/, 'resourceId() is called wrongly'],
  [
    /^expected (a string, an integer or a function|',' or '\)'),? found/,
    'an expression has no end',
  ],
  [/a user function calls others only/, 'a user function calls another, in version 1.0'],
]

interface Outcome {
  readonly path: string
  readonly cause: string
  readonly isApart: boolean
}

test('published templates expand', async (t) => {
  const folder = corpusFolder()
  // Data that a machine does not have is never required, but its absence is always reported.
  if (folder === undefined) {
    const how = 'name the folder of published templates in ARMATURE_TEST_CORPUS'
    process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`)
    t.skip(how)
    return
  }
  const outcomes: Outcome[] = []
  const nested: Outcome[] = []
  let expanded = 0
  let nestedExpanded = 0
  let unknown = 0
  for (const one of readCorpus(folder)) {
    const given = argumentsOf(folder, one)
    const context = placeOf(one)
    const made = expandAll(
      one.text,
      { contentVersion: '1', parameters: { ...given.values } as never },
      context,
    )
    if (!made.ok) {
      outcomes.push(outcomeOf(one, given, made.problems))
      continue
    }
    expanded += 1
    for (const inner of nestedOf(made.value, context)) {
      if (inner === 'expanded') nestedExpanded += 1
      else if (inner === 'unknown') unknown += 1
      else nested.push(outcomeOf(one, given, inner))
    }
  }
  const all = expanded + outcomes.length
  assert.ok(all >= templatesLeast, `${folder} holds ${all} templates`)
  t.diagnostic(`${expanded} of ${all} templates expand; ${nestedExpanded} nested in them do too`)
  t.diagnostic(`${unknown} nested ones stand elsewhere, or wait for what only runs`)
  report(t.diagnostic.bind(t), outcomes)
  report(t.diagnostic.bind(t), nested)
  requireFloor('templates', expanded, outcomes, expandFloor)
  requireFloor('nested templates', nestedExpanded, nested, nestedFloor)
})

function requireFloor(
  what: string,
  expanded: number,
  outcomes: readonly Outcome[],
  floor: number,
): void {
  const refused = outcomes.filter((one) => !one.isApart)
  const share = (1000 * expanded) / (expanded + refused.length)
  const listed = refused.map(({ path, cause }) => `  ${path}: ${cause}`).join('\n')
  assert.ok(share >= floor, `${share.toFixed(1)} of 1000 ${what} expand, not ${floor}\n${listed}`)
}

/** As if it had been linked from its own address. */
function placeOf({ path, text }: CorpusTemplate): ExpansionContext {
  const read = templateLanguage.parseTemplate(text)
  const scope = (read.ok ? read.value : read.partial)?.scope
  const environment = environmentOf({
    name: 'Test',
    url: 'http://test.example',
    tenantId: 'tenant',
  })
  const templateLink = { uri: `https://templates.example/${path}` }
  return { ...contextOf(scope), location: 'local', templateLink, environment }
}

function nestedOf(
  plan: Plan,
  context: ExpansionContext,
): readonly ('expanded' | 'unknown' | readonly TemplateProblem[])[] {
  return plan.nodes
    .filter((node) => node.nested)
    .flatMap((node) => {
      const made = attempt(() => expandNested(node, context))
      if (made.kind === 'refused') return [made.problems]
      if (made.kind === 'unknown') return ['unknown' as const]
      return ['expanded' as const, ...nestedOf(made.plan, made.context)]
    })
}

/** An expression of the nested deployment itself may fail. */
function attempt(work: () => ReturnType<typeof expandNested>): ReturnType<typeof expandNested> {
  try {
    return work()
  } catch (error) {
    if (error instanceof TemplateRefusal) return { kind: 'refused', problems: error.problems }
    throw error
  }
}

function outcomeOf(
  { path, text }: CorpusTemplate,
  { madeUp, values }: Arguments,
  problems: readonly TemplateProblem[],
): Outcome {
  const apart = (cause: string): Outcome => ({ path, cause, isApart: true })
  const read = templateLanguage.parseTemplate(text)
  if (!read.ok && read.partial === undefined) return apart('it is no JSON')
  for (const { message } of problems) {
    const own = ownFaults.find(([pattern]) => pattern.test(message))
    if (own !== undefined) return apart(own[1])
  }
  if (read.ok && madeUp.length > 0) return apart('its parameters are not given')
  const isBlank = Object.values(values).some((one) => 'value' in one && one.value === '')
  if (isBlank) return apart('an argument in its file is left blank')
  if (problems.every((one) => one.path.startsWith('parameters.'))) {
    return apart('the arguments in its file do not fit')
  }
  const [first] = problems
  return { path, cause: `${first?.path}: ${first?.message}`, isApart: false }
}

function report(line: (text: string) => void, outcomes: readonly Outcome[]): void {
  const causes = new Map<string, number>()
  for (const { cause, isApart } of outcomes) {
    const shown = isApart ? `apart: ${cause}` : `refused: ${cause.replace(/'[^']*'/g, "'…'")}`
    causes.set(shown, (causes.get(shown) ?? 0) + 1)
  }
  for (const [cause, count] of [...causes].sort(([, a], [, b]) => b - a)) line(`${count} ${cause}`)
}
