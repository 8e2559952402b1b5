/**
 * Finds the parts of a condition that keep it from holding, as text. Only for explanations; decisions do not use
 * it.
 */

import { type ConditionFacts, compileCondition } from './condition.ts'
import type { ConditionNode } from './nodes.ts'
import { printCondition } from './print.ts'

/** The smallest parts that are not true; empty when the condition holds. At most `max`. */
export function partsNotTrue(
  node: ConditionNode,
  facts: ConditionFacts,
  max = 5,
): readonly string[] {
  const found: string[] = []
  collect(node, facts, found)
  return found.slice(0, max)
}

function collect(node: ConditionNode, facts: ConditionFacts, found: string[]): void {
  if (compileCondition(node)(facts) === true) return
  if (node.kind === 'and') {
    for (const part of node.parts) collect(part, facts, found)
  } else if (node.kind === 'or') {
    // A test of the action is left out: the reader knows which action is in question.
    const telling = node.parts.filter((part) => !isActionTest(part))
    for (const part of telling.length > 0 ? telling : node.parts) collect(part, facts, found)
  } else {
    found.push(printCondition(node))
  }
}

function isActionTest(node: ConditionNode): boolean {
  if (node.kind === 'not') return isActionTest(node.part)
  if (node.kind === 'and') return node.parts.every(isActionTest)
  return node.kind === 'action' || node.kind === 'sub-operation'
}
