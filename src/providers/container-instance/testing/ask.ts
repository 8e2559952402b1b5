/** Requests that several tests of groups send. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import { groupToken } from '../domain/groups/group-index.ts'
import { base, type Shown, type Started } from './start.ts'

export const groups = `${base}/containerGroups`

/** The operation on a group has ended, well or badly. */
export const done = (group: Shown): boolean =>
  ['Succeeded', 'Failed'].includes(group.properties.provisioningState)

/** The engine's name of a group. */
export async function tokenOf(started: Started, name: string): Promise<string> {
  const id = parseResourceId(`${groups}/${name}`)
  assert.ok(id)
  const group = await started.plane.reader.get(id)
  assert.ok(group)
  return groupToken(group)
}

/** Expects a refusal with this code. */
export async function refused(
  work: Promise<unknown>,
  status: number,
  code: string,
): Promise<ApiError> {
  try {
    await work
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error))
    assert.deepEqual([error.status, error.code], [status, code])
    return error
  }
  throw new Error(`not refused with ${code}`)
}
