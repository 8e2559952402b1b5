/** Finds what is unused in a template or shown by mistake. These are warnings, not problems of the language. */
import { fieldOf, isArray, isObject, membersOf } from './fields.ts'
import type { Json, TemplateProblem } from './plan.ts'
import { Problems } from './problems.ts'
import { open } from './read-template.ts'

/** Empty for text that is no template; parsing it says why. */
export function lintTemplate(template: string): readonly TemplateProblem[] {
  const opened = open(template)
  if (!opened.ok || opened.value.value === null) return []
  const { value, locate } = opened.value
  const warnings = new Problems(locate)
  const ignored = new Problems(locate)
  const section = (name: string) => membersOf(fieldOf(value, undefined, name), `'${name}'`, ignored)
  const text = textsIn(value)
  for (const [kind, names] of [
    ['parameter', section('parameters')],
    ['variable', section('variables')],
  ] as const) {
    const used = namesUsed(text, `${kind}s`)
    if (used === undefined) continue
    for (const [name, field] of names) {
      if (name.toLowerCase() === 'copy' && kind === 'variable') continue
      if (!used.has(name.toLowerCase())) warnings.add(field.path, `the ${kind} is never used`)
    }
  }
  for (const [, field] of section('parameters')) {
    if (!isObject(field.value)) continue
    const type = String(fieldOf(field.value, field.path, 'type')?.value).toLowerCase()
    const given = fieldOf(field.value, field.path, 'defaultValue')
    if (!type.startsWith('secure') || given === undefined) continue
    if (given.value === '' || (typeof given.value === 'string' && given.value.startsWith('['))) {
      continue
    }
    warnings.add(given.path, 'the default of a secure parameter can be read by everybody')
  }
  return warnings.list
}

/** Undefined when a name is computed: it could be any. */
function namesUsed(texts: readonly string[], call: string): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  for (const text of texts) {
    for (const [, name] of text.matchAll(new RegExp(`\\b${call}\\s*\\(\\s*('[^']*')?`, 'gi'))) {
      if (name === undefined) return undefined
      names.add(name.slice(1, -1).toLowerCase())
    }
  }
  return names
}

/** The texts of expressions, at any depth. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === 'string') return value.startsWith('[') ? [value] : []
  if (isArray(value)) return value.flatMap(textsIn)
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, one]) => [...textsIn(name), ...textsIn(one)])
}
