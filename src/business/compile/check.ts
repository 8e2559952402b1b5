/**
 * Checks the nodes of a filter or an order against an entity: every name becomes a column, every constant takes the
 * form of the column it is compared with, and what does not fit is refused with its place. It writes no SQL.
 */

import type {
  BinaryNode,
  CallNode,
  FilterNode,
  InNode,
  LambdaNode,
  LiteralNode,
  PathNode,
} from '#kernel/filter/nodes.ts'
import type { OrderTerm } from '#kernel/filter/order-by.ts'
import { printFilter } from '#kernel/filter/print.ts'
import { filterProblem, quoted } from '#kernel/filter/problem.ts'
import {
  type ColumnIs,
  type Field,
  fieldsIn,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { refuse } from '../errors.ts'
import { type Constant, constantFor, ownConstant, spellingOf } from './constants.ts'
import type {
  ArithmeticOperator,
  CompareOperator,
  Expression,
  Kind,
  OrderExpression,
  Source,
} from './expression.ts'
import { filterFunctions } from './functions.ts'
import { asReal, constant, isNumeric, isWhole, type Place } from './typing.ts'

/** How much one filter may ask for beyond what the parser bounds. */
interface CheckLimits {
  /** Operators of arithmetic: with the bounds of constants they keep every result within a double. */
  readonly arithmeticMax: number
  /** Steps of a path through navigations. */
  readonly stepsMax: number
}

const checkLimits: CheckLimits = Object.freeze({ arithmeticMax: 8, stepsMax: 6 })

/** The option the text came from, for messages. */
type OptionName = '$filter' | '$orderby'

/** The rows a request asks for, as the source that filter and order begin with. */
export function rootSource(entity: Source['entity'], version: Version): Source {
  return { number: 0, entity, version }
}

/** The filter as a condition on rows of `source`. Throws an `ApiError` for what does not fit. */
export function checkFilter(node: FilterNode, source: Source, model: Model): Expression {
  return new Checker('$filter', source, model).condition(node)
}

/** The terms of an order. Only fields, also of the one row a navigation leads to. */
export function checkOrder(
  terms: readonly OrderTerm[],
  source: Source,
  model: Model,
): readonly OrderExpression[] {
  const checker = new Checker('$orderby', source, model)
  return terms.map(({ path, direction }) => ({
    expression: checker.path(path),
    descending: direction === 'desc',
  }))
}

/** Does the navigation lead to a list, in this version? In v1.0 every one does (business facts 3). */
export function leadsToList(navigation: Navigation, version: Version): boolean {
  return navigation.many || version === 'v1.0'
}

/** Names shown in one message. */
const listedMax = 30

interface Variable {
  readonly name: string
  readonly source: Source
}

class Checker {
  readonly #option: OptionName
  readonly #root: Source
  readonly #model: Model
  #variables: readonly Variable[] = []
  #sources = 1
  #arithmetic = 0

  constructor(option: OptionName, root: Source, model: Model) {
    this.#option = option
    this.#root = root
    this.#model = model
  }

  #refuse(position: number, expected: string, found: string): never {
    const { message } = filterProblem(position, expected, found)
    throw refuse.Application_FilterErrorException({ option: this.#option, reason: `${message}.` })
  }

  condition(node: FilterNode): Expression {
    const expression = this.#expression(node)
    if (expression.kind === 'boolean' || expression.kind === 'null') return expression
    return this.#refuse(
      node.position,
      'a condition (a comparison, or parentheses around one)',
      `the ${expression.kind} ${quoted(printFilter(node))}`,
    )
  }

  #expression(node: FilterNode): Expression {
    switch (node.kind) {
      case 'literal':
        return this.#own(node)
      case 'path':
        return this.path(node)
      case 'unary': {
        if (node.operator === 'not') {
          const operand = this.condition(node.operand)
          return { form: 'not', kind: 'boolean', nullable: operand.nullable, operand }
        }
        const operand = this.#number(node.operand, node.position, 'a number after "-"')
        const zero = constant('real', 0)
        return this.#computed('sub', zero, operand, node.position)
      }
      case 'binary':
        return this.#binary(node)
      case 'in':
        return this.#in(node)
      case 'call':
        return this.#call(node)
      case 'lambda':
        return this.#lambda(node)
    }
  }

  #own(node: LiteralNode): Expression {
    const own = ownConstant(node.literal)
    if (own !== undefined) return own
    return this.#refuse(node.position, 'a value that stands alone', quoted(printFilter(node)))
  }

  #binary(node: BinaryNode): Expression {
    switch (node.operator) {
      case 'and':
      case 'or':
        return this.#logic(node, node.operator)
      case 'eq':
      case 'ne':
      case 'gt':
      case 'ge':
      case 'lt':
      case 'le':
        return this.#comparison(node, node.operator)
      case 'has':
        return this.#refuse(node.position, 'eq, ne or in (no enumeration here has flags)', '"has"')
      default: {
        const found = `numbers around "${node.operator}"`
        const left = this.#number(node.left, node.position, found)
        const right = this.#number(node.right, node.position, found)
        const whole = isWhole(left) && isWhole(right)
        const operator =
          node.operator === 'div' && whole
            ? 'truncdiv'
            : node.operator === 'divby'
              ? 'div'
              : node.operator
        return this.#computed(operator, left, right, node.position)
      }
    }
  }

  /** Chains of one operator become one list, so that a long filter is not a deep one. */
  #logic(node: BinaryNode, operator: 'and' | 'or'): Expression {
    const terms: Expression[] = []
    const pending: FilterNode[] = [node]
    for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
      if (one.kind === 'binary' && one.operator === operator) pending.push(one.right, one.left)
      else terms.push(this.condition(one))
    }
    const nullable = terms.some((term) => term.nullable)
    return { form: operator, kind: 'boolean', nullable, terms }
  }

  #number(node: FilterNode, position: number, expected: string): Expression {
    const operand = this.#expression(node)
    if (isNumeric(operand.kind) || operand.kind === 'null') return operand
    return this.#refuse(position, expected, `the ${operand.kind} ${quoted(printFilter(node))}`)
  }

  #computed(
    operator: ArithmeticOperator,
    left: Expression,
    right: Expression,
    position: number,
  ): Expression {
    this.#arithmetic++
    if (this.#arithmetic > checkLimits.arithmeticMax) {
      return this.#refuse(
        position,
        `at most ${checkLimits.arithmeticMax} operators of arithmetic`,
        'more',
      )
    }
    for (const side of [left, right]) {
      if (side.form !== 'constant' || typeof side.value !== 'number') continue
      const size = Math.abs(side.value)
      // Bounded so that eight operators can neither overflow nor underflow a double, which one store refuses.
      if (size > 1e15 || (size !== 0 && size < 1e-15)) {
        return this.#refuse(position, 'numbers of ordinary size in arithmetic', `${side.value}`)
      }
    }
    const divides = operator === 'div' || operator === 'truncdiv' || operator === 'mod'
    const nullable = left.nullable || right.nullable || divides
    return {
      form: 'arithmetic',
      kind: 'real',
      nullable,
      operator,
      left: asReal(left),
      right: asReal(right),
      whole: operator !== 'div' && isWhole(left) && isWhole(right),
    }
  }

  #comparison(node: BinaryNode, operator: CompareOperator): Expression {
    if (node.left.kind === 'literal' && node.right.kind !== 'literal') {
      return this.#compared(node.right, node.left, mirrored[operator], node)
    }
    return this.#compared(node.left, node.right, operator, node)
  }

  #compared(
    leftNode: FilterNode,
    rightNode: FilterNode,
    operator: CompareOperator,
    node: BinaryNode,
  ): Expression {
    const left = this.#expression(leftNode)
    if (rightNode.kind === 'literal' && leftNode.kind !== 'literal') {
      const found = this.#constantLike(rightNode, left)
      return this.#withConstant(left, operator, found, node)
    }
    const right = this.#expression(rightNode)
    if (left.kind === right.kind || left.kind === 'null' || right.kind === 'null') {
      return this.#compare(operator, left, right, node)
    }
    if (isNumeric(left.kind) && isNumeric(right.kind)) {
      return this.#compare(operator, asReal(left), asReal(right), node)
    }
    return this.#refuse(
      rightNode.position,
      `something to compare with a ${left.kind}`,
      `a ${right.kind} after ${node.operator}`,
    )
  }

  #withConstant(
    left: Expression,
    operator: CompareOperator,
    right: Constant,
    node: BinaryNode,
  ): Expression {
    if (right.exact) return this.#compare(operator, left, constant(right.kind, right.value), node)
    // No value of the column can equal it; `value` is the largest one below.
    if (operator === 'eq') return constant('boolean', false)
    if (operator === 'ne') return constant('boolean', true)
    const above = operator === 'gt' || operator === 'ge'
    return this.#compare(above ? 'gt' : 'le', left, constant(right.kind, right.value), node)
  }

  #compare(
    operator: CompareOperator,
    left: Expression,
    right: Expression,
    node: BinaryNode,
  ): Expression {
    const ordering = operator !== 'eq' && operator !== 'ne'
    if (ordering && (left.kind === 'enum' || right.kind === 'enum')) {
      return this.#refuse(node.position, 'eq, ne or in for an enumeration', `"${node.operator}"`)
    }
    return { form: 'compare', kind: 'boolean', nullable: false, operator, left, right }
  }

  /** The literal as a value of what it is compared with. */
  #constantLike(node: LiteralNode, other: Expression): Constant {
    const found = constantFor(node.literal, other.kind, valuesOf(other))
    if (!('expected' in found)) return found
    return this.#refuse(node.position, found.expected, found.found ?? describe(node))
  }

  #in(node: InNode): Expression {
    const operand = this.#expression(node.operand)
    const values: (string | number | boolean)[] = []
    let orNull = false
    for (const entry of node.list) {
      const found = this.#constantLike(entry, operand)
      if (found.value === null) orNull = true
      else if (found.exact) values.push(found.value)
    }
    return { form: 'in', kind: 'boolean', nullable: false, operand, values, orNull }
  }

  #call(node: CallNode): Expression {
    const shape = filterFunctions[node.name]
    if (shape === undefined) {
      return this.#refuse(node.position, 'a function of this list', quoted(node.name))
    }
    const list = node.arguments.map((argument, at) => {
      // The parser counted the arguments by the same table.
      const kinds = shape.parameters[at] as readonly Kind[]
      return this.#argument(argument, kinds)
    })
    const nullable = list.some((one) => one.nullable)
    return { form: 'call', kind: shape.result, nullable, name: node.name, arguments: list }
  }

  #argument(node: FilterNode, kinds: readonly Kind[]): Expression {
    const wanted = kinds[0] as Kind // Every parameter has at least one kind.
    if (node.kind === 'literal') {
      for (const kind of kinds) {
        const found = constantFor(node.literal, kind, undefined)
        if (!('expected' in found) && found.exact) return constant(found.kind, found.value)
      }
      return this.#refuse(node.position, spellingOf(wanted), describe(node))
    }
    const operand = this.#expression(node)
    if (operand.kind === 'null' || kinds.includes(operand.kind)) return operand
    if (wanted === 'real' && isNumeric(operand.kind)) return asReal(operand)
    if (wanted === 'integer' && isNumeric(operand.kind) && isWhole(operand)) return operand
    return this.#refuse(node.position, `a ${wanted}`, `a ${operand.kind}`)
  }

  #lambda(node: LambdaNode): Expression {
    const { source: owner, rest } = this.#begin(node.path)
    const [name, ...more] = rest
    const navigation = name === undefined ? undefined : this.#navigation(owner, name)
    if (navigation === undefined || more.length > 0 || !leadsToList(navigation, owner.version)) {
      return this.#unknown(node.path, owner, 'list')
    }
    const source = this.#source(owner, navigation, node.path)
    const typed = { kind: 'boolean', nullable: false, form: node.operator, source } as const
    if (node.predicate === undefined || node.variable === undefined) {
      return { ...typed, predicate: undefined }
    }
    const outer = this.#variables
    this.#variables = [...outer, { name: node.variable, source }]
    const predicate = this.condition(node.predicate)
    this.#variables = outer
    return { ...typed, predicate }
  }

  /** The source a path begins in, innermost variable first, and what is left of the path there. */
  #begin(node: PathNode): { readonly source: Source; readonly rest: readonly string[] } {
    const head = node.segments[0]
    const variable = this.#variables.findLast((one) => one.name === head)
    if (variable !== undefined) return { source: variable.source, rest: node.segments.slice(1) }
    const rest = head === '$it' ? node.segments.slice(1) : node.segments
    return { source: this.#root, rest }
  }

  #navigation(source: Source, name: string): Navigation | undefined {
    const { entity, version } = source
    const found = entity.navigations.find((one) => one.name === name)
    if (found === undefined || !found.versions.includes(version)) return undefined
    return this.#model.find(found.target, version) === undefined ? undefined : found
  }

  #source(owner: Source, navigation: Navigation, node: PathNode): Source {
    const entity = this.#model.find(navigation.target, owner.version)
    if (entity === undefined) return this.#unknown(node, owner, 'navigation')
    const number = this.#sources++
    return { number, entity, version: owner.version, from: { source: owner, navigation } }
  }

  path(node: PathNode): Expression {
    const { source, rest } = this.#begin(node)
    if (rest.length > checkLimits.stepsMax) {
      return this.#refuse(node.position, `at most ${checkLimits.stepsMax} steps in a path`, 'more')
    }
    return this.#steps(node, source, rest)
  }

  #steps(node: PathNode, source: Source, rest: readonly string[]): Expression {
    const [name, ...more] = rest
    if (name === undefined) return this.#unknown(node, source, 'field')
    const navigation = this.#navigation(source, name)
    // A navigation and an object of v1.0 may have the same name; the object is what has fields.
    const field = fieldsIn(source.entity, source.version).find((one) => one.name === name)
    if (field !== undefined) return this.#field(node, { source, absent: [] }, field, more)
    if (navigation === undefined || more.length === 0) return this.#unknown(node, source, 'field')
    if (leadsToList(navigation, source.version)) {
      if (more.length > 1 || more[0] !== '$count') {
        return this.#refuse(
          node.position,
          `${name}/$count, or any(…) or all(…) after ${name}/`,
          quoted(node.segments.join('/')),
        )
      }
      const rows = this.#source(source, navigation, node)
      return { form: 'count', kind: 'integer', nullable: false, source: rows }
    }
    const row = this.#source(source, navigation, node)
    const value = this.#steps(node, row, more)
    return { form: 'related', kind: value.kind, nullable: true, source: row, value }
  }

  #field(node: PathNode, place: Place, field: Field, rest: readonly string[]): Expression {
    const { type } = field
    const { source } = place
    if (type.kind === 'complex') {
      const inner = type.fields.find((one) => one.name === rest[0])
      if (inner === undefined) {
        const known = type.fields.map((one) => `${field.name}/${one.name}`).join(', ')
        return this.#refuse(node.position, `a field (${known})`, quoted(node.segments.join('/')))
      }
      const absent = type.absent === undefined ? [] : [type.absent]
      const within = { source, absent: [...place.absent, ...absent] }
      return this.#field(node, within, inner, rest.slice(1))
    }
    if (rest.length > 0) return this.#unknown(node, source, 'field')
    if (type.kind === 'nothing') return constant('text', null)
    const empty: readonly ColumnIs[] = field.nullWhenEmpty
      ? [
          {
            column: field.column,
            value: '',
            ...(field.join === undefined ? {} : { join: field.join }),
          },
        ]
      : []
    const absent = [...place.absent, ...empty]
    return {
      form: 'column',
      kind: kindOf(field, source.version),
      nullable: absent.length > 0,
      source,
      column: field.column,
      join: field.join,
      absent,
      values: type.kind === 'enum' ? type.values : undefined,
    }
  }

  #unknown(node: PathNode, source: Source, what: 'field' | 'list' | 'navigation'): never {
    const { entity, version } = source
    const names =
      what === 'field'
        ? fieldsIn(entity, version).map((one) => one.name)
        : entity.navigations
            .filter((one) => one.versions.includes(version))
            .filter((one) => what !== 'list' || leadsToList(one, version))
            .map((one) => one.name)
    const known = [...new Set(names)].sort().slice(0, listedMax).join(', ')
    const name = node.segments.join('/').slice(0, 100)
    throw refuse.BadRequest(
      {
        reason: `The option '${this.#option}' names '${name}' at position ${node.position}, but the type '${entity.type}' has no such ${what}; it has ${known === '' ? 'none' : known}.`,
      },
      { target: name },
    )
  }
}

const mirrored: Readonly<Record<CompareOperator, CompareOperator>> = {
  eq: 'eq',
  ne: 'ne',
  gt: 'lt',
  ge: 'le',
  lt: 'gt',
  le: 'ge',
}

function describe(node: LiteralNode): string {
  return `the ${node.literal.type} ${quoted(printFilter(node))}`
}

function valuesOf(expression: Expression): readonly string[] | undefined {
  if (expression.form === 'column') return expression.values
  return expression.form === 'related' ? valuesOf(expression.value) : undefined
}

function kindOf(field: Field, version: Version): Kind {
  switch (field.type.kind) {
    case 'string':
      return 'text'
    case 'enum':
      // In v1.0 enumerations are plain strings of the model (business facts 12).
      return version === 'v1.0' ? 'text' : 'enum'
    case 'guid':
    case 'date':
    case 'integer':
    case 'moment':
    case 'decimal':
    case 'boolean':
      return field.type.kind
    case 'nothing':
    case 'complex':
      throw new Error(`The field ${field.name} has no column of its own.`)
  }
}
