/**
 * Compiles nodes, once, to a predicate over items: names are looked up and types checked then, so that a bad
 * filter is refused before the first item and a good one costs a few calls per item. Null follows OData:
 * `eq` and `ne` see it as a value, order comparisons with it are false, functions of it are null, and `and`,
 * `or`, `not` are three-valued; the whole holds only when it is true.
 */

import type { Field, FieldMap } from './field-map.ts'
import { builtInFunctions, type FunctionShape, type Value, type ValueType } from './functions.ts'
import { literalLike, literalOperand } from './literals.ts'
import { Names } from './names.ts'
import type {
  ArithmeticOperator,
  BinaryNode,
  CallNode,
  CompareOperator,
  FilterNode,
  InNode,
  LambdaNode,
  LiteralNode,
  PathNode,
} from './nodes.ts'
import {
  aTypeName,
  type Condition,
  lowerCased,
  type Operand,
  operandOf,
  readLowerCased,
  type Slots,
} from './operand.ts'
import {
  arithmetic,
  arithmeticType,
  comparing,
  either,
  every,
  flagsOf,
  inverted,
  negated,
} from './operators.ts'
import { printFilter } from './print.ts'
import { type FilterProblem, filterProblem, quoted } from './problem.ts'
import { pathsOf, type RowUse, sameRows, someRow, termsOf } from './rows.ts'
import { heldValue } from './values.ts'

type CompiledFilter<T> =
  | { readonly ok: true; readonly matches: (item: T) => boolean }
  | FilterProblem

/** `fields` says what a filter may read. The problem's position is that of the wrong node. */
export function compileFilter<T>(node: FilterNode, fields: FieldMap<T>): CompiledFilter<T> {
  // Fields only get items, rows and members that came from an item of type T.
  const compiler = new Compiler(fields as FieldMap<unknown>)
  const holds = compiler.condition(node)
  // The compiler returns nothing only after it has noted a problem.
  if (holds === undefined) return compiler.problem as FilterProblem
  return { ok: true, matches: (item) => holds([item]) === true }
}

/** The number of names listed in one message. */
const listedMax = 30

class Compiler {
  problem: FilterProblem | undefined
  readonly #root: FieldMap<unknown>
  #names: Names
  #nextSlot = 1
  /** Rows that an enclosing `and` iterates over. */
  #bound: readonly RowUse[] = []
  /** Rows that the condition being compiled must iterate over itself. */
  #used: RowUse[] = []

  constructor(root: FieldMap<unknown>) {
    this.#root = root
    this.#names = new Names(root)
  }

