/**
 * Turns the two properties of an assignment into a compiled condition. A condition that cannot be read never holds.
 */

import type { VendorWords } from '#kernel/vendor.ts'
import { type Condition, compileCondition } from './condition.ts'
import { type ConditionLimits, parseCondition } from './parse.ts'
import { spend } from './steps.ts'

export const conditionVersion = '2.0'

interface Conditioned {
  readonly condition?: string
  readonly conditionVersion?: string
}

export type ReadCondition = (assignment: Conditioned) => Condition | undefined

const never: Condition = () => false
/** Characters of conditions that are remembered compiled; each takes some fifty times as many bytes. */
const rememberedCharactersMax = 1024 * 1024

/**
 * A condition is compiled when it is needed, so that those of assignments which nobody uses are texts alone. Equal texts share
 * one that is compiled: delegates of one kind have the same condition.
 */
export function createConditionReader(words: VendorWords, limits: ConditionLimits): ReadCondition {
  const known = new Map<string, Condition>()
  let characters = 0

  function compiled(text: string): Condition {
    const found = known.get(text)
    if (found !== undefined) return found
    const parsed = parseCondition(text, words, limits)
    const condition = parsed.ok ? compileCondition(parsed.node) : never
    characters += text.length
    known.set(text, condition)
    for (const oldest of known.keys()) {
      if (characters <= rememberedCharactersMax) break
      characters -= oldest.length
      known.delete(oldest)
    }
    return condition
  }

  return ({ condition: text, conditionVersion: version }) => {
    if (text === undefined && version === undefined) return undefined
    if (text === undefined || version !== conditionVersion) return never
    return (facts) => {
      if (!spend(facts.steps, text.length)) return false
      const truth = compiled(text)(facts)
      return facts.steps.left < 0 ? false : truth
    }
  }
}
