/**
 * Compiles a condition to closures, which are evaluated many times. Logic is three-valued, since decisions begin
 * before the body is read: `undefined` means "not known yet" and never counts as true.
 */

import { type ActionMatcher, compileActionPattern } from '#kernel/action.ts'
import type { Attributes, AttributeValue } from '#plane/access.ts'
import type { AttributeNode, ComparisonNode, ConditionNode, OperandNode, Source } from './nodes.ts'
import { normalize, operatorOf, prefixes, type Scalar } from './operators.ts'
import { type Steps, spend } from './steps.ts'

export type Truth = boolean | undefined

/** The facts of a request. `unknown`: there is a value, but it has not been read yet. */
export interface ConditionFacts {
  /** In lower case. */
  readonly action: string
  /** The action is one on data. */
  readonly isDataAction?: boolean
  /** The caller's custom attributes, by name in lower case. */
  readonly principal: Attributes
  readonly now: number | 'unknown'
  readonly request: Attributes | 'unknown'
  readonly resource: Attributes | 'unknown'
  /** What the conditions of this decision may still do. A condition that needed more never holds. */
  readonly steps: Steps
}

export type Condition = (facts: ConditionFacts) => Truth

export function compileCondition(node: ConditionNode): Condition {
  switch (node.kind) {
    case 'and':
      return all(node.parts.map(compileCondition), false)
    case 'or':
      return all(node.parts.map(compileCondition), true)
    case 'not': {
      const part = compileCondition(node.part)
      return (facts) => {
        const truth = part(facts)
        return truth === undefined ? undefined : !truth
      }
    }
    case 'action': {
      const matchers: readonly ActionMatcher[] = node.patterns.map(compileActionPattern)
      return ({ action }) => matchers.some((matches) => matches(action))
    }
    case 'sub-operation':
      // No request of a control plane has a sub-operation.
      return () => false
    case 'exists': {
      const read = reader(node.attribute)
      return (facts) => {
        const value = read(facts)
        return value === 'unknown' ? undefined : value !== undefined
      }
    }
    case 'comparison':
      return comparison(node)
    default:
      return node satisfies never
  }
}

/** AND ends with the first false, OR with the first true; otherwise one unknown makes the result unknown. */
function all(parts: readonly Condition[], decisive: boolean): Condition {
  return (facts) => {
    let open = false
    for (const part of parts) {
      const truth = part(facts)
      if (truth === decisive) return decisive
      if (truth === undefined) open = true
    }
    return open ? undefined : !decisive
  }
}

/** `undefined`: there is no such attribute. */
type Read = (facts: ConditionFacts) => readonly Scalar[] | undefined | 'unknown'

function comparison(node: ComparisonNode): Condition {
  const operator = operatorFor(node)
  const { holds } = operator
  const left = operand(node.left, (value) => normalize(operator, value))
  const right = operand(node.right, (value) => normalize(operator, value))
  const combine = node.prefix === undefined ? undefined : prefixes[node.prefix]
  return (facts) => {
    const [l, r] = [left(facts), right(facts)]
    // A missing attribute makes the comparison false.
    if (l === undefined || r === undefined) return false
    if (l === 'unknown' || r === 'unknown') return undefined
    const { steps } = facts
    if (!spend(steps, l.length * r.length)) return false
    if (combine !== undefined) return combine(l, r, (one, other) => holds(one, other, steps))
    const [one, other] = [l[0], r[0]]
    if (l.length !== 1 || r.length !== 1 || one === undefined || other === undefined) return false
    return holds(one, other, steps)
  }
}

/** Names and types of resources are parts of their ids: whoever sends an address chooses the case of its letters. */
const partOfId = /(?<!\/tags):(?:name|type)$/

function operatorFor({ operator: name, left, right }: ComparisonNode) {
  const operator = operatorOf(name)
  const isOfId = (node: OperandNode): boolean =>
    node.kind === 'attribute' && partOfId.test(node.key)
  return isOfId(left) || isOfId(right) ? { ...operator, ignoreCase: true } : operator
}

/** The values of an operand in the operator's form; one of another type makes all of them missing. */
function operand(node: OperandNode, ready: (value: Scalar) => Scalar | undefined): Read {
  if (node.kind === 'attribute') {
    const read = reader(node)
    return (facts) => {
      const values = read(facts)
      return values === undefined || values === 'unknown' ? values : readyAll(values, ready)
    }
  }
  const members = node.kind === 'set' ? node.members : [node]
  const values = readyAll(
    members.map(({ literal }) => literal.value),
    ready,
  )
  return () => values
}

function readyAll(
  values: readonly Scalar[],
  ready: (value: Scalar) => Scalar | undefined,
): readonly Scalar[] | undefined {
  const out: Scalar[] = []
  for (const value of values) {
    const one = ready(value)
    if (one === undefined) return undefined
    out.push(one)
  }
  return out
}

function reader({ source, key }: AttributeNode): Read {
  if (source === 'Environment') return (facts) => environment(key, facts.now)
  const field = fields[source]
  return (facts) => {
    const attributes = facts[field]
    if (attributes === 'unknown') return 'unknown'
    const value = attributes.get(key)
    return value === undefined ? undefined : listed(value)
  }
}

const fields: Readonly<
  Record<Exclude<Source, 'Environment'>, 'principal' | 'request' | 'resource'>
> = { Principal: 'principal', Request: 'request', Resource: 'resource' }

function listed(value: AttributeValue): readonly Scalar[] {
  return typeof value === 'object' ? value : [value]
}

const hourMilliseconds = 3_600_000
const dayMilliseconds = 24 * hourMilliseconds

function environment(
  key: string,
  now: number | 'unknown',
): readonly Scalar[] | undefined | 'unknown' {
  // This server has no private links, so that much is known; which subnet a caller is in is not.
  if (key === 'isprivatelink') return [false]
  if (key !== 'utcnow' && key !== 'utchour' && key !== 'utcweekday') return undefined
  if (now === 'unknown') return 'unknown'
  if (key === 'utcnow') return [now]
  if (key === 'utchour') return [Math.floor((now % dayMilliseconds) / hourMilliseconds)]
  // The first day of 1970 was a Thursday, the fourth day of its week.
  return [((Math.floor(now / dayMilliseconds) + 3) % 7) + 1]
}