  #refuse(position: number, expected: string, found: string): undefined {
    return this.#noted(filterProblem(position, expected, found))
  }

  #noted(problem: FilterProblem): undefined {
    this.problem = problem
    return undefined
  }

  get #lenient(): boolean {
    return this.#root.lenient === true
  }

  condition(node: FilterNode): Condition | undefined {
    if (node.kind === 'binary' && node.operator === 'and') return this.#conjunction(node)
    if (node.kind === 'binary' && node.operator === 'or') {
      const left = this.condition(node.left)
      const right = left === undefined ? undefined : this.condition(node.right)
      if (left === undefined || right === undefined) return undefined
      return either(left, right)
    }
    if (node.kind === 'unary' && node.operator === 'not') {
      const operand = this.condition(node.operand)
      return operand === undefined ? undefined : inverted(operand)
    }
    if (node.kind === 'lambda') return this.#lambda(node)
    return this.#single(node)
  }

  /** Compiles the terms of one `and` chain. Terms about the same source of related rows share a row. */
  #conjunction(node: BinaryNode): Condition | undefined {
    const terms = termsOf(node)
    let rest = terms
    const parts: Condition[] = []
    for (const use of this.#sharedRows(terms)) {
      const about = rest.filter((term) => this.#mentions(term, use))
      rest = rest.filter((term) => !about.includes(term))
      const outer = this.#bound
      this.#bound = [...outer, use]
      const inner = this.#all(about)
      this.#bound = outer
      if (inner === undefined) return undefined
      parts.push(someRow(use, inner))
    }
    const others = this.#all(rest)
    return others === undefined ? undefined : every([...parts, others])
  }

  #all(terms: readonly FilterNode[]): Condition | undefined {
    const conditions: Condition[] = []
    for (const term of terms) {
      const condition = this.condition(term)
      if (condition === undefined) return undefined
      conditions.push(condition)
    }
    return every(conditions)
  }

  /** The sources of related rows that more than one term reads. */
  #sharedRows(terms: readonly FilterNode[]): readonly RowUse[] {
    const uses: RowUse[] = []
    const seen: RowUse[] = []
    for (const term of terms) {
      const inTerm: RowUse[] = []
      for (const path of pathsOf(term)) {
        const found = this.#names.field(path)
        const source = found?.field.rows
        if (found === undefined || source?.together !== true) continue
        if (sameRows(inTerm, source, found.slot) || sameRows(this.#bound, source, found.slot)) {
          continue
        }
        inTerm.push({ source, owner: found.slot, slot: 0 })
      }
      for (const use of inTerm) {
        if (!sameRows(seen, use.source, use.owner)) seen.push(use)
        else if (!sameRows(uses, use.source, use.owner)) {
          uses.push({ ...use, slot: this.#nextSlot++ })
        }
      }
    }
    return uses
  }

  #mentions(term: FilterNode, use: RowUse): boolean {
    return pathsOf(term).some((path) => {
      const found = this.#names.field(path)
      return found?.field.rows === use.source && found.slot === use.owner
    })
  }

  /** A condition without `and`, `or`, `not`. It iterates over its rows itself. */
  #single(node: FilterNode): Condition | undefined {
    const outer = this.#used
    this.#used = []
    const condition = this.#bare(node)
    const used = this.#used
    this.#used = outer
    if (condition === undefined) return undefined
    if (used.length === 0) return condition
    if (node.kind === 'binary' && node.operator === 'ne') {
      // `ne` holds when no row is equal. "Some row differs" would hold for nearly everything.
      const none = used.reduce((inner, use) => someRow(use, inner), negated(condition))
      return negated(none)
    }
    return used.reduce((inner, use) => someRow(use, inner), condition)
  }

  #bare(node: FilterNode): Condition | undefined {
    if (node.kind === 'binary') {
      switch (node.operator) {
        case 'eq':
        case 'ne':
        case 'gt':
        case 'ge':
        case 'lt':
        case 'le':
          return this.#comparison(node, node.operator)
        case 'has':
          return this.#has(node)
      }
    }
    if (node.kind === 'in') return this.#in(node)
    const operand = this.#operand(node)
    if (operand === undefined) return undefined
    if (operand.type !== 'boolean' && operand.type !== 'null') {
      return this.#refuse(
        node.position,
        'a condition (a comparison, or parentheses around one)',
        `the ${operand.type} ${quoted(printFilter(node))}`,
      )
    }
    // The check above ensures that it reads a boolean or null.
    return operand.read as Condition
  }

  #comparison(node: BinaryNode, operator: CompareOperator): Condition | undefined {
    const pair = this.#pair(node.left, node.right, operator)
    if (pair === undefined) return undefined
    const { left, right } = pair
    if (operator !== 'eq' && operator !== 'ne' && [left.type, right.type].includes('enum')) {
      return this.#refuse(node.position, 'eq, ne or in for an enumeration', `"${operator}"`)
    }
    const [one, other] = readLowerCased(left, right)
    return comparing(operator, one, other)
  }

  /** Compiles both sides of a comparison. A literal is read as the other side's type. */
  #pair(
    leftNode: FilterNode,
    rightNode: FilterNode,
    operator: string,
  ): { readonly left: Operand; readonly right: Operand } | undefined {
    let left = leftNode.kind === 'literal' ? undefined : this.#operand(leftNode)
    if (leftNode.kind !== 'literal' && left === undefined) return undefined
    const right =
      rightNode.kind === 'literal' && left !== undefined
        ? this.#literalLike(rightNode, left)
        : this.#operand(rightNode)
    if (right === undefined) return undefined
    if (leftNode.kind === 'literal') {
      left =
        rightNode.kind === 'literal' ? literalOperand(leftNode) : this.#literalLike(leftNode, right)
    }
    if (left === undefined) return undefined
    if (!this.#comparable(left.type, right.type)) {
      return this.#refuse(
        rightNode.position,
        `something to compare with ${aTypeName(left.type)}`,
        `${aTypeName(right.type)} after ${operator}`,
      )
    }
    return { left, right }
  }

  #comparable(left: Operand['type'], right: Operand['type']): boolean {
    if (left === right || left === 'null' || right === 'null') return true
    return this.#assignable(left, right) || this.#assignable(right, left)
  }

  #assignable(from: ValueType, to: ValueType): boolean {
    if (from === to) return true
    if (to === 'dateTime') return from === 'date'
    return this.#lenient && to === 'string' && (from === 'enum' || from === 'guid')
  }

  #in(node: InNode): Condition | undefined {
    const operand = this.#operand(node.operand)
    if (operand === undefined) return undefined
    const values = new Set<Value>()
    for (const entry of node.list) {
      const literal =
        node.operand.kind === 'literal' ? literalOperand(entry) : this.#literalLike(entry, operand)
      if (literal === undefined) return undefined
      if (!this.#comparable(operand.type, literal.type)) {
        return this.#refuse(entry.position, aTypeName(operand.type), aTypeName(literal.type))
      }
      const value = literal.read([])
      values.add(operand.ignoreCase ? lowerCased(value) : value)
    }
    const { read, ignoreCase } = operand
    return (slots) => values.has(ignoreCase ? lowerCased(read(slots)) : read(slots))
  }

  /** Holds when every flag on the right is among the field's flags, written `Red,Green`. */
  #has(node: BinaryNode): Condition | undefined {
    const left = this.#operand(node.left)
    if (left === undefined) return undefined
    if (left.type !== 'enum' || node.right.kind !== 'literal') {
      return this.#refuse(node.position, 'an enumeration before "has", its value behind it', 'has')
    }
    const right = this.#literalLike(node.right, left, 'flags')
    if (right === undefined) return undefined
    const [one, other] = readLowerCased(left, right)
    return (slots) => {
      const held = one(slots)
      const wanted = other(slots)
      if (typeof held !== 'string' || typeof wanted !== 'string') return null
      const flags = new Set(flagsOf(held))
      return flagsOf(wanted).every((flag) => flags.has(flag))
    }
  }

  #operand(node: FilterNode): Operand | undefined {
    switch (node.kind) {
      case 'literal':
        return literalOperand(node)
      case 'path':
        return this.#path(node)
      case 'call':
        return this.#call(node)
      case 'unary':
        return node.operator === 'negate' ? this.#negate(node.operand) : this.#truth(node)
      case 'binary':
        switch (node.operator) {
          case 'add':
          case 'sub':
          case 'mul':
          case 'div':
          case 'divby':
          case 'mod':
            return this.#arithmetic(node, node.operator)
          default:
            return this.#truth(node)
        }
      default:
        return this.#truth(node)
    }
  }

  #truth(node: FilterNode): Operand | undefined {
    const condition = this.condition(node)
    return condition === undefined ? undefined : operandOf('boolean', condition)
  }

  #literalLike(node: LiteralNode, other: Operand, manner?: 'flags'): Operand | undefined {
    const read = literalLike(node, other, this.#lenient, manner)
    return 'ok' in read ? this.#noted(read) : read
  }

  #negate(node: FilterNode): Operand | undefined {
    const operand = this.#operand(node)
    if (operand === undefined) return undefined
    if (!['number', 'duration', 'null'].includes(operand.type)) {
      return this.#refuse(node.position, 'a number after "-"', aTypeName(operand.type))
    }
    const { type, integer, read } = operand
    return operandOf(
      type,
      (slots) => {
        const value = read(slots)
        return typeof value === 'number' ? -value : null
      },
      { integer },
    )
  }

  #arithmetic(node: BinaryNode, operator: ArithmeticOperator): Operand | undefined {
    const left = this.#operand(node.left)
    const right = left === undefined ? undefined : this.#operand(node.right)
    if (left === undefined || right === undefined) return undefined
    const type = arithmeticType(operator, left.type, right.type)
    if (type === undefined) {
      return this.#refuse(
        node.position,
        `numbers around "${operator}"`,
        `${aTypeName(left.type)} and ${aTypeName(right.type)}`,
      )
    }
    const integer = left.integer && right.integer && operator !== 'divby'
    const compute = arithmetic(operator, integer)
    return operandOf(
      type,
      (slots) => {
        const one = left.read(slots)
        const other = right.read(slots)
        if (typeof one !== 'number' || typeof other !== 'number') return null
        return compute(one, other)
      },
      { integer },
    )
  }

  #call(node: CallNode): Operand | undefined {
    const own = this.#root.functions?.[node.name]
    const builtIn = Object.hasOwn(builtInFunctions, node.name)
      ? builtInFunctions[node.name]
      : undefined
    const shape: FunctionShape | undefined = own ?? builtIn
    if (shape === undefined) {
      return this.#refuse(node.position, 'a function of this list', quoted(node.name))
    }
    const operands: Operand[] = []
    for (const [at, argument] of node.arguments.entries()) {
      const parameter = shape.parameters[at]
      if (parameter === undefined) {
        return this.#refuse(argument.position, `fewer arguments for ${node.name}`, 'more')
      }
      const operand = this.#argument(argument, parameter)
      if (operand === undefined) return undefined
      operands.push(operand)
    }
    if (operands.length < shape.parameters.length - (shape.optional ?? 0)) {
      return this.#refuse(node.position, `more arguments for ${node.name}`, `${operands.length}`)
    }
    const ignoreCase = operands.some((operand) => operand.ignoreCase)
    // A search that ignores case folds both texts. A function that makes new text keeps its case.
    const fold = ignoreCase && shape.result !== 'string' && operands.length > 1
    const reads = operands.map(({ read }) =>
      fold ? (slots: Slots) => lowerCased(read(slots)) : read,
    )
    // The argument types were checked against the parameters of `compute`.
    const compute = builtIn?.compute as ((...values: readonly Value[]) => Value) | undefined
    const read = (slots: Slots): Value => {
      const values: Value[] = []
      for (const one of reads) {
        const value = one(slots)
        if (value === null) return null
        values.push(value)
      }
      if (own !== undefined) return own.call(slots[0], values)
      return compute === undefined ? null : compute(...values)
    }
    const integer = shape.result === 'number' && shape.parameters.every((type) => type !== 'number')
    return operandOf(shape.result, read, { ignoreCase, integer })
  }

  #argument(node: FilterNode, parameter: ValueType): Operand | undefined {
    if (node.kind === 'literal')
      return this.#literalLike(
        node,
        operandOf(parameter, () => null),
      )
    const operand = this.#operand(node)
    if (operand === undefined || operand.type === 'null') return operand
    if (this.#assignable(operand.type, parameter)) return operand
    return this.#refuse(node.position, aTypeName(parameter), aTypeName(operand.type))
  }

  #path(node: PathNode): Operand | undefined {
    const found = this.#names.field(node)
    const field = found?.field
    if (found === undefined || field === undefined) {
      if (node.segments.at(-1) === '$count') return this.#count(node)
      return this.#unknown(node, 'field')
    }
    const slot = this.#slotOf(field, found.slot)
    const { type } = field
    return operandOf(type, (slots) => heldValue(type, field.read(slots[slot])), {
      ignoreCase: field.ignoreCase === true || (this.#lenient && type === 'enum'),
      integer: field.integer === true,
      values: field.values,
    })
  }

  /** The slot of the field's item: the owner's, or that of the current row. */
  #slotOf(field: Field<unknown>, owner: number): number {
    const source = field.rows
    if (source === undefined) return owner
    const shared = sameRows(this.#bound, source, owner) ?? sameRows(this.#used, source, owner)
    if (shared !== undefined) return shared.slot
    const use: RowUse = { source, owner, slot: this.#nextSlot++ }
    this.#used.push(use)
    return use.slot
  }

  #count(node: PathNode): Operand | undefined {
    const found = this.#names.collection({ ...node, segments: node.segments.slice(0, -1) })
    if (found === undefined) return this.#unknown(node, 'collection')
    const { entry, slot } = found
    return operandOf('number', (slots) => entry.of(slots[slot]).length, { integer: true })
  }

  #lambda(node: LambdaNode): Condition | undefined {
    const found = this.#names.collection(node.path)
    if (found === undefined) return this.#unknown(node.path, 'collection')
    const { entry, slot: owner } = found
    const { predicate, variable } = node
    if (predicate === undefined) return (slots) => entry.of(slots[owner]).length > 0
    const slot = this.#nextSlot++
    const outer = this.#names
    this.#names = outer.with(variable, entry.items, slot)
    const holds = this.condition(predicate)
    this.#names = outer
    if (holds === undefined) return undefined
    const one = (slots: Slots, member: unknown): boolean => {
      slots[slot] = member
      return holds(slots) === true
    }
    return node.operator === 'any'
      ? (slots) => entry.of(slots[owner]).some((member) => one(slots, member))
      : (slots) => entry.of(slots[owner]).every((member) => one(slots, member))
  }

  #unknown(node: PathNode, what: 'field' | 'collection'): undefined {
    const known = this.#names.known(node, what).slice(0, listedMax).join(', ')
    const expected = known === '' ? `a known ${what}` : `a known ${what} (${known})`
    return this.#refuse(node.position, expected, quoted(node.segments.join('/')))
  }
}
