/**
 * Turns the two properties of an assignment into a compiled condition. A condition that cannot be read never holds.
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { type Condition, compileCondition } from './condition.ts'
import { type ConditionLimits, parseCondition } from './parse.ts'

export const conditionVersion = '2.0'

interface Conditioned {
  readonly condition?: string
  readonly conditionVersion?: string
}

export type ReadCondition = (assignment: Conditioned) => Condition | undefined

const never: Condition = () => false
const rememberedMax = 10_000

/** Equal texts share one compiled condition: delegates of one kind have the same condition. */
export function createConditionReader(words: VendorWords, limits: ConditionLimits): ReadCondition {
  const known = new Map<string, Condition>()
  return ({ condition: text, conditionVersion: version }) => {
    if (text === undefined && version === undefined) return undefined
    if (text === undefined || version !== conditionVersion) return never
    let condition = known.get(text)
    if (condition === undefined) {
      const parsed = parseCondition(text, words, limits)
      condition = parsed.ok ? compileCondition(parsed.node) : never
      if (known.size >= rememberedMax) known.clear()
      known.set(text, condition)
    }
    return condition
  }
}
