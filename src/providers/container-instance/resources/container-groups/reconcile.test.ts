/** Groups through a real plane over the simulated engine: what a user sees from PUT to DELETE. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SimulatedEngine } from '#engines/containers/simulated/simulated-engine.ts'
import { done, groups, refused, tokenOf } from '../../testing/ask.ts'
import { body, type Shown, startContainers, web } from '../../testing/start.ts'

const part = (group: Shown, name = 'web') => {
  const found = group.properties.containers.find((one) => one.name === name)
  assert.ok(found?.properties.instanceView, `${name} has no view`)
  return found.properties.instanceView
}
const eventNames = (group: Shown, name = 'web') => part(group, name).events.map((one) => one.name)

describe('the life of a group', () => {
  test('PUT: 201, Pending, an operation; then running, with events, and honest about itself', async () => {
    await using started = await startContainers()
    const made = await started.call('PUT', `${groups}/one`, body())
    assert.equal(made.status, 201)
    // The answer of a group.
    const answer = made.body as unknown as Shown
    assert.equal(answer.properties.provisioningState, 'Pending')
    assert.equal(answer.properties.instanceView.state, 'Pending')
    assert.equal(made.operation?.retryAfterSeconds, 1)
    const group = await started.until('one', done)
    assert.equal(group.properties.provisioningState, 'Succeeded')
    assert.equal(group.properties.instanceView.state, 'Running')
    assert.deepEqual(
      group.properties.instanceView.events.map((one) => one.name),
      ['Simulated'],
    )
    assert.deepEqual(eventNames(group), ['Pulling', 'Pulled', 'Created', 'Started'])
    assert.equal(part(group).currentState.state, 'Running')
    assert.match(String(part(group).currentState['startTime']), /^\d{4}-.*Z$/)
  })

  test('DELETE: 200 with the group, then 404, and the engine holds nothing', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    assert.ok((await started.engine.list()).length > 0)
    const gone = await started.call('DELETE', `${groups}/one`)
    assert.equal(gone.status, 200)
    assert.equal(JSON.parse(JSON.stringify(gone.body)).name, 'one')
    await refused(started.call('GET', `${groups}/one`), 404, 'ResourceNotFound')
    assert.deepEqual(await started.engine.list(), [])
    assert.equal((await started.call('DELETE', `${groups}/one`)).status, 204)
  })

  test('a DELETE supersedes a create under way', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    assert.equal((await started.call('DELETE', `${groups}/one`)).status, 200)
    assert.deepEqual(await started.engine.list(), [])
  })

  test('a PUT that changes something makes the containers anew; the same PUT changes nothing', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    const before = await started.until('one', done)
    const same = await started.call('PUT', `${groups}/one`, body())
    assert.equal(same.status, 200)
    assert.equal(same.operation, undefined)
    const again = await started.until('one', done)
    assert.deepEqual(part(again), part(before))
    started.clock.advance(5)
    const changed = body([web('log:changed')])
    assert.equal((await started.call('PUT', `${groups}/one`, changed)).status, 200)
    const after = await started.until('one', done)
    assert.notEqual(part(after).currentState['startTime'], part(before).currentState['startTime'])
    assert.equal(part(after).restartCount, 0, 'new containers have no restarts')
  })

  test('a PUT while one is under way is refused; PATCH changes tags and restarts nothing', async () => {
    await using started = await startContainers({ reconcile: false })
    await started.call('PUT', `${groups}/one`, body())
    await refused(
      started.call('PUT', `${groups}/one`, body([web('log:x')])),
      409,
      'ContainerGroupTransitioning',
    )
    started.plane.reconciler.start()
    const before = await started.until('one', done)
    const tagged = await started.call('PATCH', `${groups}/one`, {
      tags: { a: 'b' },
      properties: {},
    })
    assert.equal(tagged.status, 200)
    const after = await started.until('one', done)
    assert.deepEqual(after.tags, { a: 'b' })
    assert.deepEqual(part(after), part(before))
  })

  test('init containers run in order before the others', async () => {
    await using started = await startContainers()
    const init = (name: string) => web('exit:0', name)
    await started.call(
      'PUT',
      `${groups}/one`,
      body([web()], { initContainers: [init('first'), init('second')] }),
    )
    const group = await started.until('one', done)
    assert.equal(group.properties.instanceView.state, 'Running')
    const [first, second] = group.properties.initContainers ?? []
    for (const one of [first, second]) {
      assert.equal(one?.properties.instanceView?.currentState.state, 'Terminated')
      assert.equal(one?.properties.instanceView?.currentState['exitCode'], 0)
    }
  })
})

describe('stop, start, restart', () => {
  test('stop gives everything up and is shown; start makes all anew', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    assert.equal((await started.call('POST', `${groups}/one/stop`)).status, 204)
    const stopped = await started.until('one', done)
    assert.equal(stopped.properties.instanceView.state, 'Stopped')
    assert.equal(part(stopped).currentState.state, 'Terminated')
    const again = await started.call('POST', `${groups}/one/stop`)
    assert.deepEqual([again.status, again.operation], [204, undefined])
    const same = await started.call('PUT', `${groups}/one`, body())
    assert.equal(same.operation, undefined, 'an identical PUT starts nothing')
    const start = await started.call('POST', `${groups}/one/start`)
    assert.equal(start.status, 202)
    assert.ok(start.operation)
    const running = await started.until('one', done)
    assert.equal(running.properties.instanceView.state, 'Running')
    assert.equal((await started.call('POST', `${groups}/one/start`)).status, 204)
  })

  test('restart runs new containers, and tags patched on a stopped group leave it stopped', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    const before = await started.until('one', done)
    started.clock.advance(5)
    const restart = await started.call('POST', `${groups}/one/restart`)
    assert.equal(restart.status, 204)
    assert.ok(restart.operation)
    const after = await started.until('one', done)
    assert.notEqual(part(after).currentState['startTime'], part(before).currentState['startTime'])
    await started.call('POST', `${groups}/one/stop`)
    await started.until('one', done)
    await started.call('PATCH', `${groups}/one`, { tags: { a: 'b' } })
    const stopped = await started.until('one', done)
    assert.equal(stopped.properties.instanceView.state, 'Stopped')
  })
})

describe('restart policies and what containers do', () => {
  for (const [policy, script, state] of [
    ['Never', 'exit:0', 'Succeeded'],
    ['Never', 'exit:3', 'Failed'],
    ['OnFailure', 'exit:0', 'Succeeded'],
    ['OnFailure', 'crash', 'Running'],
    ['Always', 'exit:0', 'Running'],
  ] as const) {
    test(`${policy}, ${script}: ${state}`, async () => {
      await using started = await startContainers()
      await started.call('PUT', `${groups}/one`, body([web(script)], { restartPolicy: policy }))
      const group = await started.until(
        'one',
        (one) => done(one) && one.properties.instanceView.state === state,
      )
      assert.equal(group.properties.provisioningState, 'Succeeded')
    })
  }

  test('a container that dies shows by itself, with code, restarts and the run before', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/one`, body())
    await started.until('one', done)
    const token = await tokenOf(started, 'one')
    assert.ok(started.engine instanceof SimulatedEngine)
    started.engine.endContainer(token, 'web', 7)
    const group = await started.until('one', (one) => part(one).restartCount > 0)
    assert.equal(part(group).previousState?.['exitCode'], 7)
    assert.equal(part(group).previousState?.['state'], 'Terminated')
    assert.ok(eventNames(group).includes('BackOff'))
    started.clock.advance(60)
    const running = await started.until('one', (one) => part(one).currentState.state === 'Running')
    const events = part(running).events.filter((one) => one.name === 'Started')
    assert.equal(events.length, 1)
    assert.equal(events[0]?.count, 2, 'the same event is counted')
    assert.notEqual(events[0]?.firstTimestamp, events[0]?.lastTimestamp)
  })

  for (const [what, script, code] of [
    ['an image that cannot be pulled', 'pull-error', 'InaccessibleImage'],
    ['a command that cannot be run', 'start-error', 'ContainerStartFailed'],
  ] as const) {
    test(`${what}: the operation fails with ${code}, and GET shows why`, async () => {
      await using started = await startContainers()
      const made = await started.call('PUT', `${groups}/one`, body([web(script)]))
      const advance = setInterval(() => {
        started.clock.advance(20)
        started.plane.reconciler.wake()
      }, 50)
      const group = await started.until('one', done)
      clearInterval(advance)
      assert.equal(group.properties.provisioningState, 'Failed')
      assert.equal(group.properties.instanceView.state, 'Failed')
      assert.ok(group.properties.instanceView.events.some((one) => one.type === 'Warning'))
      const status = await started.call('GET', made.operation?.statusPath ?? '')
      // The status of an operation.
      const { error } = status.body as { error?: { code: string } }
      assert.equal(error?.code, code)
      const mended = await started.call('PUT', `${groups}/one`, body())
      assert.equal(mended.status, 200)
      const running = await started.until('one', done)
      assert.equal(running.properties.instanceView.state, 'Running')
    })
  }

  test('an image of no registry: InaccessibleImage; the same PUT retries', async () => {
    await using started = await startContainers()
    const wrong = body([web('', 'web', { image: 'registry.example/pull-error:1' })])
    await started.call('PUT', `${groups}/one`, wrong)
    const failed = await started.until('one', done)
    assert.equal(failed.properties.provisioningState, 'Failed')
    const again = await started.call('PUT', `${groups}/one`, wrong)
    assert.ok(again.operation, 'a failed group is tried again')
    await started.until('one', done)
  })

  test('an engine without GPU accepts the body and says so clearly', async () => {
    await using started = await startContainers()
    const gpu = web('', 'web', {
      resources: { requests: { cpu: 1, memoryInGB: 1, gpu: { count: 1, sku: 'K80' } } },
    })
    assert.equal((await started.call('PUT', `${groups}/one`, body([gpu]))).status, 201)
    const group = await started.until('one', done)
    assert.equal(group.properties.provisioningState, 'Failed')
    assert.match(JSON.stringify(group.properties.instanceView.events), /GPU/)
  })
})

describe('what the engine loses', () => {
  for (const [policy, state] of [
    ['Always', 'Running'],
    ['Never', 'Failed'],
  ] as const) {
    test(`${policy}: ${state === 'Running' ? 'made again' : 'reported'}`, async () => {
      await using started = await startContainers()
      await started.call('PUT', `${groups}/one`, body([web()], { restartPolicy: policy }))
      await started.until('one', done)
      const token = await tokenOf(started, 'one')
      await started.engine.remove(token)
      const group = await started.until(
        'one',
        (one) =>
          one.properties.instanceView.state === state &&
          one.properties.instanceView.events.some((event) => event.name === 'Failed'),
      )
      assert.equal(group.properties.provisioningState, 'Succeeded')
      assert.equal((await started.engine.list()).length > 0, state === 'Running')
    })
  }

  test('a job that has ended is not run again when the engine forgets it', async () => {
    await using started = await startContainers()
    await started.call('PUT', `${groups}/job`, body([web('exit:0')], { restartPolicy: 'Never' }))
    await started.until('job', (one) => one.properties.instanceView.state === 'Succeeded')
    await started.settle()
    await started.engine.remove(await tokenOf(started, 'job'))
    await started.settle()
    const group = await started.until('job', done)
    assert.equal(group.properties.instanceView.state, 'Succeeded')
    assert.equal(part(group).currentState['exitCode'], 0)
    assert.deepEqual(await started.engine.list(), [])
  })
})

describe('probes, where the engine runs none', () => {
  const probe = { exec: { command: ['check'] }, periodSeconds: 1, failureThreshold: 1 }

  test('liveness: the container is restarted, and the events say why', async () => {
    await using started = await startContainers()
    const ill = web('probe-fail@0s', 'web', {
      environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'probe-fail@0s' }],
      livenessProbe: probe,
    })
    await started.call('PUT', `${groups}/one`, body([ill]))
    const group = await started.until('one', (one) => done(one) && part(one).restartCount > 0)
    const names = eventNames(group)
    assert.ok(names.includes('Unhealthy') && names.includes('Killing'), names.join())
  })

  test('liveness of a group with Never: reported, not restarted', async () => {
    await using started = await startContainers()
    const ill = web('probe-fail@0s', 'web', {
      environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'probe-fail@0s' }],
      livenessProbe: probe,
    })
    await started.call('PUT', `${groups}/one`, body([ill], { restartPolicy: 'Never' }))
    const group = await started.until(
      'one',
      (one) => done(one) && eventNames(one).includes('Unhealthy'),
    )
    await started.settle()
    assert.equal(part(group).restartCount, 0)
    assert.ok(!eventNames(group).includes('Killing'))
  })

  test('readiness: reported', async () => {
    await using started = await startContainers()
    const unready = web('', 'web', {
      environmentVariables: [{ name: 'ARMATURE_SIMULATE', value: 'probe-fail@0s' }],
      readinessProbe: probe,
    })
    await started.call('PUT', `${groups}/one`, body([unready]))
    const group = await started.until(
      'one',
      (one) => done(one) && eventNames(one).includes('Unhealthy'),
    )
    assert.equal(part(group).restartCount, 0)
  })
})
