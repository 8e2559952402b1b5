/** A two-container group on a real engine: a web server, and a sidecar that calls it over localhost. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DockerEngine } from '#engines/containers/docker/docker-engine.ts'
import { startPodman, testImage, whyNoPodman } from '#engines/containers/testing/podman.ts'
import { startRegistry } from '#engines/containers/testing/registry.ts'
import { requireOrSkip } from '../../../../../tests/require.ts'
import { base, type Shown, type Started, startContainers } from '../../testing/start.ts'

const path = `${base}/containerGroups/real`

const server =
  'echo "hello $WHO $TOKEN $(cat /secrets/key) $(cat /mnt/configmap/web/mode)" > /shared/index.html; httpd -p 8080 -h /shared; while true; do sleep 1; done'
const caller = 'while true; do wget -q -O - http://127.0.0.1:8080/index.html; sleep 1; done'

const group = (who: string) => ({
  location: 'here',
  properties: {
    osType: 'Linux',
    initContainers: [
      {
        name: 'prepare',
        properties: {
          image: testImage,
          command: ['sh', '-c', 'echo made > /shared/made'],
          volumeMounts: [{ name: 'shared', mountPath: '/shared' }],
        },
      },
    ],
    containers: [
      {
        name: 'web',
        properties: {
          image: testImage,
          command: ['sh', '-c', `trap 'exit 0' TERM; ${server}`],
          environmentVariables: [
            { name: 'WHO', value: who },
            { name: 'TOKEN', secureValue: 'token-1' },
          ],
          ports: [{ port: 8080 }],
          resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
          volumeMounts: [
            { name: 'shared', mountPath: '/shared' },
            { name: 'files', mountPath: '/secrets' },
          ],
          configMap: { keyValuePairs: { mode: 'fast' } },
          livenessProbe: { httpGet: { port: 8080, path: '/index.html' }, periodSeconds: 1 },
        },
      },
      {
        name: 'sidecar',
        properties: {
          image: testImage,
          command: ['sh', '-c', `trap 'exit 0' TERM; ${caller}`],
          resources: { requests: { cpu: 0.5, memoryInGB: 0.1 } },
        },
      },
    ],
    ipAddress: { type: 'Public', ports: [{ port: 8080 }] },
    volumes: [
      { name: 'shared', emptyDir: {} },
      { name: 'files', secret: { key: Buffer.from('file-1').toString('base64') } },
    ],
  },
})

const ended = (one: Shown) => ['Succeeded', 'Failed'].includes(one.properties.provisioningState)

test('made, called over localhost, updated, stopped, started, deleted', async (t) => {
  const podman = await startPodman()
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  await using started = await startContainers({
    engine: () => new DockerEngine({ target: podman.target, installation: 'group-test' }),
  })
  const logs = async (container: string): Promise<string> => {
    const answer = await started.call('GET', `${path}/containers/${container}/logs`)
    // The answer of `logs`.
    return (answer.body as { content: string }).content
  }
  const says = async (text: string): Promise<void> => {
    for (let looks = 0; looks < 300; looks++) {
      if ((await logs('sidecar')).includes(text)) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.fail(`the sidecar never said ${text}: ${await logs('sidecar')}`)
  }

  assert.equal((await started.call('PUT', path, group('ada'))).status, 201)
  const made = await started.until('real', ended)
  assert.equal(made.properties.provisioningState, 'Succeeded', JSON.stringify(made))
  assert.equal(made.properties.instanceView.state, 'Running')
  assert.deepEqual(made.properties.instanceView.events, [])
  await says('hello ada token-1 file-1 fast')

  const beside = await started.call('PUT', `${path}-two`, group('eve'))
  assert.equal(beside.status, 201)
  const second = await started.until('real-two', ended)
  assert.equal(second.properties.provisioningState, 'Succeeded', JSON.stringify(second))
  const mapped = second.properties.instanceView.events.find((one) => one.name === 'PortMapped')
  const address = /127\.0\.0\.1:\d+/.exec(mapped?.message ?? '')?.[0]
  assert.ok(address, 'the taken port is mapped to another')
  assert.match(await heard(`http://${address}/`), /hello eve/)
  await started.call('DELETE', `${path}-two`)

  const startsOf = (one: typeof made): readonly unknown[] =>
    one.properties.containers.map((each) => each.properties.instanceView?.currentState['startTime'])
  await started.call('PUT', path, group('ada'))
  const same = await started.until('real', ended)
  // It writes secrets, so its tag changes in any case, but its containers keep running.
  assert.deepEqual(startsOf(same), startsOf(made))

  await started.call('PUT', path, group('bob'))
  await started.until('real', ended)
  await says('hello bob')

  const [held] = await started.engine.list()
  const killing = await started.engine.exec(held?.group ?? '', 'sidecar', {
    command: ['kill', '-TERM', '1'],
  })
  for await (const _ of killing.output);
  await killing[Symbol.asyncDispose]()
  await started.until('real', (one) => {
    const view = one.properties.containers[1]?.properties.instanceView
    return (view?.restartCount ?? 0) > 0 && view?.currentState.state === 'Running'
  })

  await started.call('POST', `${path}/stop`)
  const stopped = await started.until('real', ended)
  assert.equal(stopped.properties.instanceView.state, 'Stopped')
  await started.call('POST', `${path}/start`)
  const running = await started.until('real', ended)
  assert.equal(running.properties.instanceView.state, 'Running')
  await says('hello bob')

  await burns(started)
  await started.call('DELETE', path)
  for (let looks = 0; looks < 600 && (await started.engine.list()).length > 0; looks++) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  assert.deepEqual(await started.engine.list(), [])
  await started.settle()
})

/** A container that burns its processor shows it in the published metrics, and another one does not. */
async function burns(started: Started): Promise<void> {
  const [held] = await started.engine.list()
  const burning = await started.engine.exec(held?.group ?? '', 'web', {
    command: ['sh', '-c', 'while true; do true; done'],
  })
  await started.metrics.measure()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await started.metrics.measure()
  await burning[Symbol.asyncDispose]()
  const names = 'CpuUsage,MemoryUsage,NetworkBytesReceivedPerSecond'
  const shown = await started.call(
    'GET',
    `${path}/providers/Vendor.Insights/metrics?metricnames=${names}&timespan=PT1H&aggregation=average,maximum&$filter=containerName%20eq%20%27*%27`,
    undefined,
    { version: '2018-01-01' },
  )
  // The answer of `metrics`.
  const { value } = shown.body as unknown as {
    value: {
      name: { value: string }
      timeseries: { metadatavalues: { value: string }[]; data: { maximum: number }[] }[]
    }[]
  }
  const most = (metric: string, container: string): number =>
    value
      .find(({ name }) => name.value === metric)
      ?.timeseries.find(({ metadatavalues }) => (metadatavalues[0]?.value ?? '') === container)
      ?.data.at(-1)?.maximum ?? Number.NaN
  const text = JSON.stringify(shown)
  assert.ok(most('CpuUsage', 'web') > 100, text)
  assert.ok(most('CpuUsage', 'sidecar') < most('CpuUsage', 'web'), text)
  assert.ok(most('MemoryUsage', 'web') > 100_000, text)
  assert.ok(most('NetworkBytesReceivedPerSecond', '') >= 0, text)
}

