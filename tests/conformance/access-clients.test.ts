/** Published typed clients: subscriptions, groups, roles, locks and identities. */

import { test } from 'node:test'
import { runClientTest } from './published.ts'

test('typed clients of groups, roles, locks and identities', (t) =>
  runClientTest(t, {
    file: import.meta.filename,
    programs: ['access.mjs'],
    packages: [
      '@azure/arm-authorization',
      '@azure/arm-locks',
      '@azure/arm-msi',
      '@azure/arm-resources',
      '@azure/arm-resources-subscriptions',
    ],
  }))
