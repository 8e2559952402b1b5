/** Where containers publish their ports, and whether a browser takes that for the server. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../config.ts'
import { shareCookies } from './containers.ts'

const read = (environment: Record<string, string>) =>
  readConfig({ environment, directory: '/nowhere' })

test('containers publish where the server is not, unless a setting says otherwise', () => {
  for (const [environment, shared] of [
    [{}, false],
    [{ ARMATURE_HOST: '0.0.0.0' }, false],
    [{ ARMATURE_CONTAINERS_ADDRESS: '127.0.0.1' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '127.0.0.1', ARMATURE_HOST: 'localhost' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '0.0.0.0' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7' }, false],
    [{ ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7', ARMATURE_HOST: '192.0.2.8' }, false],
    [{ ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7', ARMATURE_HOST: '::' }, true],
    [
      { ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7', ARMATURE_PUBLIC_URL: 'http://192.0.2.7:8900' },
      true,
    ],
    [
      { ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7', ARMATURE_PUBLIC_URL: 'https://192.0.2.7:8900' },
      false,
    ],
    [
      { ARMATURE_CONTAINERS_ADDRESS: '2001:db8::1', ARMATURE_PUBLIC_URL: 'http://[2001:db8::1]' },
      true,
    ],
  ] as const) {
    const config = read({ ARMATURE_CONTAINERS: 'simulated', ...environment })
    assert.equal(shareCookies(config), shared, JSON.stringify(environment))
  }
})
