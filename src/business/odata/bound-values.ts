/**
 * Values of the request in a filter or an order: `now()`, one moment for the whole request, and parameter aliases
 * (`$filter=number eq @n&@n='1000'`). Both become constants before names are resolved.
 */

import type { FilterNode, Literal, LiteralNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { quoted } from '#kernel/filter/problem.ts'
import { businessProfile } from '../compile/functions.ts'
import { refuse } from '../errors.ts'

export interface BoundValues {
  /** Milliseconds since 1970. */
  readonly now: number
  /** By name, the `@` included. An alias without a value is null (OData 4.0). */
  readonly aliases: ReadonlyMap<string, Literal>
}

/** The options whose names begin with `@`. Each is one value, so aliases cannot make a filter larger. */
export function readBoundValues(custom: ReadonlyMap<string, string>, now: number): BoundValues {
  const aliases = new Map<string, Literal>()
  for (const [name, text] of custom) {
    if (!name.startsWith('@')) continue
    const parsed = parseFilter(text, businessProfile)
    const node = parsed.ok ? withValues(parsed.node, { now, aliases: new Map() }) : undefined
    if (node?.kind !== 'literal') {
      throw refuse.Application_FilterErrorException({
        option: name.slice(0, 60),
        reason: `a value was expected, such as 'text', 12.5 or 2026-01-31, not ${quoted(text.slice(0, 60))}.`,
      })
    }
    aliases.set(name, node.literal)
  }
  return { now, aliases }
}

/** The tree with those values inserted. It is as deep as the tree, which is bounded. */
export function withValues(node: FilterNode, values: BoundValues): FilterNode {
  const bound = (one: FilterNode): FilterNode => withValues(one, values)
  switch (node.kind) {
    case 'literal':
      return node
    case 'path': {
      const [first = ''] = node.segments
      if (!first.startsWith('@') || node.segments.length > 1) return node
      return literal(values.aliases.get(first) ?? { type: 'null' }, node)
    }
    case 'unary':
      return { ...node, operand: bound(node.operand) }
    case 'binary':
      return { ...node, left: bound(node.left), right: bound(node.right) }
    case 'in':
      return { ...node, operand: bound(node.operand) }
    case 'call':
      if (node.name === 'now') {
        const text = new Date(values.now).toISOString()
        return literal({ type: 'dateTime', text, value: values.now }, node)
      }
      return { ...node, arguments: node.arguments.map(bound) }
    case 'lambda':
      return node.predicate === undefined ? node : { ...node, predicate: bound(node.predicate) }
  }
}

function literal(value: Literal, { position }: FilterNode): LiteralNode {
  return { kind: 'literal', literal: value, position }
}
