/** A deployment ends when its principal may no longer act: disabled, deleted, or without a role. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from '../until.ts'
import { type Application, createApplication, createResourceGroup, grant, roles } from './access.ts'
import { type Installation, startInstallation } from './installation.ts'

const ways: readonly {
  readonly name: string
  run(on: Installation, deployer: Application): Promise<{ readonly status: number }>
}[] = [
  {
    name: 'disabled',
    run: (on, { principalId }) =>
      on.request('PATCH', `/directory/servicePrincipals/${principalId}`, {
        body: { enabled: false },
      }),
  },
  {
    name: 'deleted',
    run: (on, { principalId }) =>
      on.request('DELETE', `/directory/servicePrincipals/${principalId}`),
  },
]

const identities = 'providers/Vendor.ManagedIdentity/userAssignedIdentities'

test('a deployment makes nothing more once its deployer was disabled or deleted', async (t) => {
  await using on = await startInstallation({ environment: { ARMATURE_CONTAINERS: 'simulated' } })
  for (const { name, run } of ways) {
    await t.test(name, async () => {
      const group = `/subscriptions/${on.subscriptionId}/resourceGroups/${name}`
      await createResourceGroup(on, group)
      const deployer = await createApplication(on, name)
      await grant(on, group, roles.contributor, deployer.principalId)
      const deployment = `${group}/providers/Vendor.Resources/deployments/slow?api-version=2021-04-01`
      const { token } = deployer
      const begun = await on.request('PUT', deployment, { body: slowThenIdentity, token })
      assert.equal(begun.status, 201, begun.text)
      const waiting = deployment.replace('slow', 'waiting')
      assert.equal((await on.request('PUT', waiting, { body: waitsForTag, token })).status, 201)
      const waited = `${group}/${identities}/waited?api-version=2023-01-31`
      await until(async () => (await on.request('GET', waited)).status === 200, 100)
      const gone = await run(on, deployer)
      assert.ok(gone.status < 300, `${gone.status}`)
      for (const path of [deployment, waiting]) {
        await until(async () => {
          const state = (await on.request('GET', path)).at('properties.provisioningState')
          return ['Succeeded', 'Failed', 'Canceled'].includes(String(state))
        }, 100)
      }
      const shown = await on.request('GET', waiting)
      assert.equal(shown.at('properties.provisioningState'), 'Failed', shown.text)
      const identity = `${group}/${identities}/after`
      const made = await on.request('GET', `${identity}?api-version=2023-01-31`)
      assert.equal(made.status, 404, 'made for somebody who may do nothing any more')
    })
  }
})

/** Waits for a tag that nobody sets. */
const waitsForTag = {
  properties: {
    mode: 'Incremental',
    template: {
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      languageVersion: '2.0',
      resources: {
        waited: {
          type: 'Vendor.ManagedIdentity/userAssignedIdentities',
          apiVersion: '2023-01-31',
          name: 'waited',
          location: 'local',
          tags: { state: 'made' },
          '@options': {
            waitUntil: ["[lambda('r', equals(lambdaVariables('r').tags.state, 'x'))]", 'PT1H'],
          },
        },
      },
    },
  },
}

const slowThenIdentity = {
  properties: {
    mode: 'Incremental',
    template: {
      $schema: 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
      contentVersion: '1.0.0.0',
      resources: [
        {
          type: 'Vendor.ContainerInstance/containerGroups',
          apiVersion: '2025-09-01',
          name: 'slow',
          location: 'local',
          properties: {
            osType: 'Linux',
            restartPolicy: 'Never',
            initContainers: [
              {
                name: 'wait',
                properties: {
                  image: 'any',
                  environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'exit:0@5s' }],
                },
              },
            ],
            containers: [
              {
                name: 'one',
                properties: {
                  image: 'any',
                  resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
                },
              },
            ],
          },
        },
        {
          type: 'Vendor.ManagedIdentity/userAssignedIdentities',
          apiVersion: '2023-01-31',
          name: 'after',
          location: 'local',
          dependsOn: ["[resourceId('Vendor.ContainerInstance/containerGroups', 'slow')]"],
        },
      ],
    },
  },
}
