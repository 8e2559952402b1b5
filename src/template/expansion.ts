/** What all parts of one expansion share: the document, the scope, the problems, the budget. */

import { isLongInteger, longIntegersMax } from '#kernel/exact-json.ts'
import { objectCharacters } from '#kernel/json-weight.ts'
import { holeCharacters, holesBetween, placeAfter } from '#kernel/named-members.ts'
import { type TemplateDocument, templateLimits } from './document.ts'
import type { EvaluationQuota } from './evaluation-quota.ts'
import { jsonLimits } from './json.ts'
import type { ExpansionContext, Json, JsonObject, Need } from './plan.ts'
import type { Problems } from './problems.ts'
import type { ResourceIndex } from './resource-index.ts'
import { EvaluationError } from './scope.ts'

/** Notes of one evaluation. */
export interface EvaluationNotes {
  /** A secure value was returned. */
  isSecure: boolean
  /** Undefined while there is none: most expressions need nothing. */
  needs: Map<string, Need> | undefined
}

interface ComputedValue {
  readonly value: Json
  readonly secure: boolean
}

/** A parameter or a variable, evaluated when it is first read. */
export interface LazyValue {
  /** Throws `EvaluationError` when it has no value. */
  read(): ComputedValue
  /** Undefined when it has no value; the problem was reported. */
  find(): ComputedValue | undefined
}

export interface Expansion {
  readonly document: TemplateDocument
  readonly languageVersion: '1.0' | '2.0'
  /** Without clock and new ids: those are for default values of parameters. */
  readonly context: ExpansionContext
  readonly defaultsContext: ExpansionContext
  readonly problems: Problems
  /** The budget of the bodies and the values they are made of. */
  readonly budget: Budget
  readonly valuesBudget: Budget
  /** The budget of all evaluations until the plan is made. */
  readonly quota: EvaluationQuota
  /** By names in lower case. */
  readonly parameters: ReadonlyMap<string, LazyValue>
  readonly variables: ReadonlyMap<string, LazyValue>
  /** The answer of `deployment()`. */
  readonly deployment: JsonObject
  /** Empty until the resources have names. */
  resources: ResourceIndex
  /** Not everything that is declared could be read or named, so a missing name need not be a problem. */
  isPartial: boolean
  notes: EvaluationNotes
  /** The names of the values that are being computed, the outermost first. Used to find cycles. */
  readonly evaluating: string[]
}

/** Its problem was reported where it arose. A caller that catches it reports nothing more. */
export class ReportedError extends EvaluationError {
  constructor() {
    super('a value that this needs has a problem of its own')
    this.name = 'ReportedError'
  }
}

const failureCharacters = 2_000

/** So a template makes twice as many of them as a body may have. */
const longIntegerCharacters = Math.floor(templateLimits.characters / (2 * longIntegersMax))

const staticSizes = new WeakMap<object, number>()

/** Limits what one template may expand to: a small template can describe a very large plan. */
export class Budget {
  readonly #most: number
  #characters: number
  #isReported = false

  constructor(characters: number = templateLimits.characters) {
    this.#most = characters
    this.#characters = characters
  }

  get spent(): number {
    return this.#most - this.#characters
  }

  /**
   * A failure produces nothing but takes time, so it counts as much as a page of text. Loops of failures end soon.
   */
  spendOnFailure(): void {
    this.#characters -= failureCharacters
    if (this.#characters < 0) this.#isReported = true
  }

  get isSpent(): boolean {
    return this.#characters < 0
  }

  /** Takes the size of the value from the budget. Only the first overrun carries a message. */
  spend(value: Json): 'enough' | 'reported' | { readonly message: string } {
    return this.#take(sizeOf(value, this.#characters + 1))
  }

  /** The same for a value of the template itself, which is counted once for all resources of a loop. */
  spendStatic(value: Json): 'enough' | 'reported' | { readonly message: string } {
    if (typeof value !== 'object' || value === null) return this.spend(value)
    let size = staticSizes.get(value)
    if (size === undefined) {
      size = sizeOf(value, this.#most)
      // Else the count was not finished.
      if (size <= this.#most) staticSizes.set(value, size)
    }
    return this.#take(size)
  }

  #take(size: number): 'enough' | 'reported' | { readonly message: string } {
    if (size === Number.POSITIVE_INFINITY) {
      return { message: `a value nests at most ${jsonLimits.depth} deep` }
    }
    this.#characters -= size
    if (this.#characters >= 0) return 'enough'
    if (this.#isReported) return 'reported'
    this.#isReported = true
    return {
      message: `the template expands to more than ${templateLimits.characters} characters`,
    }
  }
}

/**
 * A value that is computed at most once, when it is first read. `what` names it in the message about a cycle.
 * `compute` returns undefined when it failed, and has reported its problems by then.
 */
export function lazyValue(
  expansion: Expansion,
  what: string,
  compute: () => ComputedValue | undefined,
): LazyValue {
  let known: ComputedValue | undefined
  let isFailed = false
  const find = (): ComputedValue | undefined => {
    if (known !== undefined || isFailed) return known
    const { evaluating: reading } = expansion
    reading.push(what)
    try {
      known = compute()
    } finally {
      reading.pop()
    }
    isFailed = known === undefined
    return known
  }
  return {
    find,
    read() {
      const { evaluating: reading } = expansion
      const from = reading.indexOf(what)
      if (from >= 0) {
        const circle = [...reading.slice(from), what].join(' → ')
        throw new EvaluationError(`${what} is made of itself: ${circle}`)
      }
      const found = find()
      if (found === undefined) throw new ReportedError()
      return found
    },
  }
}

/**
 * The approximate number of characters of the value as JSON; counting stops at `most`. Infinite when the value is
 * nested too deeply.
 */
export function sizeOf(value: Json, most: number, depth = 0): number {
  if (typeof value === 'string') return value.length + 3
  if (isLongInteger(value)) return longIntegerCharacters
  if (typeof value !== 'object' || value === null) return 6
  if (depth >= jsonLimits.depth) return Number.POSITIVE_INFINITY
  let size = objectCharacters
  if (Array.isArray(value)) {
    for (const one of value as readonly Json[]) {
      size += sizeOf(one, most - size, depth + 1)
      if (size > most) return size
    }
    return size
  }
  const object = value as JsonObject
  let place = -1
  // Every value is counted several times, so no list is made of the members. JSON has no inherited ones.
  for (const name in object) {
    size += name.length + 3
    const next = placeAfter(place, name)
    size += holesBetween(place, next) * holeCharacters
    place = next
    if (size > most) return size
    size += sizeOf(object[name] ?? null, most - size, depth + 1)
    if (size > most) return size
  }
  return size
}
