/** What the programs of typed clients share: a credential, the options that point a client here, and usual checks. */

import assert from 'node:assert/strict'
import { ClientSecretCredential } from '@azure/identity'
import { given, scope, tenantId, url } from './cases.mjs'

export const { subscriptionId, principalId } = given

export const credential = new ClientSecretCredential(tenantId, given.clientId, given.clientSecret, {
  authorityHost: url,
  disableInstanceDiscovery: true,
})

/** `$host` is the option of generated clients of an older generation. */
export const options = { endpoint: url, credentialScopes: [scope] }

export async function all(pages) {
  const items = []
  for await (const item of pages) items.push(item)
  return items
}

/** The error of the library, with the status and the code that the server gave. */
export function refused(promise, statusCode, code) {
  return assert.rejects(promise, (error) => {
    assert.equal(error.name, 'RestError', error.stack)
    assert.deepEqual([error.statusCode, error.code], [statusCode, code])
    return true
  })
}