/** What the server answers once it listens: a container runs before its program does. */
async function heard(url: string): Promise<string> {
  for (let tries = 0; ; tries++) {
    const answer = await fetch(url).catch((error: unknown) => error)
    if (answer instanceof Response && answer.ok) return await answer.text()
    if (tries > 200) throw new Error(`${url} never answered`, { cause: answer })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

test('an image of a private registry: with the group’s credentials, and not without', async (t) => {
  const lacking = await whyNoPodman()
  if (!requireOrSkip(t, lacking === undefined, lacking ?? '')) return
  await using registry = await startRegistry('ann', 'hush-registry')
  const podman = await startPodman({ plainRegistry: registry.server })
  const reason = typeof podman === 'string' ? podman : ''
  if (!requireOrSkip(t, reason === '', reason) || typeof podman === 'string') return
  await using _podman = podman
  await using started = await startContainers({
    engine: () => new DockerEngine({ target: podman.target, installation: 'registry-test' }),
  })
  const body = (password: string) => ({
    location: 'here',
    properties: {
      osType: 'Linux',
      containers: [
        {
          name: 'one',
          properties: {
            image: registry.image,
            command: ['sh', '-c', 'trap "exit 0" TERM; while true; do busybox sleep 1; done'],
            resources: { requests: { cpu: 0.1, memoryInGB: 0.1 } },
          },
        },
      ],
      imageRegistryCredentials: [{ server: registry.server, username: 'ann', password }],
    },
  })
  await started.call('PUT', path, body('wrong'))
  const failed = await started.until('real', ended)
  assert.equal(failed.properties.provisioningState, 'Failed')
  assert.match(JSON.stringify(failed.properties.instanceView.events), /InaccessibleImage|Failed/)
  assert.ok(registry.refused() > 0, JSON.stringify(failed))

  assert.equal((await started.call('PUT', path, body('hush-registry'))).status, 200)
  const running = await started.until('real', ended)
  assert.equal(running.properties.provisioningState, 'Succeeded')
  assert.equal(running.properties.instanceView.state, 'Running')
  assert.ok(!JSON.stringify(running).includes('hush-registry'))
  assert.ok(!(await podman.podman('ps', '-a', '--format', 'json')).includes('hush-registry'))
  await started.call('DELETE', path)
  await started.settle()
})
