/** Puts foreign text into Markdown so that it is never markup. */

import { printable } from './table.ts'

/** A code span that its content cannot end, also inside a table. */
export function codeSpan(text: string): string {
  // A backslash before a pipe is doubled: some readers would take the pair as an escape, and end the cell.
  const plain = printable(text).replaceAll(/(\\*)\|/g, '$1$1\\|')
  const longest = Math.max(0, ...[...plain.matchAll(/`+/g)].map(([run]) => run.length))
  const fence = '`'.repeat(longest + 1)
  const pad = longest > 0 || plain === '' ? ' ' : ''
  return `${fence}${pad}${plain}${pad}${fence}`
}
