/**
 * Rules that a schema cannot express: parameters and the URL template must agree, and form parameters and schemas
 * must match the content type. All problems are returned, with their paths.
 */

import type { Problem } from '#kernel/error.ts'
import { placeholderName, placeholdersOf } from '../../domain/url-template.ts'
import type { Operation, Parameter, Representation } from './model.ts'
import type { Loose } from './versions/features.ts'

type Given<T> = Loose<T> | null | undefined

/** `at` is the prefix of paths in this version: `properties.` or nothing. */
export function operationProblems(given: Loose<Operation>, at: string): readonly Problem[] {
  const problems: Problem[] = []
  templateProblems(problems, given.urlTemplate, given.templateParameters ?? [], at)
  representationProblems(problems, given.request?.representations, `${at}request`)
  for (const [index, { representations }] of (given.responses ?? []).entries()) {
    representationProblems(problems, representations, `${at}responses[${index}]`)
  }
  return problems
}

/** Names are compared without regard to case, like paths. */
function templateProblems(
  problems: Problem[],
  urlTemplate: string,
  parameters: readonly Loose<Parameter>[],
  at: string,
): void {
  const placeholders = placeholdersOf(urlTemplate)
  if (!placeholders.ok) {
    problems.push({ path: `${at}urlTemplate`, message: placeholders.message })
    return
  }
  const declared = new Set<string>()
  const used = new Set<string>()
  for (const name of placeholders.names) {
    if (used.has(name.toLowerCase())) {
      problems.push({ path: `${at}urlTemplate`, message: `has the placeholder '${name}' twice` })
    }
    used.add(name.toLowerCase())
  }
  for (const [index, { name }] of parameters.entries()) {
    const key = placeholderName(name).toLowerCase()
    const path = `${at}templateParameters[${index}].name`
    if (declared.has(key)) problems.push({ path, message: `'${name}' is there twice` })
    else if (!used.has(key)) {
      problems.push({ path, message: `'${name}' is no placeholder of the urlTemplate` })
    }
    declared.add(key)
  }
  if (placeholders.names.every((name) => declared.has(name.toLowerCase()))) return
  const missing = new Map(placeholders.names.map((name) => [name.toLowerCase(), name]))
  for (const [key, name] of missing) {
    if (declared.has(key)) continue
    const message = `has no entry for the placeholder '${name}' of the urlTemplate`
    problems.push({ path: `${at}templateParameters`, message })
  }
}

function representationProblems(
  problems: Problem[],
  representations: Given<readonly Representation[]>,
  at: string,
): void {
  for (const [index, one] of (representations ?? []).entries()) {
    const path = `${at}.representations[${index}]`
    if (!isForm(one.contentType)) continue
    if (one.formParameters == null) {
      const message = `is required when contentType is '${one.contentType}'`
      problems.push({ path: `${path}.formParameters`, message })
    }
    for (const name of ['schemaId', 'typeName'] as const) {
      if (one[name] == null) continue
      const message = `is not allowed when contentType is '${one.contentType}'`
      problems.push({ path: `${path}.${name}`, message })
    }
  }
}

/** Only the media type decides; its parameters (`boundary=…`) do not. */
function isForm(contentType: string): boolean {
  const [media] = contentType.split(';', 1)
  const bare = media?.trim().toLowerCase()
  return bare === 'application/x-www-form-urlencoded' || bare === 'multipart/form-data'
}
