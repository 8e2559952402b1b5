/**
 * Published sign-in libraries, unmodified, against a started installation: those of the family, and the standard's. They
 * insist on TLS, which the installation has by a certificate of its own.
 */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runClientTest } from './published.ts'

test('published sign-in libraries sign in', (t) =>
  runClientTest(t, {
    file: import.meta.filename,
    programs: ['sign-in.mjs', 'openid.mjs'],
    packages: ['@azure/identity', '@azure/msal-node', 'openid-client', 'oauth4webapi'],
    async prepare({ cli }) {
      // The id that the family's credentials use when they are given none.
      const published = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'
      const words = ['application', 'create', '--public', '--name', 'Published command line']
      const registered = await cli([...words, '--client-id', published])
      assert.equal(registered.code, 0, registered.error)
      return {}
    },
  }))
