/**
 * Published sign-in libraries, unmodified, against a started installation: those of the family and those of the
 * standard. They require TLS, for which the installation has its own certificate.
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
      // The default client id of the family's credentials.
      const published = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'
      const words = ['application', 'create', '--public', '--name', 'Published command line']
      const registered = await cli([...words, '--client-id', published])
      assert.equal(registered.code, 0, registered.error)
      return {}
    },
  }))
