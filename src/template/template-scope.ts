/** The scope of expressions in a template: parameters, variables, loops, resources. */

import { exactJsonText } from '#kernel/exact-json.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { profileVersion } from './api-profile.ts'
import { checkValue } from './check-value.ts'
import { type FunctionSection, templateLimits } from './document.ts'
import { ValueEvaluation } from './evaluate-value.ts'
import type { EvaluationQuota } from './evaluation-quota.ts'
import { type Budget, type Expansion, ReportedError, sizeOf } from './expansion.ts'
import { isObject, objectOf } from './fields.ts'
import { markOpen } from './open-answers.ts'
import type { ExpansionContext, Json, Need, Runtime, Tainted } from './plan.ts'
import { Problems, pathsOnly } from './problems.ts'
import type { Known } from './resource-index.ts'
import { EvaluationError, type Scope, type UserFunction, unanswered } from './scope.ts'

export interface Loop {
  /** In lower case. */
  readonly name: string
  readonly index: number
  /** The loop that `copyIndex()` without a name means: the one of a resource or an output. */
  readonly isMain?: boolean
}

/** A value that a user function was called with. */
interface Given {
  readonly value: Json
}

interface Frame {
  readonly expansion: Expansion
  readonly context: ExpansionContext
  /** The innermost first. */
  readonly loops: readonly Loop[]
  /** Where answers come from, or why none may be asked for: `in the name of a resource`. */
  readonly late: Runtime | string
  /** What evaluations may cost here; else it counts towards the whole expansion. */
  readonly quota?: EvaluationQuota | undefined
  /** What user functions may make here; else it counts towards the values of the whole expansion. */
  readonly valuesBudget?: Budget | undefined
  /** Why there are no variables, where there are none. */
  readonly noVariables?: string | undefined
  /** The resource whose body is made. */
  readonly target?: Pick<Known, 'id' | 'apiVersion'> | undefined
  /** Inside a user function: its own parameters, and how deep calls are nested. */
  readonly inside?:
    | { readonly given: ReadonlyMap<string, Given>; readonly depth: number }
    | undefined
}

const callsMax = 32

export class TemplateScope implements Scope {
  readonly #frame: Frame

  constructor(frame: Frame) {
    this.#frame = frame
  }

  get expansion(): Expansion {
    return this.#frame.expansion
  }

  get context(): ExpansionContext {
    return this.#frame.context
  }

  get quota(): EvaluationQuota {
    return this.#frame.quota ?? this.#frame.expansion.quota
  }

  get loops(): readonly Loop[] {
    return this.#frame.loops
  }

  /** The same place inside a loop, or with other answers. */
  with(change: {
    readonly loop?: Loop
    readonly late?: Runtime | string
    readonly quota?: EvaluationQuota
    readonly valuesBudget?: Budget
    readonly target?: NonNullable<Frame['target']>
  }): TemplateScope {
    const { loop } = change
    const frame = this.#frame
    const { expansion, context, loops, noVariables, inside } = frame
    // Several times for each resource: members by name are copied faster than a list of them.
    return new TemplateScope({
      expansion,
      context,
      loops: loop === undefined ? loops : [loop, ...loops],
      late: change.late ?? frame.late,
      quota: change.quota ?? frame.quota,
      valuesBudget: change.valuesBudget ?? frame.valuesBudget,
      noVariables,
      target: change.target ?? frame.target,
      inside,
    })
  }

  parameter(name: string): Json {
    const lower = name.toLowerCase()
    const { inside, expansion } = this.#frame
    if (inside !== undefined) {
      const given = inside.given.get(lower)
      if (given === undefined) throw new EvaluationError(`the function has no parameter '${name}'`)
      return given.value
    }
    const cell = expansion.parameters.get(lower)
    if (cell === undefined) throw this.#absent(`the parameter '${name}' is not declared`)
    return this.#noted(cell.read())
  }

  variable(name: string): Json {
    const { inside, noVariables, expansion } = this.#frame
    const reason = inside === undefined ? noVariables : 'in a user function'
    if (reason !== undefined) throw new EvaluationError(`there are no variables ${reason}`)
    const cell = expansion.variables.get(name.toLowerCase())
    if (cell === undefined) throw this.#absent(`the variable '${name}' is not declared`)
    return this.#noted(cell.read())
  }

