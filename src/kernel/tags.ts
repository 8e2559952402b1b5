/** Tags and their rules (facts 9.2). Names are compared without regard to case, values with it. */

import type { Problem } from './error.ts'
import type { Limits } from './limits.ts'
import { isJsonObject } from './patch.ts'

/** Tools use names that begin with `hidden-`, and put ids into them. */
const forbidden = /^(?!hidden-).*[<>%&\\?/]/is
/** What begins a marker of conditions, such as `<$key_case_sensitive$>`: no tag may look like another one with a marker. */
export const markerStart = '<$'

/** Every fault of a `tags` value, with its path. */
export function tagProblems(
  tags: unknown,
  limits: Pick<Limits, 'tagsMax' | 'tagNameMax' | 'tagValueMax'>,
): readonly Problem[] {
  if (!isJsonObject(tags)) {
    return [{ path: 'tags', message: 'expected an object of strings', code: 'InvalidTagName' }]
  }
  const problems: Problem[] = []
  const add = (name: string, message: string, code = 'InvalidTagName'): void => {
    problems.push({ path: `tags.${name.slice(0, 60)}`, message, code })
  }
  const entries = Object.entries(tags)
  if (entries.length > limits.tagsMax) {
    problems.push({
      path: 'tags',
      message: `at most ${limits.tagsMax} tags, ${entries.length} given`,
      code: 'InvalidTagName',
    })
    return problems
  }
  const seen = new Set<string>()
  for (const [name, value] of entries) {
    const lower = name.toLowerCase()
    if (name.trim() === '') add(name, 'a tag name may not be empty')
    if (name.length > limits.tagNameMax) {
      add(name, `a tag name has at most ${limits.tagNameMax} characters`)
    }
    if (forbidden.test(name)) {
      add(name, 'a tag name has none of < > % & \\ ? /', 'InvalidTagNameCharacters')
    } else if (name.includes(markerStart)) {
      add(name, `a tag name has no '${markerStart}'`, 'InvalidTagNameCharacters')
    }
    if (seen.has(lower)) add(name, 'tag names differ by more than case')
    seen.add(lower)
    if (typeof value !== 'string') add(name, 'a tag value is a string')
    else if (value.length > limits.tagValueMax) {
      add(name, `a tag value has at most ${limits.tagValueMax} characters`)
    }
  }
  return problems
}
