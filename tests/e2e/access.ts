/** Principals and grants for tests, created as any client would create them, without shortcuts. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { type Answer, type Attached, type Credentials, clientToken } from './installation.ts'

export const roles = {
  owner: '8e3af657-a8ff-443c-a75c-2fe8c4bcb635',
  contributor: 'b24988ac-6180-42a0-ab88-20f7382dd24c',
  reader: 'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  userAccessAdministrator: '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9',
}

const version = 'api-version=2022-04-01'

export interface Application extends Credentials {
  readonly principalId: string
  readonly token: string
}

export async function createApplication(
  installation: Attached,
  name: string,
): Promise<Application> {
  const body = { displayName: name }
  const made = await installation.request('POST', '/directory/servicePrincipals', { body })
  assert.equal(made.status, 201, made.text)
  const credentials = {
    clientId: String(made.at('clientId')),
    clientSecret: String(made.at('clientSecret')),
  }
  const token = await clientToken(installation.url, credentials)
  return { principalId: String(made.at('principalId')), ...credentials, token }
}

export async function createUser(installation: Attached, name: string): Promise<string> {
  const body = { displayName: name, signInName: name }
  const made = await installation.request('POST', '/directory/users', { body })
  assert.equal(made.status, 201, made.text)
  return String(made.at('principalId'))
}

export async function createGroup(installation: Attached, name: string): Promise<string> {
  const body = { displayName: name }
  const made = await installation.request('POST', '/directory/groups', { body })
  assert.equal(made.status, 201, made.text)
  return String(made.at('principalId'))
}

export async function addMember(
  installation: Attached,
  group: string,
  member: string,
): Promise<void> {
  const added = await installation.request('PUT', `/directory/groups/${group}/members/${member}`)
  assert.equal(added.status, 204, added.text)
}

export async function removeMember(
  installation: Attached,
  group: string,
  member: string,
): Promise<void> {
  const removed = await installation.request(
    'DELETE',
    `/directory/groups/${group}/members/${member}`,
  )
  assert.equal(removed.status, 204, removed.text)
}

/** The path of an assignment, with its version. The root scope is the empty string. */
export function assignmentPath(scope: string, name: string = randomUUID()): string {
  return `${scope}/providers/Vendor.Authorization/roleAssignments/${name}?${version}`
}

export function roleId(role: string): string {
  return `/providers/Vendor.Authorization/roleDefinitions/${role}`
}

/** Grants a role, and returns the id of the assignment. */
export async function grant(
  installation: Attached,
  scope: string,
  role: string,
  principalId: string,
): Promise<string> {
  const body = { properties: { principalId, roleDefinitionId: roleId(role) } }
  const made = await installation.request('PUT', assignmentPath(scope), { body })
  assert.equal(made.status, 201, made.text)
  return String(made.at('id'))
}

export async function revoke(installation: Attached, assignmentId: string): Promise<void> {
  const gone = await installation.request('DELETE', `${assignmentId}?${version}`)
  assert.equal(gone.status, 200, gone.text)
}

export async function createResourceGroup(
  installation: Attached,
  path: string,
  token?: string,
): Promise<Answer> {
  const answer = await installation.request('PUT', `${path}?api-version=2021-04-01`, {
    body: { location: 'local' },
    ...(token === undefined ? {} : { token }),
  })
  return answer
}

/** Asserts a refusal of the manager's error family with every property that the contract names. */
export function assertRefused(answer: Answer, status: number, code: string, target?: string): void {
  assert.equal(`${answer.status} ${answer.at('error.code')}`, `${status} ${code}`, answer.text)
  assert.deepEqual(Object.keys(Object(answer.body)), ['error'])
  assert.equal(typeof answer.at('error.message'), 'string')
  assert.notEqual(answer.at('error.message'), '')
  if (target !== undefined) assert.equal(answer.at('error.target'), target, answer.text)
  const known = new Set(['code', 'message', 'target', 'details', 'additionalInfo'])
  for (const key of Object.keys(Object(answer.at('error')))) {
    assert.ok(known.has(key), `${key} is no member of an error: ${answer.text}`)
  }
}

/** Well-formed, about an attribute that requests for role assignments have. */
export const conditionText =
  "@Request[Vendor.Authorization/roleAssignments:PrincipalType] StringEqualsIgnoreCase 'User'"

/** A valid body for an unknown principal. Its type is given, as for a principal that was just created. */
export function bodyOf(properties: Readonly<Record<string, unknown>> = {}): {
  readonly properties: Readonly<Record<string, unknown>>
} {
  return {
    properties: {
      principalId: randomUUID(),
      principalType: 'User',
      roleDefinitionId: roleId(roles.reader),
      ...properties,
    },
  }
}

/** Requests about role assignments to an installation. */
export interface AssignmentCalls {
  put(path: string, body: unknown, token?: string): Promise<Answer>
  get(path: string): Promise<Answer>
  /** Creates an assignment at a scope, and returns it with its request. */
  created(scope: string, properties?: Readonly<Record<string, unknown>>): Promise<CreatedAssignment>
}

interface CreatedAssignment {
  readonly path: string
  readonly body: ReturnType<typeof bodyOf>
  readonly made: Answer
  readonly id: string
}

export function assignmentCalls(on: Attached): AssignmentCalls {
  const put: AssignmentCalls['put'] = (path, body, token) =>
    on.request('PUT', path, { body, ...(token === undefined ? {} : { token }) })
  return {
    put,
    get: (path) => on.request('GET', path),
    async created(scope, properties) {
      const path = assignmentPath(scope)
      const body = bodyOf(properties)
      const made = await put(path, body)
      assert.equal(made.status, 201, made.text)
      return { path, body, made, id: String(made.at('id')) }
    },
  }
}
