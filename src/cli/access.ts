/** Reads and prints answers of `checkAccess`. */

import { textOf } from '#client/answer.ts'
import type { Client } from '#client/client.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { Column } from './output/table.ts'
import { apiVersions, extensionPath } from './resource-path.ts'
import { lastPart, listRoles } from './roles.ts'

/** An action with the assignment that allows it, or with one that nearly does. */
interface AccessLine {
  readonly action: string
  readonly decision: string
  readonly reason: string
  readonly role: string
  readonly scope: string
  readonly assignment: string
}

interface AccessQuestion {
  readonly scope: string
  readonly actions: readonly string[]
  readonly principalId?: string | undefined
  /** The attributes of the checked body. */
  readonly request?: unknown
}

/** The answers as the server gave them. */
export async function askAccess(
  client: Client,
  words: VendorWords,
  { scope, actions, principalId, request }: AccessQuestion,
): Promise<readonly unknown[]> {
  const { body } = await client.request(
    'POST',
    extensionPath(words, scope, 'Authorization/checkAccess'),
    {
      query: { 'api-version': apiVersions.roleAssignments },
      body: {
        actions,
        ...(principalId === undefined ? {} : { principalId }),
        ...(request === undefined ? {} : { request }),
      },
    },
  )
  return listOf(body, 'value')
}

export async function accessLines(
  client: Client,
  words: VendorWords,
  scope: string,
  answers: readonly unknown[],
): Promise<readonly AccessLine[]> {
  const roles = await listRoles(client, words, scope).catch((error: unknown) => {
    // A caller who may not list roles still sees their ids.
    if (error instanceof Error && 'status' in error && error.status === 403) return []
    throw error
  })
  const names = new Map(roles.map((role) => [lastPart(role.id), role.roleName]))
  return answers.flatMap((answer) => {
    if (!isJsonObject(answer)) return []
    const action = textOf(answer, 'action') ?? ''
    const decision = textOf(answer, 'accessDecision') ?? ''
    const nearest = Array.isArray(answer['nearest']) ? answer['nearest'] : []
    const found = answer['roleAssignment'] === undefined ? nearest : [answer['roleAssignment']]
    const rows = found.map((one): AccessLine => {
      const role = lastPart(textOf(one, 'roleDefinitionId') ?? '')
      const detail = textOf(one, 'detail')
      const reason = textOf(one, 'reason') ?? ''
      return {
        action,
        decision,
        reason: detail === undefined ? reason : `${reason}: ${detail}`,
        role: names.get(role) ?? role,
        scope: textOf(one, 'scope') ?? '',
        assignment: lastPart(textOf(one, 'roleAssignmentId') ?? ''),
      }
    })
    const denial = answer['denyAssignment']
    if (denial !== undefined) {
      const name = textOf(denial, 'denyAssignmentName') ?? ''
      const at = textOf(denial, 'scope') ?? ''
      const assignment = lastPart(textOf(denial, 'denyAssignmentId') ?? '')
      const reason = `denied by the deny assignment '${name}'`
      return [{ action, decision, reason, role: '', scope: at, assignment }]
    }
    if (rows.length > 0) return rows
    const reason = 'no role assignment comes near'
    return [{ action, decision, reason, role: '', scope: '', assignment: '' }]
  })
}

export const accessColumns: readonly Column<AccessLine>[] = [
  { title: 'DECISION', of: (line) => line.decision },
  { title: 'ACTION', of: (line) => line.action },
  { title: 'ROLE', of: (line) => line.role },
  { title: 'AT', of: (line) => line.scope },
  { title: 'BECAUSE', of: (line) => line.reason },
]
