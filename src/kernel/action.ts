/**
 * Action names and patterns: `Vendor.Authorization/roleAssignments/write`, a star as wildcard. Compared without
 * regard to case; a star stands for any run of characters, slashes included (facts 2.6).
 */

/** With more stars it is taken apart each time: what is between them may take ten times as much memory as its text. */
const starsMax = 8

/** A compiled pattern, which is matched many times. */
export type ActionMatcher = (actionLowerCase: string) => boolean

export function compileActionPattern(pattern: string): ActionMatcher {
  const lower = pattern.toLowerCase().replace(/\*+/g, '*')
  if (lower === '*') return () => true
  if (!lower.includes('*')) return (action) => action === lower
  const texts = lower.split('*')
  const letters = lower.length - texts.length + 1
  if (texts.length > starsMax + 1) {
    return (action) => action.length >= letters && matcherOf(lower.split('*'))(action)
  }
  return matcherOf(texts)
}

function matcherOf(texts: readonly string[]): ActionMatcher {
  const first = texts[0] as string // split gives at least one part
  const last = texts.at(-1) as string
  const middle = texts.slice(1, -1)
  return (action) => {
    if (action.length < first.length + last.length) return false
    if (!action.startsWith(first) || !action.endsWith(last)) return false
    let from = first.length
    const end = action.length - last.length
    for (const part of middle) {
      const at = action.indexOf(part, from)
      if (at < 0 || at + part.length > end) return false
      from = at + part.length
    }
    return true
  }
}

/**
 * Compiles one rule of a role: `actions` minus `notActions`. The latter is never a deny: another role may grant the
 * action.
 */
export function compilePermission(
  actions: readonly string[],
  notActions: readonly string[],
): ActionMatcher {
  const yes = actions.map(compileActionPattern)
  const no = notActions.map(compileActionPattern)
  return (action) => yes.some((m) => m(action)) && !no.some((m) => m(action))
}
