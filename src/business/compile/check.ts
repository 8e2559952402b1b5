/**
 * Checks the nodes of a filter or an order against an entity. Every path must lead to a column (`paths.ts`), every
 * constant is converted to the column's form, and a fault is refused with its position. It writes no SQL.
 */

import type {
  BinaryNode,
  CallNode,
  FilterNode,
  InNode,
  LambdaNode,
  LiteralNode,
} from '#kernel/filter/nodes.ts'
import type { OrderNode } from '#kernel/filter/parse.ts'
import { printFilter } from '#kernel/filter/print.ts'
import { quoted } from '#kernel/filter/problem.ts'
import type { Model } from '../entity.ts'
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
import { Paths } from './paths.ts'
import { comparedBy } from './search-cost.ts'
import { asReal, constant, isNumeric, isWhole } from './typing.ts'

/**
 * The number of arithmetic operators in one filter, `round` among them. Together with the bounds of constants this keeps
 * every result within a double, and what is computed in one another shallow.
 */
const arithmeticMax = 8

/** The characters that the searches of one filter may compare for each row (decision 0394). */
const comparedMax = 2_000_000

/** The filter as a condition on rows of `source`. Throws an `ApiError` for a fault. */
export function checkFilter(node: FilterNode, source: Source, model: Model): Expression {
  return new Checker(new Paths('$filter', source, model)).condition(node)
}

/** The terms of an order: fields, also of a single related row, and expressions of them. */
export function checkOrder(
  terms: readonly OrderNode[],
  source: Source,
  model: Model,
): readonly OrderExpression[] {
  const checker = new Checker(new Paths('$orderby', source, model))
  return terms.map(({ node, direction }) => ({
    expression: checker.term(node),
    descending: direction === 'desc',
  }))
}

class Checker {
  readonly #paths: Paths
  #arithmetic = 0
  #searched = 0

  constructor(paths: Paths) {
    this.#paths = paths
  }

  #refuse(position: number, expected: string, found: string): never {
    return this.#paths.refuse(position, expected, found)
  }

  /** A term of an order must not be constant. */
  term(node: FilterNode): Expression {
    const expression = this.#expression(node)
    if (expression.kind !== 'null' && expression.form !== 'constant') return expression
    return this.#refuse(node.position, 'something of each row', quoted(printFilter(node)))
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
        return this.#paths.expression(node)
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

  /** Chains of one operator become one list, so that a long filter is not deep. */
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
    this.#countArithmetic(position)
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

  #countArithmetic(position: number): void {
    if (++this.#arithmetic <= arithmeticMax) return
    this.#refuse(
      position,
      `at most ${arithmeticMax} operators of arithmetic, round among them`,
      'more',
    )
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

  /** The literal as a value of the other operand's type. */
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
    const { name } = node
    // One store computes it in a query of its own, as both do `mod`.
    if (name === 'round') this.#countArithmetic(node.position)
    const call: Expression = { form: 'call', kind: shape.result, nullable, name, arguments: list }
    this.#searched += comparedBy(call)
    if (this.#searched <= comparedMax) return call
    return this.#refuse(
      node.position,
      'searches in short texts',
      'long ones that were put together',
    )
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
    const source = this.#paths.list(node.path)
    const typed = { kind: 'boolean', nullable: false, form: node.operator, source } as const
    const { predicate, variable } = node
    if (predicate === undefined || variable === undefined) return { ...typed, predicate: undefined }
    return {
      ...typed,
      predicate: this.#paths.naming(variable, source, () => this.condition(predicate)),
    }
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
