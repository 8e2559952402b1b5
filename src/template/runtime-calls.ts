/** Finds what an expression will read from running resources, beyond the first call that evaluation stops at. */

import { evaluate } from './evaluate.ts'
import type { Expression } from './expression.ts'
import type { Need } from './plan.ts'
import type { TemplateScope } from './template-scope.ts'
import { tryEvaluate } from './try-evaluate.ts'

/** Whether a function's answer comes from a running resource. */
function isRuntimeCall(expression: Expression): boolean {
  if (expression.kind !== 'call' || expression.namespace !== undefined) return false
  const name = expression.name.toLowerCase()
  return ['reference', 'references', 'target'].includes(name) || name.startsWith('list')
}

/** Functions that do not always evaluate all of their arguments. */
const lazyFunctions: ReadonlySet<string> = new Set([
  'if',
  'and',
  'or',
  'coalesce',
  'tryget',
  'lambda',
])

/**
 * The needs of the calls in an expression. With `all`, calls that evaluation may skip are included; without it,
 * only certain ones. A call whose arguments are not known yet has no need.
 */
export function collectNeeds(
  expression: Expression,
  scope: TemplateScope,
  all: boolean,
): ReadonlyMap<string, Need> {
  const needs = new Map<string, Need>()
  collect(expression, scope, all, needs)
  return needs
}

function collect(
  expression: Expression,
  scope: TemplateScope,
  all: boolean,
  needs: Map<string, Need>,
): void {
  if (expression.kind === 'member') {
    collect(expression.of, scope, all, needs)
    collect(expression.index, scope, all, needs)
    return
  }
  if (expression.kind !== 'call') return
  for (const argument of certainArguments(expression, scope, all))
    collect(argument, scope, all, needs)
  if (!isRuntimeCall(expression)) return
  const done = tryEvaluate(scope, () => evaluate(expression, scope))
  for (const [key, need] of done.notes.needs ?? []) needs.set(key, need)
}

/** For an `if` whose condition is known, the branch it takes. */
function certainArguments(
  call: Extract<Expression, { kind: 'call' }>,
  scope: TemplateScope,
  all: boolean,
): readonly Expression[] {
  const name = call.namespace === undefined ? call.name.toLowerCase() : ''
  const [first, second, third] = call.arguments
  if (name === 'if' && first !== undefined) {
    const done = tryEvaluate(scope, () => evaluate(first, scope))
    if (done.kind === 'value') {
      const taken = done.value === true ? second : third
      return taken === undefined ? [] : [taken]
    }
  }
  if (all || !lazyFunctions.has(name)) return call.arguments
  return first === undefined ? [] : [first]
}
