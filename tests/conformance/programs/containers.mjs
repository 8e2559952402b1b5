/** Container groups by the published typed client, on a real engine. */

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ContainerInstanceManagementClient } from '@azure/arm-containerinstance'
import { ResourceManagementClient } from '@azure/arm-resources'
import { given, runCases } from './cases.mjs'
import { all, credential, options, refused, subscriptionId } from './typed.mjs'

const group = 'containers'
const client = new ContainerInstanceManagementClient(credential, subscriptionId, options)
const resources = new ResourceManagementClient(credential, subscriptionId, options)
await resources.resourceGroups.createOrUpdate(group, { location: 'local' })

const body = {
  location: 'local',
  osType: 'Linux',
  restartPolicy: 'Never',
  containers: [
    {
      name: 'web',
      image: given.image,
      command: ['sh', '-c', 'echo "hello $WHO $(cat /secrets/key)"; while true; do sleep 1; done'],
      ports: [{ port: 8080 }],
      environmentVariables: [{ name: 'WHO', secureValue: 'you' }],
      volumeMounts: [{ name: 'files', mountPath: '/secrets' }],
      resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
    },
  ],
  volumes: [{ name: 'files', secret: { key: Buffer.from('file').toString('base64') } }],
  tags: { team: 'a' },
}

await runCases('container group', '@azure/arm-containerinstance', {
  async 'makes a group by a poller, reads it, its log and its lists'() {
    const poller = await client.containerGroups.beginCreateOrUpdate(group, 'web', body)
    const made = await poller.pollUntilDone()
    assert.equal(made.provisioningState, 'Succeeded')
    assert.equal(made.containers[0].image, given.image)
    assert.equal(made.containers[0].environmentVariables[0].secureValue, undefined)
    const again = await client.containerGroups.get(group, 'web')
    assert.equal(again.instanceView.state, 'Running')
    const { currentState } = again.containers[0].instanceView
    assert.equal(currentState.state, 'Running')
    assert.ok(currentState.startTime instanceof Date)
    let content = ''
    for (let looks = 0; looks < 50 && content === ''; looks++) {
      content = (await client.containers.listLogs(group, 'web', 'web', { tail: 5 })).content
    }
    assert.match(content, /^hello you file/)
    assert.equal((await all(client.containerGroups.list())).length, 1)
    assert.equal((await all(client.containerGroups.listByResourceGroup(group))).length, 1)
  },

  async 'changes tags, and gives the address of a shell'() {
    const changed = await client.containerGroups.update(group, 'web', { tags: { team: 'b' } })
    assert.deepEqual(changed.tags, { team: 'b' })
    const shell = await client.containers.executeCommand(group, 'web', 'web', {
      command: 'sh',
      terminalSize: { rows: 24, cols: 80 },
    })
    assert.match(shell.webSocketUri, /^wss:/)
    assert.ok(shell.password)
    assert.match((await client.containers.attach(group, 'web', 'web')).webSocketUri, /^wss:/)
  },

  async 'says what a location can do'() {
    assert.ok((await all(client.location.listUsage('local'))).length > 0)
    assert.ok((await all(client.location.listCapabilities('local'))).length > 0)
    await all(client.location.listCachedImages('local'))
    assert.ok(
      (await all(client.operations.list())).some(({ name }) => name.includes('containerGroups')),
    )
  },

  async 'refuses a body that is wrong, and says where'() {
    const wrong = { ...body, containers: [{ ...body.containers[0], name: 'UPPER' }] }
    await assert.rejects(
      client.containerGroups.beginCreateOrUpdateAndWait(group, 'x', wrong),
      (error) => {
        assert.equal(error.statusCode, 400)
        assert.match(error.message, /name/)
        return true
      },
    )
    await refused(client.containerGroups.get(group, 'nothing'), 404, 'ResourceNotFound')
  },
})

await runCases('long-running operations', '@azure/arm-containerinstance', {
  async 'stops, starts, restarts and deletes by pollers'() {
    await client.containerGroups.stop(group, 'web')
    for (;;) {
      const { instanceView } = await client.containerGroups.get(group, 'web')
      if (instanceView.state === 'Stopped') break
      await sleep(200)
    }
    await client.containerGroups.beginStartAndWait(group, 'web')
    assert.equal((await client.containerGroups.get(group, 'web')).instanceView.state, 'Running')
    await client.containerGroups.beginRestartAndWait(group, 'web')
    await client.containerGroups.beginDeleteAndWait(group, 'web')
    await refused(client.containerGroups.get(group, 'web'), 404, 'ResourceNotFound')
  },
})

process.exit(0)
