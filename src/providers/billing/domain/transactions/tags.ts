/** The tags of a transaction and their rules (contract, Billing transaction), which are stricter than others. */

import type { Problem } from '#kernel/error.ts'
import { tagProblems } from '#kernel/tags.ts'

const rules = { tagsMax: 50, tagNameMax: 256, tagValueMax: 256 }

export function transactionTagProblems(tags: unknown): readonly Problem[] {
  const problems = tagProblems(tags, rules)
  if (problems.length > 0) return problems
  // It is an object of strings; otherwise there would have been a problem.
  return Object.entries(tags as Readonly<Record<string, string>>).flatMap(([name, value]) =>
    value === ''
      ? [{ path: `tags.${name}`, message: 'a tag value may not be empty', code: 'InvalidTagName' }]
      : value.includes('\0') || name.includes('\0')
        ? [{ path: 'tags', message: 'a tag holds no NUL', code: 'InvalidTagName' }]
        : [],
  )
}
