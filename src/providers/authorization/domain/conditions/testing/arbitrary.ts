/** Random conditions over few attributes, and an obvious, slow evaluation of them. For tests. */

import { contractWords } from '#kernel/vendor.ts'
import type { Attributes, AttributeValue } from '#plane/access.ts'
import { fc } from '../../../../../../tests/property.ts'
import { findAttribute } from '../attributes.ts'
import type { ConditionFacts } from '../condition.ts'
import type {
  AttributeNode,
  ComparisonNode,
  ConditionNode,
  Literal,
  LiteralNode,
  OperandNode,
  Source,
} from '../nodes.ts'
import { type OperandType, operators, type PrefixName, prefixNames } from '../operators.ts'

export const actions = ['vendor.x/things/read', 'vendor.x/things/write', 'vendor.y/z/delete']
const patterns = ['*', '*/read', 'Vendor.X/things/write', 'Vendor.Y/*']
const guids = [1, 2, 3].map((n) => `00000000-0000-4000-8000-00000000000${n}`)
const texts = ['a', 'A', 'ab', "it's", 'b*', '']
const moments = ['2026-01-01T00:00:00.0Z', '2026-06-01T12:00:00Z']

const nowChoices = [Date.UTC(2026, 0, 1), Date.UTC(2026, 5, 1, 12), Date.UTC(2030, 0, 6, 23)]

const tag = 'Vendor.X/things/tags:Env'
const attributeTexts: Readonly<Record<Source, readonly string[]>> = {
  Resource: [tag, `${tag}<$key_case_sensitive$>`, 'Vendor.X/things:size', 'Vendor.X/things:owner'],
  Request: [tag, 'Vendor.X/things:size', 'Vendor.X/things:owner', 'Vendor.X/things:parts'],
  Principal: ['Vendor.Directory/CustomSecurityAttributes/Id:Team_Name'],
  Environment: ['UtcNow', 'UtcHour', 'UtcWeekday', 'isPrivateLink'],
}

function attributeNode(source: Source, text: string): AttributeNode {
  const found = findAttribute(source, text, contractWords)
  if ('expected' in found) throw new Error(`${text}: ${found.expected}`)
  return { kind: 'attribute', position: 0, source, text, key: found.key }
}

const anyAttribute: fc.Arbitrary<AttributeNode> = fc
  .constantFrom<Source>('Resource', 'Request', 'Principal')
  .chain((source) =>
    fc.constantFrom(...attributeTexts[source]).map((text) => attributeNode(source, text)),
  )

function literalOf(type: OperandType): fc.Arbitrary<LiteralNode> {
  const literal: fc.Arbitrary<Literal> = {
    boolean: fc.boolean().map((value): Literal => ({ type: 'boolean', value })),
    number: fc.integer({ min: -3, max: 30 }).map((value): Literal => ({ type: 'number', value })),
    string: fc
      .oneof(fc.constantFrom(...texts), fc.string({ maxLength: 6 }))
      .map((value): Literal => ({ type: 'string', value: value.replaceAll('\0', '') })),
    moment: fc.constantFrom(...moments).map((value): Literal => ({ type: 'string', value })),
    guid: fc
      .tuple(fc.constantFrom(...guids), fc.constantFrom('guid' as const, 'string' as const))
      .map(([value, kind]): Literal => ({ type: kind, value })),
  }[type]
  return literal.map((one) => ({ kind: 'literal', position: 0, literal: one }))
}

function attributeOf(type: OperandType): fc.Arbitrary<AttributeNode> {
  const environment: Partial<Record<OperandType, readonly string[]>> = {
    moment: ['UtcNow'],
    number: ['UtcHour', 'UtcWeekday'],
    boolean: ['isPrivateLink'],
  }
  // A tag is text, so only operators on text match.
  const fitting = anyAttribute.filter(({ text }) => type === 'string' || !text.includes('/tags:'))
  const known = environment[type]
  if (known === undefined) return fitting
  return fc.oneof(
    fitting,
    fc.constantFrom(...known).map((text) => attributeNode('Environment', text)),
  )
}

