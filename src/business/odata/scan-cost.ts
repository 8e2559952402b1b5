/**
 * What a filter and an order cost for each row, in simple operations, and the lists that they go through: in a writing
 * transaction the embedded store holds the process meanwhile. Pure.
 */

import type { Expression } from '../compile/expression.ts'
import { comparedBy } from '../compile/search-cost.ts'
import type { Entity } from '../entity.ts'
import type { QueryOptions } from './options.ts'

interface LookedThrough {
  readonly entity: Entity
  /** Where the rows are: for values that are added up, those that are added. */
  readonly table: string
  /** Rows of usual cost that one of these counts as. */
  readonly weight: number
}

/** A filter of so many operations is a usual one. */
const usualOperations = 16
/** What a line's share of a discount is worked out with. */
const workedOperations = 32
/** They cost as much as an operation. */
const comparedCharacters = 1024

/** The rows of the entity itself, in `table`, and of each list and each sum that is gone through for them. */
export function lookedThrough(
  entity: Entity,
  table: string,
  { filter, orderBy }: QueryOptions,
): readonly LookedThrough[] {
  const lists: LookedThrough[] = []
  const terms = orderBy.map(({ expression }) => expression)
  const all = filter === undefined ? terms : [...terms, filter]
  return [{ entity, table, weight: weightOf(operationsIn(all, lists)) }, ...lists]
}

function weightOf(operations: number): number {
  return Math.max(1, operations / usualOperations)
}

/** The operations for one row. Lists and sums are noted, and count by themselves. */
function operationsIn(all: readonly Expression[], lists: LookedThrough[]): number {
  return all.reduce((sum, one) => sum + operationsOf(one, lists), 0)
}

function operationsOf(expression: Expression, lists: LookedThrough[]): number {
  const having = (some: readonly Expression[]): number => 1 + operationsIn(some, lists)
  switch (expression.form) {
    case 'constant':
      return 1
    case 'column': {
      const { entity } = expression.source
      const { view } = entity
      const isSum = view?.period === undefined && view?.columns.has(expression.column) === true
      if (isSum && view.sums !== undefined) lists.push({ entity, table: view.sums, weight: 1 })
      const isWorked = view?.sums === undefined && view?.columns.has(expression.column) === true
      return isWorked ? workedOperations : 1
    }
    case 'not':
    case 'in':
      return having([expression.operand])
    case 'and':
    case 'or':
      return having(expression.terms)
    case 'arithmetic':
    case 'compare':
      return having([expression.left, expression.right])
    case 'related':
      return having([expression.value])
    case 'call':
      return having(expression.arguments) + comparedBy(expression) / comparedCharacters
    case 'count': {
      const { entity } = expression.source
      lists.push({ entity, table: entity.table.name, weight: 1 })
      return 1
    }
    case 'any':
    case 'all': {
      const { predicate, source } = expression
      const operations = having(predicate === undefined ? [] : [predicate])
      const { entity } = source
      lists.push({ entity, table: entity.table.name, weight: weightOf(operations) })
      return 1
    }
  }
}