  userFunction(namespace: string, name: string): UserFunction | undefined {
    const { inside, expansion } = this.#frame
    const section = expansion.document.functions.get(`${namespace}.${name}`.toLowerCase())
    if (section === undefined) {
      if (expansion.isPartial) throw new ReportedError()
      return undefined
    }
    if (inside !== undefined && expansion.languageVersion === '1.0') {
      throw new EvaluationError('a user function calls others only with languageVersion 2.0')
    }
    const parameters = section.parameters.map((one) => one.name)
    return { parameters, call: (values) => this.#call(section, values) }
  }

  copyIndex(loop: string | undefined): number {
    const wanted = loop?.toLowerCase()
    const found = this.#frame.loops.find((one) =>
      wanted === undefined ? one.isMain === true : one.name === wanted,
    )
    if (found !== undefined) return found.index
    const which = loop === undefined ? 'without a name' : `'${loop}'`
    throw new EvaluationError(`there is no copy loop ${which} here`)
  }

  deployment(): Json {
    return this.expansion.deployment
  }

  reference(target: string, apiVersion: string | undefined, full: boolean): Json {
    const runtime = this.#runtime('reference()')
    const found = this.#target(target, apiVersion !== undefined)
    const whole = this.#ask(this.#needOf(found, apiVersion), runtime)
    return full ? whole : propertiesOf(whole)
  }

  target(full: boolean): Json {
    const runtime = this.#runtime('target()')
    const { target } = this.#frame
    if (target === undefined) throw new EvaluationError('target() is for properties of resources')
    const { id, apiVersion } = target
    const key = JSON.stringify(['target', id.toLowerCase(), apiVersion])
    const whole = this.#ask({ kind: 'reference', key, id, apiVersion, orNull: true }, runtime)
    return full ? whole : propertiesOf(whole)
  }

  references(symbolicName: string, full: boolean): Json {
    const runtime = this.#runtime('references()')
    const found = this.expansion.resources.find(symbolicName)
    if (this.expansion.languageVersion === '1.0' || found?.kind !== 'loop') {
      throw this.#absent(`'${symbolicName}' is not the symbolic name of a copy loop`)
    }
    const needs = found.all.map((known) => this.#needOf({ id: known.id, known }, undefined))
    for (const need of needs) this.#note(need, runtime)
    return needs.map((need) => {
      const whole = this.#ask(need, runtime)
      return full ? whole : propertiesOf(whole)
    })
  }

  resourceInfo(symbolicName: string): Json {
    const found = this.expansion.resources.find(symbolicName)
    if (found?.kind !== 'one') {
      throw this.#absent(`the resource '${symbolicName}' is not known here`)
    }
    const { id, name, type, apiVersion } = found.one
    return objectOf([
      ['id', id],
      ['name', name],
      ['type', type],
      ['apiVersion', apiVersion],
    ])
  }

  list(action: string, target: string, apiVersion: string, body: Json | undefined): Json {
    const runtime = this.#runtime(`${action}()`)
    const { id, known } = this.#target(target, true)
    const key = exactJsonText(['list', id.toLowerCase(), action.toLowerCase(), apiVersion, body])
    const need: Need = {
      kind: 'list',
      key,
      id,
      action,
      apiVersion,
      ...(body === undefined ? {} : { body }),
      ...(known?.nodeKey === undefined ? {} : { node: known.nodeKey }),
    }
    return this.#ask(need, runtime)
  }

  #runtime(what: string): Runtime {
    const { late, inside } = this.#frame
    if (inside !== undefined) throw new EvaluationError(`${what} cannot be used in a user function`)
    if (typeof late === 'string') throw new EvaluationError(`${what} cannot be used ${late}`)
    return late
  }

