/**
 * Sends requests to the business application of a test, as an administrator or as a caller with rights. Test
 * support only.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { refuse } from '#kernel/error.ts'
import type { Principal } from '#kernel/principal.ts'
import type { Version } from '../entity.ts'
import type { CallOut } from '../notifications/webhook-channel.ts'
import { createBusiness } from '../service.ts'
import { type BusinessFixture, fixtureNow } from './books.ts'

export type Json = Readonly<Record<string, unknown>>

export function caller(
  books: BusinessFixture,
  as?: string,
  given: {
    readonly signal?: AbortSignal
    readonly uuid?: () => string
    readonly isActive?: () => boolean
    readonly callOut?: CallOut
  } = {},
) {
  const { signal, uuid = randomUUID, isActive = () => true, callOut } = given
  const business = createBusiness({
    sql: books.sql,
    clock: { now: () => fixtureNow },
    ids: { uuid: () => uuid(), secret: () => 'x' },
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 412,
    groupsOf: async () => [],
    administers: async () => as === undefined,
    ...(callOut === undefined
      ? {}
      : { outbox: { wake() {}, mailSender: (address) => address, callOut } }),
  })
  return async (
    status: number,
    version: Version,
    method: string,
    path: string,
    body?: object,
    ifMatch = '*',
  ): Promise<Json> => {
    const [address = '', search = ''] = path.split('?')
    const principal: Principal = {
      id: as ?? randomUUID(),
      type: 'User',
      tenantId: 't',
      displayName: 'x',
      clientId: 'x',
      groups: [],
    }
    const answer = await business.handle({
      method,
      version,
      path: ['$batch', 'subscriptions'].includes(address)
        ? address
        : `companies(${books.companyId})/${address}`,
      search: encodeURI(search),
      headers: { 'content-type': 'application/json', 'if-match': ifMatch },
      body: body === undefined ? undefined : new TextEncoder().encode(JSON.stringify(body)),
      principal,
      async authorizeAgain() {
        if (!isActive()) throw refuse.AuthenticationFailed()
        return principal
      },
      correlationId: 'c0ffee',
      ...(signal === undefined ? {} : { signal }),
    })
    assert.equal(answer.status, status, `${method} ${path}: ${answer.body}`)
    return answer.body === undefined ? {} : JSON.parse(answer.body)
  }
}
