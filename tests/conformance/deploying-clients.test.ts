/** Published typed clients: deployments, API management, and consent by the identity server of the installation. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runClientTest } from './published.ts'

test('typed clients of deployments and API management', (t) =>
  runClientTest(t, {
    file: import.meta.filename,
    programs: ['deploying.mjs'],
    packages: [
      '@azure/arm-apimanagement',
      '@azure/arm-resources',
      '@azure/arm-resourcesdeployments',
    ],
    async prepare({ httpsUrl, cli }) {
      const words = ['application', 'create', '--name', 'consent', '--json']
      const made = await cli([...words, '--redirect-uri', `${httpsUrl}/consent/callback`])
      assert.equal(made.code, 0, made.error)
      return { consent: JSON.parse(made.out) }
    },
  }))
