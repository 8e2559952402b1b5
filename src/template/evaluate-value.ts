/**
 * Evaluates a value of a template: every expression in it, the loops of its properties, and which of its parts hold
 * secure values. After a failure it continues, so that all failures are reported at once.
 */

import type { Compiled, CompiledCopy, CompiledExpression } from './compile.ts'
import { templateLimits } from './document.ts'
import { evaluate } from './evaluate.ts'
import { type Budget, ReportedError } from './expansion.ts'
import type { Json, Need } from './plan.ts'
import type { Problems } from './problems.ts'
import { collectNeeds } from './runtime-calls.ts'
import type { TemplatePath } from './template-path.ts'
import type { TemplateScope } from './template-scope.ts'
import { tryEvaluate } from './try-evaluate.ts'

/** `all` includes needs that may turn out unnecessary. It is used for the order of the graph. */
export type NeedsWanted = 'none' | 'certain' | 'all'

export interface Wanted {
  readonly problems: Problems
  readonly budget: Budget
  readonly needs: NeedsWanted
}

/** A position inside the value; hardly any is ever written as a path. */
interface Spot {
  /** At the outermost a path, below it the name of a member or the index of an element. */
  readonly name: string | number
  readonly outer: Spot | undefined
}

/** A name that a path cannot hold ends it: everything below counts as secure. */
interface SpotPath {
  readonly path: string
  readonly isCut: boolean
}

const secureFailure = 'the expression fails; why is not shown, since it uses a secure value'

const cutting = /[.[\]]|^$/

function pathOf({ name, outer }: Spot): SpotPath {
  if (outer === undefined) return { path: String(name), isCut: false }
  const { path, isCut } = pathOf(outer)
  if (isCut) return { path, isCut }
  if (typeof name === 'number') return { path: `${path}[${name}]`, isCut }
  if (cutting.test(name)) return { path, isCut: true }
  return { path: path === '' ? name : `${path}.${name}`, isCut }
}

/** Of a value that has no place in the result: the empty name ends its path. */
const wholeSpot: Spot = { name: '', outer: undefined }

const noPaths: ReadonlySet<string> = new Set()
const noNeeds: ReadonlyMap<string, Need> = new Map()

export class ValueEvaluation {
  /** A secure value was used. */
  isSecure = false
  /** An answer must be fetched first. */
  isWaiting = false
  /** There is no value; the problem was reported. */
  isFailed = false
  // Made where there is one: there are several evaluations for each resource, and hardly any has either.
  #securePaths: Set<string> | undefined
  #needs: Map<string, Need> | undefined
  readonly #wanted: Wanted

  constructor(wanted: Wanted) {
    this.#wanted = wanted
  }

  get securePaths(): ReadonlySet<string> {
    return this.#securePaths ?? noPaths
  }

  get needs(): ReadonlyMap<string, Need> {
    return this.#needs ?? noNeeds
  }

  hide(path: string): void {
    this.#securePaths ??= new Set()
    this.#securePaths.add(path)
  }