const comparison: fc.Arbitrary<ComparisonNode> = fc
  .constantFrom(...operators.keys())
  .chain((name) => {
    const operator = operators.get(name)
    if (operator === undefined) throw new Error(name)
    const single: fc.Arbitrary<OperandNode> = fc.oneof(
      attributeOf(operator.type),
      literalOf(operator.type),
    )
    const set: fc.Arbitrary<OperandNode> = fc
      .array(literalOf(operator.type), { minLength: 1, maxLength: 3 })
      .map((members) => ({ kind: 'set', position: 0, members }))
    const prefix = operator.takesSets
      ? fc.option(fc.constantFrom(...prefixNames), { nil: undefined })
      : fc.constant(undefined)
    return prefix.chain((chosen) => {
      const operand = chosen === undefined ? single : fc.oneof(single, set)
      return fc.record({
        kind: fc.constant('comparison' as const),
        position: fc.constant(0),
        left: operand,
        prefix: fc.constant(chosen),
        operator: fc.constant(name),
        right: operand,
      })
    })
  })

export const condition: fc.Arbitrary<ConditionNode> = fc.letrec<{ node: ConditionNode }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparison,
    fc.record({
      kind: fc.constantFrom('action' as const, 'sub-operation' as const),
      position: fc.constant(0),
      patterns: fc.subarray(patterns, { minLength: 1 }),
    }),
    fc.record({
      kind: fc.constant('exists' as const),
      position: fc.constant(0),
      attribute: anyAttribute,
    }),
    fc.record({ kind: fc.constant('not' as const), position: fc.constant(0), part: tie('node') }),
    fc.record({
      kind: fc.constantFrom('and' as const, 'or' as const),
      position: fc.constant(0),
      parts: fc.array(tie('node'), { minLength: 2, maxLength: 3 }),
    }),
  ),
})).node

const value: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.constantFrom(...texts, ...guids, ...moments),
  fc.integer({ min: -3, max: 30 }),
  fc.boolean(),
  fc.array(fc.constantFrom(...texts), { minLength: 1, maxLength: 3 }),
  fc.array(fc.integer({ min: 0, max: 5 }), { maxLength: 3 }),
)

function attributesFor(source: Source): fc.Arbitrary<Attributes> {
  const keys = attributeTexts[source].map((text) => attributeNode(source, text).key)
  return fc
    .array(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 4 })
    .map((entries) => new Map(entries))
}

export interface WholeFacts extends ConditionFacts {
  readonly now: number
  readonly request: Attributes
  readonly resource: Attributes
}

export const wholeFacts: fc.Arbitrary<WholeFacts> = fc.record({
  action: fc.constantFrom(...actions),
  principal: attributesFor('Principal'),
  now: fc.constantFrom(...nowChoices),
  request: attributesFor('Request'),
  resource: attributesFor('Resource'),
  steps: fc.constant({ left: Number.POSITIVE_INFINITY }),
})

/** The meaning of a condition when everything is known, directly from the sentences of facts 2.7. */
export function meaning(node: ConditionNode, facts: WholeFacts): boolean {
  switch (node.kind) {
    case 'and':
      return node.parts.every((part) => meaning(part, facts))
    case 'or':
      return node.parts.some((part) => meaning(part, facts))
    case 'not':
      return !meaning(node.part, facts)
    case 'action':
      return node.patterns.some((pattern) => {
        const source = pattern
          .split('*')
          .map((part) => part.replace(/[.\\/]/g, '\\$&'))
          .join('.*')
        return new RegExp(`^${source}$`, 'i').test(facts.action)
      })
    case 'sub-operation':
      return false
    case 'exists':
      return valuesOf(node.attribute, facts) !== undefined
    default:
      return compared(node, facts)
  }
}

