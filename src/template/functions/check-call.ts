/** Finds what is wrong with a call before evaluation: an unknown function, too few or too many arguments. */
import type { Expression } from '../expression.ts'
import { functionNamed } from './catalogue.ts'
import type { FunctionDescription, TemplateFunction } from './define.ts'

type CallNode = Extract<Expression, { kind: 'call' }>

type CheckedCall =
  | { readonly ok: true; readonly called: TemplateFunction }
  | { readonly ok: false; readonly message: string }

/** Checks a call without a namespace. Functions with a namespace are the template's own. */
export function checkCall(node: CallNode): CheckedCall {
  const called = functionNamed(node.name)
  if (called === undefined) return { ok: false, message: `there is no function '${node.name}'` }
  const count = node.arguments.length
  const { least, most } = called
  if (count >= least && (most === undefined || count <= most)) return { ok: true, called }
  return { ok: false, message: `${node.name}() takes ${wanted(called)}, not ${count}` }
}

function wanted({ least, most }: FunctionDescription): string {
  if (most === undefined) return `at least ${counted(least)}`
  return least === most ? counted(least) : `${least} to ${counted(most)}`
}

/** A number with its noun, for messages. */
export function counted(count: number, what = 'argument'): string {
  if (count === 0) return `no ${what}s`
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
