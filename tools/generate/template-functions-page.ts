/** The generated page of the reference that lists the functions of the template language. */

import type { FunctionDescription } from '#template/functions/define.ts'
import { page, table } from './pages.ts'

export function templateFunctionsPage(catalogue: readonly FunctionDescription[]): string {
  const groups = Map.groupBy(catalogue, (one) => one.group)
  const sections = [...groups].flatMap(([group, functions]) => [
    `## ${group.charAt(0).toUpperCase()}${group.slice(1)}`,
    table(
      ['Function', 'Arguments', 'Gives'],
      functions.map((one) => [`\`${one.name}(${one.parameters})\``, countOf(one), one.doc]),
    ),
  ])
  return page(
    'Functions of templates',
    'Names are matched without regard to case. Arguments in brackets may be left out. What the functions do differently from the original is in `src/template/README.md`.',
    ...sections,
  )
}

function countOf({ least, most }: FunctionDescription): string {
  if (most === undefined) return `${least} or more`
  return least === most ? String(least) : `${least} to ${most}`
}
