/** Requests that the suites of service health send. */

import assert from 'node:assert/strict'
import { ApiError } from '#kernel/error.ts'
import { events, type Started, subscription, type Wire } from './start.ts'

export const vault = `${subscription}/resourceGroups/rg/providers/Vendor.Secrets/vaults/v`

export const incident = {
  eventType: 'ServiceIssue',
  title: 'Vaults answer slowly',
  eventLevel: 'Warning',
  impact: [{ impactedService: 'Secrets', impactedRegions: [{ impactedRegion: 'West US' }] }],
}

export async function publish(started: Started, name: string, properties: object = {}, at = '') {
  return started.post(`${at}${events}/${name}/publish`, {
    properties: { ...incident, ...properties },
  })
}

export async function refused(
  work: Promise<unknown>,
  code: string,
  status: number,
): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, String(error))
  assert.equal(error.code, code, error.message)
  assert.equal(error.status, status)
  return error
}

export const names = (items: readonly Wire[]): readonly string[] => items.map((one) => one.name)