  #need(needs: ReadonlyMap<string, Need> | undefined): void {
    if (needs === undefined || needs.size === 0) return
    this.#needs ??= new Map()
    for (const [key, need] of needs) this.#needs.set(key, need)
  }

  /** The value; null when it failed or must wait. `name` is the position in the result. */
  of(compiled: Compiled, scope: TemplateScope, name = ''): Json {
    return this.#of(compiled, scope, { name, outer: undefined })
  }

  #of(compiled: Compiled, scope: TemplateScope, spot: Spot): Json {
    // The exhausted budget has been reported.
    if (this.#wanted.budget.isSpent) {
      this.isFailed = true
      return null
    }
    switch (compiled.kind) {
      case 'static':
        this.#spendStatic(compiled.value)
        return compiled.value
      case 'broken':
        this.isFailed = true
        return null
      case 'expression':
        return this.#expression(compiled, scope, spot)
      case 'array':
        return compiled.items.map((one, at) => this.#of(one, scope, { name: at, outer: spot }))
      case 'object': {
        // Without a prototype: `__proto__` is a name like any other.
        const made: Record<string, Json> = Object.create(null)
        for (const { name, value, path } of compiled.members) {
          const key = typeof name === 'string' ? name : this.#name(name, scope, spot)
          if (key === undefined) continue
          this.#spend(key, path)
          made[key] = this.#of(value, scope, { name: key, outer: spot })
        }
        for (const copy of compiled.copies) {
          const name = this.#of(copy.name, scope, spot)
          if (typeof name !== 'string') {
            if (!this.isFailed) this.fail(copy.path, "'name' has to be a string")
            continue
          }
          made[name] = this.#copy(copy, name, scope, { name, outer: spot })
        }
        return made
      }
      default:
        return compiled satisfies never
    }
  }

  /** Names of properties may be expressions too. */
  #name(compiled: CompiledExpression, scope: TemplateScope, spot: Spot): string | undefined {
    const before = this.isFailed || this.isWaiting
    const name = this.#expression(compiled, scope, spot)
    if (typeof name === 'string') return name
    if (before || !(this.isFailed || this.isWaiting)) {
      this.fail(compiled.path, "a property's name has to be a string")
    }
    return undefined
  }

  #copy(copy: CompiledCopy, name: string, scope: TemplateScope, spot: Spot): Json {
    const count = this.count(copy.count, scope, copy.path)
    const made: Json[] = []
    for (let index = 0; index < count && this.#mayGoOn(copy.path); index += 1) {
      const inside = scope.with({ loop: { name: name.toLowerCase(), index } })
      made.push(this.#of(copy.input, inside, { name: index, outer: spot }))
    }
    return made
  }

  /** The array that a loop makes: of a variable (by its name) or of an output (unnamed). */
  copies(
    { count, input, path }: Pick<CompiledCopy, 'count' | 'input' | 'path'>,
    loop: { readonly name: string; readonly isMain: boolean },
    scope: TemplateScope,
  ): Json {
    const made: Json[] = []
    const times = this.count(count, scope, path)
    for (let index = 0; index < times && this.#mayGoOn(path); index += 1) {
      made.push(this.of(input, scope.with({ loop: { ...loop, index } }), `[${index}]`))
    }
    return made
  }

  /** An iteration counts as output, so that nested loops end even when they fail. */
  #mayGoOn(path: TemplatePath): boolean {
    this.#spend(null, path)
    return !this.#wanted.budget.isSpent
  }

  /** The number of iterations; 0 when the count is wrong. The count may not read running resources. */
  count(compiled: Compiled, scope: TemplateScope, path: TemplatePath): number {
    const before = this.isFailed
    const early = scope.with({ late: 'in the count of a loop' })
    const count = this.#of(compiled, early, { name: '', outer: wholeSpot })
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0) {
      if (count <= templateLimits.copies) return count
    } else if (this.isFailed && !before) return 0
    this.fail(path, `a loop runs from 0 to ${templateLimits.copies} times`)
    return 0
  }

  fail(path: TemplatePath | undefined, message: string, at?: number): void {
    this.isFailed = true
    this.#wanted.problems.add(path, message, at)
  }

  #expression({ expression, path }: CompiledExpression, scope: TemplateScope, spot: Spot): Json {
    const done = tryEvaluate(scope, () => evaluate(expression, scope))
    if (done.notes.isSecure) {
      this.isSecure = true
      this.hide(pathOf(spot).path)
    }
    this.#need(done.notes.needs)
    if (done.kind === 'value') {
      // A value that is too large or too deep is dropped, because further code would have to walk it.
      return this.#spend(done.value, path) ? done.value : null
    }
    if (done.kind === 'failed') {
      this.isFailed = true
      this.#wanted.budget.spendOnFailure()
      const { error } = done
      if (error instanceof ReportedError) return null
      // The message could quote the value on which it failed.
      const message = done.notes.isSecure ? secureFailure : error.message
      this.#wanted.problems.add(path, message, error.at)
      return null
    }
    this.isWaiting = true
    if (this.#wanted.needs !== 'none') {
      this.#need(collectNeeds(expression, scope, this.#wanted.needs === 'all'))
    }
    return null
  }

  /** Whether the budget was sufficient. */
  #spend(value: Json, path: TemplatePath | undefined): boolean {
    return this.#isEnough(this.#wanted.budget.spend(value), path)
  }

  #spendStatic(value: Json): boolean {
    return this.#isEnough(this.#wanted.budget.spendStatic(value), undefined)
  }

  #isEnough(problem: ReturnType<Budget['spend']>, path: TemplatePath | undefined): boolean {
    if (problem === 'enough') return true
    this.isFailed = true
    if (problem !== 'reported') this.#wanted.problems.add(path, problem.message)
    return false
  }

  /** Merges the notes of the evaluation of a part of this value. */
  absorb(other: ValueEvaluation): void {
    this.isFailed ||= other.isFailed
    this.isWaiting ||= other.isWaiting
    this.#need(other.needs)
  }
}
