/**
 * The `$filter` forms of this provider's lists (facts 2.2, 2.6): a few terms joined by `and`. Anything else is
 * refused, since an ignored filter would show more than requested.
 */

import type { FilterNode } from '#kernel/filter/nodes.ts'
import { parseFilter } from '#kernel/filter/parse.ts'
import { type FilterProfile, lenientProfile, withFunctions } from '#kernel/filter/profile.ts'
import { isUuid } from '#kernel/uuid.ts'
import { refuseAuthorization } from '../errors.ts'

export interface AssignmentFilter {
  /** Only at the scope and above it. */
  readonly atScope: boolean
  /** Only of this principal (a GUID in lower case); `inherited` includes its groups. */
  readonly principal: { readonly id: string; readonly inherited: boolean } | undefined
}

export interface RoleFilter {
  /** Also roles that can only be assigned somewhere below the scope. */
  readonly below: boolean
  readonly kind: 'BuiltInRole' | 'CustomRole' | undefined
  /** In lower case. */
  readonly roleName: string | undefined
}

interface DenyFilter {
  readonly atScope: boolean
  /** In lower case. */
  readonly name: string | undefined
  /** `inherited` includes its groups and everybody, `excludedToo` those it does not apply to. */
  readonly principal:
    | { readonly id: string; readonly inherited: boolean; readonly excludedToo: boolean }
    | undefined
}

const profile: FilterProfile = withFunctions(lenientProfile, {
  atScope: { parameters: [], result: 'boolean' },
  atScopeAndBelow: { parameters: [], result: 'boolean' },
  assignedTo: { parameters: ['string'], result: 'boolean' },
})

const assignmentForms =
  "atScope(), principalId eq '{id}', assignedTo('{id}'), and atScope() with one of the others"
const denyForms =
  "atScope(), denyAssignmentName eq '{name}', principalId eq '{id}', gdprExportPrincipalId eq '{id}', assignedTo('{id}'), joined by and"
const lockForms = 'atScope()'
const roleForms = "atScopeAndBelow(), type eq 'CustomRole', roleName eq '{name}', joined by and"

export function parseAssignmentFilter(text: string): AssignmentFilter {
  let atScope = false
  let principal: AssignmentFilter['principal']
  for (const term of termsOf(text, assignmentForms)) {
    if (term.key === 'atscope()' && !atScope) {
      atScope = true
    } else if (
      (term.key === 'principalid' || term.key === 'assignedto()') &&
      term.value !== undefined &&
      principal === undefined
    ) {
      if (!isUuid(term.value)) throw unsupported(`'${clip(term.value)}' is not a GUID`)
      principal = { id: term.value.toLowerCase(), inherited: term.key === 'assignedto()' }
    } else {
      throw unsupported(`expected ${assignmentForms}`)
    }
  }
  return { atScope, principal }
}

export function parseDenyFilter(text: string): DenyFilter {
  let atScope = false
  let name: string | undefined
  let principal: DenyFilter['principal']
  for (const { key, value } of termsOf(text, denyForms)) {
    if (key === 'atscope()' && !atScope) atScope = true
    else if (key === 'denyassignmentname' && value !== undefined && name === undefined)
      name = value.toLowerCase()
    else if (principalKeys.has(key) && value !== undefined && principal === undefined) {
      if (!isUuid(value)) throw unsupported(`'${clip(value)}' is not a GUID`)
      principal = {
        id: value.toLowerCase(),
        inherited: key === 'assignedto()',
        excludedToo: key === 'gdprexportprincipalid',
      }
    } else throw unsupported(`expected ${denyForms}`)
  }
  return { atScope, name, principal }
}

/** Whether only locks at the scope and above it are wanted. */
export function parseLockFilter(text: string): boolean {
  const terms = termsOf(text, lockForms)
  if (terms.length > 1 || terms.some(({ key }) => key !== 'atscope()')) {
    throw unsupported(`expected ${lockForms}`)
  }
  return terms.length === 1
}

const principalKeys: ReadonlySet<string> = new Set([
  'principalid',
  'gdprexportprincipalid',
  'assignedto()',
])

export function parseRoleFilter(text: string): RoleFilter {
  let below = false
  let kind: RoleFilter['kind']
  let roleName: string | undefined
  for (const term of termsOf(text, roleForms)) {
    const value = term.value?.toLowerCase()
    if (term.key === 'atscopeandbelow()' && !below) below = true
    else if (term.key === 'type' && value === 'customrole' && kind === undefined)
      kind = 'CustomRole'
    else if (term.key === 'type' && value === 'builtinrole' && kind === undefined)
      kind = 'BuiltInRole'
    else if (term.key === 'rolename' && value !== undefined && roleName === undefined)
      roleName = value
    else throw unsupported(`expected ${roleForms}`)
  }
  return { below, kind, roleName }
}

/** One term: a call (`atscope()`, its argument as value) or a comparison (`principalid`). */
interface Term {
  readonly key: string
  readonly value: string | undefined
}

function termsOf(text: string, forms: string): readonly Term[] {
  if (text.trim() === '') return []
  const parsed = parseFilter(text, profile)
  if (!parsed.ok) throw unsupported(parsed.message)
  const terms: Term[] = []
  const collect = (node: FilterNode): void => {
    if (node.kind === 'binary' && node.operator === 'and') {
      collect(node.left)
      collect(node.right)
      return
    }
    const term = termOf(node)
    if (term === undefined) throw unsupported(`at position ${node.position}: expected ${forms}`)
    terms.push(term)
  }
  collect(parsed.node)
  return terms
}

function termOf(node: FilterNode): Term | undefined {
  if (node.kind === 'call') {
    const [argument] = node.arguments
    return {
      key: `${node.name.toLowerCase()}()`,
      value: argument === undefined ? undefined : textOf(argument),
    }
  }
  if (node.kind !== 'binary' || node.operator !== 'eq' || node.left.kind !== 'path') {
    return undefined
  }
  const value = textOf(node.right)
  return value === undefined
    ? undefined
    : { key: node.left.segments.join('/').toLowerCase(), value }
}

function textOf(node: FilterNode): string | undefined {
  if (node.kind !== 'literal') return undefined
  if (node.literal.type === 'string') return node.literal.value
  return node.literal.type === 'guid' ? node.literal.text : undefined
}

function unsupported(reason: string): Error {
  return refuseAuthorization.InvalidFilter({ reason })
}

function clip(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60).toWellFormed()}…` : text
}
