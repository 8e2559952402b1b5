/**
 * Texts on which a regular expression once started again from each character. With a million characters, a
 * quadratic one does not finish.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pdfAddress } from '../../src/business/documents/pdf-document.ts'
import { messageAddress } from '../../src/business/outbox/message-address.ts'
import { createBusiness } from '../../src/business/service.ts'
import { mountPathProblem } from '../../src/engines/containers/safe-text.ts'
import { rewriteScope } from '../../src/identity/rewrite.ts'
import { parsePath } from '../../src/kernel/resource-id.ts'
import { readOpenApi } from '../../src/providers/api-management/domain/openapi/import.ts'
import { defaultContainerLimits } from '../../src/providers/container-instance/domain/limits.ts'
import { containerProblems } from '../../src/providers/container-instance/resources/container-groups/rules/containers.ts'

const count = 1_000_000
const slashes = `${'/'.repeat(count)}x`

test('a scope of slashes', () => {
  const scope = `${slashes}/.default`
  assert.equal(rewriteScope(scope, { audience: 'https://here/', aliases: [] }), scope)
})

test('a mount path of slashes', () => {
  assert.match(mountPathProblem(slashes) ?? '', /more than 1024/)
})

test('a path whose scope is encoded', () => {
  assert.equal(parsePath(`/${'%2F'.repeat(count)}`).kind, 'malformed')
  assert.equal(parsePath(`/${'%2F'.repeat(count)}/x`).kind, 'malformed')
})

test('addresses of files below documents, begun again and again', () => {
  const start = '/outboxEntries('
  assert.equal(messageAddress({ path: `a${start.repeat(count / 10)}` }), undefined)
  assert.equal(messageAddress({ path: `a${start}1)/content` }), `a${start}1)`)
  assert.equal(pdfAddress({ path: `a${'/pdfDocument('.repeat(count / 10)}` }), undefined)
})

test('the name of an operation of an API', () => {
  const get = { operationId: `a${'-'.repeat(count)}b`, responses: { 200: { description: '' } } }
  const info = { title: 't', version: '1' }
  const read = readOpenApi(JSON.stringify({ openapi: '3.0.1', info, paths: { '/a': { get } } }))
  assert.equal(typeof read, 'object', String(read))
})

test('a profile of system calls', () => {
  const container = {
    list: 'containers',
    at: 0,
    name: 'a',
    properties: {
      image: 'a',
      resources: { requests: { cpu: 1, memoryInGB: 1 } },
      securityContext: { seccompProfile: `${' '.repeat(count)}!` },
    },
  }
  // Other rules are not tested here.
  const group = { properties: { containers: [container] } } as never
  const problems = containerProblems(group, defaultContainerLimits, {
    seal: undefined as never,
    allowedRegistries: [],
  })
  assert.ok(problems.some(({ message }) => message.includes('expected base64')))
})

test('the path of a business request that is refused', async () => {
  const noted: string[] = []
  const business = createBusiness({
    sql: undefined as never,
    clock: { now: () => 0 },
    ids: { uuid: () => 'x', secret: () => 'x' },
    namespace: 'Vendor',
    publicUrl: () => 'http://host',
    conflictStatus: 412,
    groupsOf: async () => [],
    administers: async () => true,
    activity: { note: ({ action }) => void noted.push(action) },
  })
  const principal = { id: 'x', tenantId: 't', displayName: 'x', clientId: 'x', groups: [] }
  const answer = await business.handle({
    method: 'POST',
    version: 'v2.0',
    path: `${'A'.repeat(count)}!`,
    search: '',
    headers: {},
    body: Buffer.from('{}'),
    principal: { ...principal, type: 'User' },
    correlationId: 'c0ffee',
  })
  assert.equal(answer.status, 400)
  assert.deepEqual(noted, ['Vendor.Business/requests/write'])
})