function valuesOf(node: OperandNode, facts: WholeFacts): readonly unknown[] | undefined {
  if (node.kind === 'literal') return [node.literal.value]
  if (node.kind === 'set') return node.members.map((member) => member.literal.value)
  const date = new Date(facts.now)
  const environment: Record<string, unknown> = {
    utcnow: facts.now,
    utchour: date.getUTCHours(),
    utcweekday: date.getUTCDay() === 0 ? 7 : date.getUTCDay(),
    isprivatelink: false,
  }
  const found =
    node.source === 'Environment'
      ? environment[node.key]
      : { Principal: facts.principal, Request: facts.request, Resource: facts.resource }[
          node.source
        ].get(node.key)
  if (found === undefined) return undefined
  return Array.isArray(found) ? found : [found]
}

function compared(node: ComparisonNode, facts: WholeFacts): boolean {
  const left = valuesOf(node.left, facts)
  const right = valuesOf(node.right, facts)
  if (left === undefined || right === undefined) return false
  const all = [...left, ...right]
  if (!all.every((one) => isOf(node.operator, one))) return false
  const holds = (l: unknown, r: unknown): boolean => pair(node.operator, l, r)
  const byPrefix: Record<PrefixName, () => boolean> = {
    ForAnyOfAnyValues: () => left.some((l) => right.some((r) => holds(l, r))),
    ForAllOfAnyValues: () => left.every((l) => right.some((r) => holds(l, r))),
    ForAnyOfAllValues: () => left.some((l) => right.every((r) => holds(l, r))),
    ForAllOfAllValues: () => left.every((l) => right.every((r) => holds(l, r))),
  }
  if (node.prefix !== undefined) return byPrefix[node.prefix]()
  return left.length === 1 && right.length === 1 && holds(left[0], right[0])
}

function isOf(operator: string, one: unknown): boolean {
  if (operator.startsWith('Bool')) return typeof one === 'boolean'
  if (operator.startsWith('Numeric')) return typeof one === 'number'
  if (operator.startsWith('Guid')) return typeof one === 'string' && guids.includes(one)
  if (operator.startsWith('DateTime')) {
    return typeof one === 'number' || (typeof one === 'string' && moments.includes(one))
  }
  return typeof one === 'string'
}

function pair(operator: string, l: unknown, r: unknown): boolean {
  if (operator.startsWith('String')) return textPair(operator, String(l), String(r))
  const time = operator.startsWith('DateTime')
  const [a, b] = time ? [instant(l), instant(r)] : [l, r]
  const word = operator.replace(/^(Bool|Guid|Numeric|DateTime)/, '')
  if (word === 'Equals') return a === b
  if (word === 'NotEquals') return a !== b
  const [x, y] = [Number(a), Number(b)]
  if (word === 'GreaterThan') return x > y
  if (word === 'GreaterThanEquals') return x >= y
  return word === 'LessThan' ? x < y : x <= y
}

function instant(one: unknown): number {
  return typeof one === 'number' ? one : Date.parse(String(one))
}

function textPair(operator: string, left: string, right: string): boolean {
  const ignoring = operator.endsWith('IgnoreCase')
  const [l, r] = ignoring ? [left.toLowerCase(), right.toLowerCase()] : [left, right]
  const name = operator.replace('IgnoreCase', '')
  if (name === 'StringEquals') return l === r
  if (name === 'StringNotEquals') return l !== r
  if (name === 'StringStartsWith') return l.indexOf(r) === 0
  if (name === 'StringNotStartsWith') return l.indexOf(r) !== 0
  const source = r.replace(/\\[*?\\]|[*?]|[\s\S]/gu, (piece) => {
    if (piece === '*') return '[\\s\\S]*'
    if (piece === '?') return '[\\s\\S]'
    const plain = piece.length === 2 && piece.startsWith('\\') ? piece.slice(1) : piece
    return plain.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&')
  })
  const found = new RegExp(`^${source}$`, 'u').test(l)
  return name === 'StringLike' ? found : !found
}
