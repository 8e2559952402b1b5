/** Where containers publish their ports, and whether a browser takes that for the server. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readConfig } from '../config.ts'
import { ownPorts, shareCookies } from './containers.ts'

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

test('addresses are compared however they are written, and a listener of http beside https counts', () => {
  for (const [environment, shared] of [
    [{ ARMATURE_CONTAINERS_ADDRESS: '2001:0db8:0:0:0:0:0:1', ARMATURE_HOST: '2001:db8::1' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '::ffff:192.0.2.7', ARMATURE_HOST: '192.0.2.7' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '0:0:0:0:0:0:0:0', ARMATURE_HOST: '192.0.2.7' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '::ffff:127.0.0.1' }, true],
    [{ ARMATURE_CONTAINERS_ADDRESS: '::ffff:127.0.0.2', ARMATURE_HOST: '0.0.0.0' }, false],
    [
      {
        ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7',
        ARMATURE_HOST: '192.0.2.7',
        ARMATURE_PUBLIC_URL: 'https://armature.example',
      },
      true,
    ],
    [
      {
        ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7',
        ARMATURE_HOST: '0.0.0.0',
        ARMATURE_PUBLIC_URL: 'https://armature.example',
      },
      true,
    ],
    [{ ARMATURE_HOST: '0.0.0.0', ARMATURE_PUBLIC_URL: 'https://armature.example' }, false],
  ] as const) {
    const config = read({ ARMATURE_CONTAINERS: 'simulated', ...environment })
    assert.equal(shareCookies(config), shared, JSON.stringify(environment))
  }
})

test('the ports of the server are kept from containers where both would meet', () => {
  for (const [environment, kept] of [
    [{}, []],
    [{ ARMATURE_HOST: '0.0.0.0' }, [8900]],
    [{ ARMATURE_HOST: '::', ARMATURE_PORT: '9000' }, [9000]],
    [{ ARMATURE_HOST: '0.0.0.0', ARMATURE_PORT: '0' }, []],
    [{ ARMATURE_HOST: '192.0.2.8', ARMATURE_CONTAINERS_ADDRESS: '192.0.2.7' }, []],
    [{ ARMATURE_CONTAINERS_ADDRESS: '::ffff:127.0.0.1' }, [8900]],
    [{ ARMATURE_CONTAINERS_ADDRESS: '0.0.0.0', ARMATURE_TLS: 'auto' }, [8900, 8943]],
    [{ ARMATURE_HOST: '192.0.2.8', ARMATURE_METRICS_ADDRESS: '0.0.0.0:9100' }, [9100]],
  ] as const) {
    const config = read({ ARMATURE_CONTAINERS: 'simulated', ...environment })
    assert.deepEqual(ownPorts(config), kept, JSON.stringify(environment))
  }
})
