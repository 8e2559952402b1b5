/** The server's template language in the browser: a module of its own, so that it is loaded with the editor. */

import { lintTemplate } from '../../../../src/template/lint.ts'
import type { TemplateProblem } from '../../../../src/template/plan.ts'
import { parseTemplate } from '../../../../src/template/read-template.ts'

/** Errors that prevent a deployment, and warnings. */
export function findingsOf(text: string): {
  readonly problems: readonly TemplateProblem[]
  readonly hints: readonly TemplateProblem[]
} {
  const read = parseTemplate(text)
  return { problems: read.ok ? [] : read.problems, hints: lintTemplate(text) }
}
