/**
 * The condition of somebody who may assign roles, from what was clicked: which roles, to which kinds of principals,
 * to whom. Each part stands twice, for new assignments (write) and for existing ones (delete): without the second
 * part deleting would be free.
 */

import { qualified } from '../../api/place.ts'

export interface Clicked {
  /** Ids of roles. */
  readonly roles: readonly string[]
  readonly kinds: readonly string[]
  /** Ids of principals. */
  readonly people: readonly string[]
}

export const nothingClicked: Clicked = { roles: [], kinds: [], people: [] }

/** Empty if nothing was clicked. */
export function conditionOf(clicked: Clicked): string {
  const parts = [
    partOf('write', 'Request', clicked),
    partOf('delete', 'Resource', clicked),
  ].flatMap((one) => one ?? [])
  return parts.join('\nAND\n')
}

function partOf(
  action: string,
  source: 'Request' | 'Resource',
  { roles, kinds, people }: Clicked,
): string | undefined {
  const type = qualified('Authorization/roleAssignments')
  const terms = [
    term(roles, `@${source}[${type}:RoleDefinitionId] ForAnyOfAnyValues:GuidEquals`, false),
    term(kinds, `@${source}[${type}:PrincipalType] ForAnyOfAnyValues:StringEqualsIgnoreCase`, true),
    term(people, `@${source}[${type}:PrincipalId] ForAnyOfAnyValues:GuidEquals`, false),
  ].flatMap((one) => one ?? [])
  if (terms.length === 0) return undefined
  return `(\n  !(ActionMatches{'${type}/${action}'})\n  OR\n  (\n    ${terms.join('\n    AND\n    ')}\n  )\n)`
}

function term(values: readonly string[], test: string, isText: boolean): string | undefined {
  if (values.length === 0) return undefined
  return `${test} {${values.map((one) => (isText ? `'${one}'` : one)).join(', ')}}`
}
