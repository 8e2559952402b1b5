/**
 * A guarded installation gets inner addresses through every way it has. A canary listens on loopback: it is never
 * called, and callers get the same answer for its port and for a closed one.
 */

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closedPort, type LocalServer, localServer } from '#outbound/testing/ways.ts'
import { createResourceGroup } from './access.ts'
import { type Answer, type Installation, startInstallation } from './installation.ts'

let installation: Installation
let canary: LocalServer
let closed: number
let group: string

before(async () => {
  canary = await localServer((_, response) => response.writeHead(403).end('the canary sings'))
  closed = await closedPort()
  const origins = [canary.port, closed].map((port) => `http://127.0.0.1:${port}/t/`)
  installation = await startInstallation({
    environment: {
      // With a public address it guards itself, since others reach it.
      ARMATURE_PUBLIC_URL: 'http://armature.example',
      ARMATURE_CONTAINERS: 'simulated',
      ARMATURE_TEMPLATE_LINKS: origins.join(),
    },
  })
  group = `/subscriptions/${installation.subscriptionId}/resourceGroups/outbound`
  await createResourceGroup(installation, group)
})
after(async () => {
  await installation[Symbol.asyncDispose]()
  await canary[Symbol.asyncDispose]()
})

const send = (path: string, version: string, body: object): Promise<Answer> =>
  installation.request('PUT', `${group}/providers/${path}?api-version=${version}`, { body })

/** Polls until the answer contains `wanted`. */
async function shown(path: string, version: string, wanted: RegExp): Promise<string> {
  for (let looks = 0; looks < 300; looks++) {
    const url = `${group}/providers/${path}?api-version=${version}`
    const { text } = await installation.request('GET', url)
    if (wanted.test(text)) return text
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`'${wanted}' never came`)
}

interface Door {
  readonly name: string
  /** What a caller is finally told about this port. */
  told(host: string, port: number): Promise<string>
}

let count = 0
const doors: readonly Door[] = [
  {
    name: 'the git volume of a container group',
    async told(host, port) {
      const path = `Vendor.ContainerInstance/containerGroups/g${++count}`
      const gitRepo = { repository: `http://${host}:${port}/x`, directory: '.' }
      const made = await send(path, '2025-09-01', {
        location: 'local',
        properties: {
          osType: 'Linux',
          volumes: [{ name: 'code', gitRepo }],
          containers: [
            {
              name: 'web',
              properties: {
                image: 'registry.example/web:1',
                resources: { requests: { cpu: 1, memoryInGB: 1 } },
                volumeMounts: [{ name: 'code', mountPath: '/code' }],
              },
            },
          ],
        },
      })
      assert.equal(made.status, 201, made.text)
      const text = await shown(path, '2025-09-01', /is not available/)
      return /"message":"([^"]*is not available[^"]*)"/.exec(text)?.[1] ?? ''
    },
  },
  {
    name: 'a registered PostgreSQL server',
    async told(host, port) {
      const path = `Vendor.DBforPostgreSQL/flexibleServers/server${++count}`
      const made = await send(path, '2025-08-01', {
        location: 'local',
        properties: {
          // Here the host is given without brackets.
          fullyQualifiedDomainName: host.replace(/[[\]]/g, ''),
          port,
          administratorLogin: 'postgres',
          administratorLoginPassword: 'secret-1',
        },
      })
      assert.ok([200, 201, 202].includes(made.status), made.text)
      const text = await shown(path, '2025-08-01', /stateReason/)
      return /"stateReason":"([^"]*)"/.exec(text)?.[1] ?? ''
    },
  },
  {
    name: 'the token endpoint of an identity provider',
    async told(host, port) {
      const service = `Vendor.ApiManagement/service/one`
      await send(service, '2024-05-01', {
        location: 'local',
        sku: { name: 'Developer' },
        properties: { publisherEmail: 'a@example.test', publisherName: 'A' },
      })
      const provider = `${service}/authorizationProviders/p${++count}`
      const clientCredentials = {
        clientId: 'a',
        clientSecret: 'secret-1',
        tokenUrl: `http://${host}:${port}/token`,
      }
      const oauth2 = { grantTypes: { clientCredentials } }
      const made = await send(provider, '2024-05-01', {
        properties: { identityProvider: 'oauth2', oauth2 },
      })
      assert.equal(made.status, 200, made.text)
      const connected = await send(`${provider}/authorizations/me`, '2024-05-01', {
        properties: {},
      })
      return String(connected.at('properties.error.message'))
    },
  },
  {
    name: 'the link of a template',
    async told(host, port) {
      const refused = await send(`Vendor.Resources/deployments/d${++count}`, '2025-03-01', {
        properties: { mode: 'Incremental', templateLink: { uri: `http://${host}:${port}/t/a` } },
      })
      assert.equal(refused.at('error.code'), 'InvalidContentLink', refused.text)
      return String(refused.at('error.message'))
    },
  },
]

describe('a guarded installation', () => {
  for (const { name, told } of doors) {
    test(`${name}: inner addresses are not asked, and tell nothing`, async () => {
      const words = new Set<string>()
      for (const port of [canary.port, closed]) {
        for (const host of ['127.0.0.1', '2130706433', '[::ffff:127.0.0.1]']) {
          // Links are compared as addresses, and the list spells them one way.
          if (host.startsWith('[') && name.includes('template')) continue
          const message = await told(host, port)
          assert.match(message, /must not be asked from here/)
          assert.doesNotMatch(message, /ECONN|refused|sings|\b403\b/)
          words.add(message.replaceAll(/g\d+|'[^']*'/g, 'IT').replaceAll(/\S*:\d+\S*/g, 'THERE'))
        }
      }
      assert.equal(words.size, 1, [...words].join('\n'))
      assert.deepEqual(canary.requests, [])
    })
  }

  test('the operator’s log says which address it was', () => {
    assert.match(installation.log(), /127\.0\.0\.1 is a loopback address/)
  })
})