  /** A missing name need not be a problem when not everything could be read. */
  #absent(message: string): EvaluationError {
    return this.expansion.isPartial ? new ReportedError() : new EvaluationError(message)
  }

  /** `known` is absent for an id outside of this template. */
  #target(target: string, hasVersion: boolean): Target {
    const found = this.expansion.resources.find(target)
    if (found?.kind === 'one') return { id: found.one.id, known: found.one }
    if (found?.kind === 'broken') throw new ReportedError()
    if (found?.kind === 'loop') {
      throw new EvaluationError(`'${target}' is a copy loop; name one of its resources`)
    }
    if (found?.kind === 'several') {
      throw new EvaluationError(`several resources are named '${target}'; give the id`)
    }
    if (target.startsWith('/')) return { id: target, known: undefined }
    // With a version it need not be in the template: it is where the deployment goes.
    if (hasVersion && typeAndNames.test(target)) {
      const { resourceGroup, subscription } = this.expansion.context
      const base = (resourceGroup ?? subscription)?.['id'] ?? ''
      return { id: `${String(base)}/providers/${target}`, known: undefined }
    }
    throw this.#absent(`the resource '${target}' is not defined in the template`)
  }

  #needOf({ id, known }: Target, given: string | undefined): Need {
    const other = known === undefined ? this.#versionByProfile(id) : known.apiVersion
    const apiVersion = given ?? (known?.nodeKey === undefined ? other : undefined)
    if (known === undefined && apiVersion === undefined) {
      throw new EvaluationError(`reference() to '${id}' needs an apiVersion`)
    }
    return {
      kind: 'reference',
      key: JSON.stringify(['reference', id.toLowerCase(), apiVersion]),
      id,
      ...(apiVersion === undefined ? {} : { apiVersion }),
      ...(known?.nodeKey === undefined ? {} : { node: known.nodeKey }),
      ...(known?.orNull === undefined ? {} : { orNull: known.orNull }),
    }
  }

  #versionByProfile(id: string): string | undefined {
    const { context, document } = this.expansion
    const last = parseResourceId(id)?.segments.at(-1)
    if (document.apiProfile === undefined || last?.namespace === undefined) return undefined
    const type = [last.namespace, ...last.types].join('/')
    return profileVersion(context, document.apiProfile, type)
  }

  #note(need: Need, runtime: Runtime): void {
    if (runtime.answer(need.key) === undefined) this.#noteNeed(need)
  }

  #ask(need: Need, runtime: Runtime): Json {
    const answer = runtime.answer(need.key)
    if (answer !== undefined) return this.#noted(answer)
    this.#noteNeed(need)
    throw unanswered
  }

  #noteNeed(need: Need): void {
    const { notes } = this.expansion
    notes.needs ??= new Map()
    notes.needs.set(need.key, need)
  }

  #noted({ value, secure, open }: Tainted): Json {
    if (secure) this.expansion.notes.isSecure = true
    if (open !== undefined) markOpen(value, { id: open, path: '' })
    return value
  }

  #call(section: FunctionSection, values: readonly Json[]): Json {
    const { expansion, context, inside } = this.#frame
    const { quota } = this
    const budget = this.#frame.valuesBudget ?? expansion.valuesBudget
    const depth = (inside?.depth ?? 0) + 1
    if (depth > callsMax)
      throw new EvaluationError(`user functions call each other ${callsMax} deep`)
    const { name, parameters, output } = section
    const { definitions } = expansion.document
    quota.spend(section.weight)
    for (const value of values) quota.spend(sizeOf(value, templateLimits.characters) >>> 4)
    const given = new Map<string, Given>()
    for (const [at, parameter] of parameters.entries()) {
      const value = values[at] ?? null
      checkValue(parameter.schema, value, definitions, (path, message) => {
        throw new EvaluationError(`${name}: the argument '${parameter.name}${path}': ${message}`)
      })
      given.set(parameter.name.toLowerCase(), { value })
    }
    const late = 'in a user function'
    const frame: Frame = {
      expansion,
      context,
      loops: [],
      late,
      quota,
      valuesBudget: budget,
      inside: { given, depth },
    }
    // The problems are reported at the call: the same function may work with other arguments.
    const problems = new Problems(pathsOnly)
    const run = new ValueEvaluation({ problems, budget, needs: 'none' })
    const value = run.of(output.value, new TemplateScope(frame))
    const [problem] = problems.list
    if (problem !== undefined) throw new EvaluationError(`${name}: ${problem.message}`)
    if (run.isFailed) throw new ReportedError()
    checkValue(output.schema, value, definitions, (path, message) => {
      throw new EvaluationError(`${name}: its output${path === '' ? '' : ` (${path})`}: ${message}`)
    })
    return value
  }
}

interface Target {
  readonly id: string
  readonly known: Known | undefined
}

/** `Namespace.Of/type/name/type/name` */
const typeAndNames = /^[^/]+\.[^/]+(?:\/[^/]+\/[^/]+)+$/

/** For the flat answers of some versions: everything except the envelope. */
function propertiesOf(whole: Json): Json {
  if (!isObject(whole)) return whole
  if (Object.hasOwn(whole, 'properties')) return whole['properties'] ?? null
  const envelope = new Set(['id', 'name', 'type'])
  return objectOf(Object.entries(whole).filter(([name]) => !envelope.has(name)))
}
