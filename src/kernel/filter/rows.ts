/**
 * Fields with several values per item: finds which parts of a filter are about the same rows, and iterates over
 * them.
 */

import type { RowSource } from './field-map.ts'
import type { FilterNode, PathNode } from './nodes.ts'
import type { Condition } from './operand.ts'

/** Iterates over the rows of the item in slot `owner`, one at a time in `slot`. */
export interface RowUse {
  readonly source: RowSource<unknown>
  readonly owner: number
  readonly slot: number
}

/** The terms of an `and` chain, left to right. */
export function termsOf(node: FilterNode): readonly FilterNode[] {
  if (node.kind !== 'binary' || node.operator !== 'and') return [node]
  return [...termsOf(node.left), ...termsOf(node.right)]
}

/** The paths that a condition reads. Lambdas are left out: they iterate over their own members. */
export function pathsOf(node: FilterNode): readonly PathNode[] {
  switch (node.kind) {
    case 'literal':
    case 'lambda':
      return []
    case 'path':
      return [node]
    case 'unary':
    case 'in':
      return pathsOf(node.operand)
    case 'binary':
      return [...pathsOf(node.left), ...pathsOf(node.right)]
    case 'call':
      return node.arguments.flatMap(pathsOf)
  }
}

export function sameRows(
  uses: readonly RowUse[],
  source: RowSource<unknown>,
  owner: number,
): RowUse | undefined {
  return uses.find((use) => use.source === source && use.owner === owner)
}

export function someRow(use: RowUse, condition: Condition): Condition {
  return (slots) =>
    use.source.of(slots[use.owner]).some((row) => {
      slots[use.slot] = row
      return condition(slots) === true
    })
}
