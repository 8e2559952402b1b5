/** The syntax tree of a condition: frozen nodes with their offsets. Parentheses only affect the shape. */

import type { OperatorName, PrefixName } from './operators.ts'

export type ConditionNode = JoinNode | NotNode | MatchNode | ExistsNode | ComparisonNode

/** Two or more parts, all joined by the same word. */
interface JoinNode {
  readonly kind: 'and' | 'or'
  readonly position: number
  readonly parts: readonly ConditionNode[]
}

interface NotNode {
  readonly kind: 'not'
  readonly position: number
  readonly part: ConditionNode
}

/** `ActionMatches{'…'}` and `SubOperationMatches{'…'}`. */
export interface MatchNode {
  readonly kind: 'action' | 'sub-operation'
  readonly position: number
  readonly patterns: readonly string[]
}

interface ExistsNode {
  readonly kind: 'exists'
  readonly position: number
  readonly attribute: AttributeNode
}

export interface ComparisonNode {
  readonly kind: 'comparison'
  readonly position: number
  readonly left: OperandNode
  readonly prefix: PrefixName | undefined
  readonly operator: OperatorName
  readonly right: OperandNode
}

export type OperandNode = AttributeNode | LiteralNode | SetNode

export const sources = ['Resource', 'Request', 'Principal', 'Environment'] as const
export type Source = (typeof sources)[number]

export interface AttributeNode {
  readonly kind: 'attribute'
  readonly position: number
  readonly source: Source
  /** The text between the brackets, as written; printing repeats it. */
  readonly text: string
  /** The key that evaluation uses. */
  readonly key: string
}

export type Literal =
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'guid'; readonly value: string }
  | { readonly type: 'number'; readonly value: number }
  | { readonly type: 'boolean'; readonly value: boolean }

export interface LiteralNode {
  readonly kind: 'literal'
  readonly position: number
  readonly literal: Literal
}

export interface SetNode {
  readonly kind: 'set'
  readonly position: number
  readonly members: readonly LiteralNode[]
}
