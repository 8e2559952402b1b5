/**
 * Binds arguments to parameters, and makes lazy values of parameters and variables. Every mismatch is reported,
 * without any value.
 */

import { checkValue } from './check-value.ts'
import type { ParameterSection, VariableSection } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import { type Expansion, type LazyValue, lazyValue } from './expansion.ts'
import type { Json, Plan } from './plan.ts'
import type { ParameterArgument } from './template.ts'
import { childPath } from './template-path.ts'
import { TemplateScope } from './template-scope.ts'
import { resolved, shownTypes } from './types.ts'

/** By names in lower case. An argument without a parameter, or one given twice, is a problem. */
export function bindParameters(
  expansion: Expansion,
  given: Readonly<Record<string, ParameterArgument>>,
): ReadonlyMap<string, LazyValue> {
  const { document, problems } = expansion
  const section = childPath(undefined, 'parameters')
  const arguments_ = new Map<string, ParameterArgument>()
  for (const [name, argument] of Object.entries(given)) {
    const lower = name.toLowerCase()
    if (arguments_.has(lower))
      problems.add(childPath(section, name), 'the parameter is given twice')
    if (!document.parameters.has(lower)) {
      problems.add(childPath(section, name), 'the template declares no parameter of this name')
    }
    arguments_.set(lower, argument)
  }
  return new Map(
    [...document.parameters].map(([lower, parameter]) => [
      lower,
      lazyValue(expansion, `the parameter '${parameter.name}'`, () =>
        bind(expansion, parameter, arguments_.get(lower)),
      ),
    ]),
  )
}

function bind(
  expansion: Expansion,
  parameter: ParameterSection,
  argument: ParameterArgument | undefined,
): { readonly value: Json; readonly secure: boolean } | undefined {
  const { problems, document } = expansion
  const { schema, secure, defaultValue, path } = parameter
  if (argument !== undefined && !('value' in argument)) {
    const reason = secure
      ? 'was not fetched'
      : 'only parameters of a secure type take theirs from there'
    problems.add(path, `its value is in a vault: ${reason}`)
    return undefined
  }
  const nullable = resolved(schema, document.definitions)?.nullable === true
  const isGiven = argument !== undefined && (argument.value !== null || defaultValue === undefined)
  if (!isGiven && defaultValue === undefined) {
    if (nullable) return { value: null, secure }
    problems.add(path, `the parameter '${parameter.name}' is required, and has no default value`)
    return undefined
  }
  const found = isGiven ? { value: argument.value, secure } : byDefault(expansion, parameter)
  if (found === undefined) return undefined
  let fits = true
  const { allowed: _any, ...unlisted } = schema
  const isAllowed = !isGiven && parameter.allowsDefault
  checkValue(isAllowed ? unlisted : schema, found.value, document.definitions, (inner, message) => {
    fits = false
    problems.add(path, inner === '' ? message : `${inner}: ${message}`)
  })
  return fits ? found : undefined
}

function byDefault(
  expansion: Expansion,
  { defaultValue, secure }: ParameterSection,
): { readonly value: Json; readonly secure: boolean } | undefined {
  if (defaultValue === undefined) return undefined
  const { problems, valuesBudget: budget, defaultsContext: context } = expansion
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const late = 'in a default value'
  const noVariables = 'in a default value'
  const scope = new TemplateScope({ expansion, context, loops: [], late, noVariables })
  const value = run.of(defaultValue, scope)
  return run.isFailed ? undefined : { value, secure: secure || run.isSecure }
}

export function bindVariables(expansion: Expansion): ReadonlyMap<string, LazyValue> {
  const { document } = expansion
  return new Map(
    [...document.variables].map(([lower, variable]) => [
      lower,
      lazyValue(expansion, `the variable '${variable.name}'`, () =>
        variableOf(expansion, variable),
      ),
    ]),
  )
}

function variableOf(
  expansion: Expansion,
  { value, path }: VariableSection,
): { readonly value: Json; readonly secure: boolean } | undefined {
  const { problems, valuesBudget: budget, context } = expansion
  const run = new ValueEvaluation({ problems, budget, needs: 'none' })
  const scope = new TemplateScope({ expansion, context, loops: [], late: 'in a variable' })
  const made =
    value.kind === 'value'
      ? run.of(value.value, scope)
      : run.copies(
          value.copy,
          { name: String(nameOf(value.copy.name)).toLowerCase(), isMain: false },
          scope,
        )
  if (run.isWaiting) run.fail(path, 'a variable cannot wait for a running resource')
  return run.isFailed ? undefined : { value: made, secure: run.isSecure }
}

function nameOf(name: { readonly kind: string; readonly value?: unknown }): unknown {
  return name.kind === 'static' ? name.value : ''
}

/** The bound parameters in the form to be shown: without values that are secure or made of secure ones. */
export function shownParameters(expansion: Expansion): Plan['parameters'] {
  const { document, parameters } = expansion
  const shown = [...document.parameters].map(([lower, { name, schema }]) => {
    const type = shownTypes[resolved(schema, document.definitions)?.type ?? 'any']
    const { value, secure } = parameters.get(lower)?.read() ?? { value: null, secure: true }
    return [name, { type, ...(secure ? {} : { value }) }] as const
  })
  return Object.fromEntries(shown)
}
