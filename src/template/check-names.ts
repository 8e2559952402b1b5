/** Finds undeclared names and impossible calls in expressions before anything is evaluated. */
import type { Expression } from './expression.ts'
import { checkCall } from './functions/check-call.ts'
import type { Problems } from './problems.ts'
import type { TemplatePath } from './template-path.ts'

/** Names in lower case. */
export interface DeclaredNames {
  readonly parameters: ReadonlySet<string>
  readonly variables: ReadonlySet<string>
  /** By `namespace.name`. */
  readonly functions: ReadonlySet<string>
}

export function nameChecker(
  declared: DeclaredNames,
  problems: Problems,
): (expression: Expression, path: TemplatePath | undefined) => void {
  return function check(expression, path) {
    if (expression.kind === 'member') {
      check(expression.of, path)
      check(expression.index, path)
    }
    if (expression.kind !== 'call') return
    for (const argument of expression.arguments) check(argument, path)
    const { at, namespace } = expression
    const name = expression.name.toLowerCase()
    if (namespace !== undefined) {
      const whole = `${namespace.toLowerCase()}.${name}`
      if (declared.functions.has(whole)) return
      problems.add(path, `the function '${namespace}.${expression.name}' is not declared`, at)
      return
    }
    const checked = checkCall(expression)
    if (!checked.ok) {
      problems.add(path, checked.message, at)
      return
    }
    const [first] = expression.arguments
    if (first?.kind !== 'string' || expression.arguments.length !== 1) return
    const wanted = first.value.toLowerCase()
    const what = name === 'parameters' ? 'parameter' : name === 'variables' ? 'variable' : undefined
    if (what === undefined) return
    const known = what === 'parameter' ? declared.parameters : declared.variables
    if (!known.has(wanted))
      problems.add(path, `the ${what} '${first.value}' is not declared`, first.at)
  }
}
