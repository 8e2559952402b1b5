/** An installation inside a test, which controls its start, time, state and failures. */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { ClientError } from '#client/client-error.ts'
import { isLong } from '../../tests/long.ts'
import { type FaultRule, start, type TestInstallation } from './index.ts'

// Leftovers are looked for here, since other test files leave theirs elsewhere.
const own = mkdtempSync(join(tmpdir(), 'armature-embedded-'))
process.env['TMPDIR'] = own
process.once('exit', () => rmSync(own, { recursive: true, force: true }))

const version = 'api-version=2021-04-01'
const seed = {
  principals: [{ name: 'Rita' }, { name: 'pipeline', type: 'application' }],
  groups: [{ name: 'readers', members: ['Rita'] }],
  resources: [
    {
      path: `/subscriptions/{subscription}/resourceGroups/web?${version}`,
      body: { location: 'local' },
    },
  ],
  roleAssignments: [{ principal: 'readers', role: 'Reader' }],
} as const

function groupsOf(a: TestInstallation): Promise<unknown[]> {
  return a.client.list(`/subscriptions/${a.subscriptionId}/resourceGroups?${version}`)
}

function put(a: TestInstallation, name: string): Promise<unknown> {
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/${name}?${version}`
  return a.client.request('PUT', path, { body: { location: 'local' } })
}

test('state, time and failure are in the hand of the test', async () => {
  await using a = await start({ seed, ids: 'fixed', clock: 'manual' })
  assert.equal((await groupsOf(a)).length, 1)
  const asRita = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${await a.tokenOf('Rita')}` }
    const path = `${a.url}/subscriptions/${a.subscriptionId}/resourceGroups?${version}`
    return (await fetch(path, { headers })).status
  }
  assert.equal(await asRita(), 200)

  const before = await a.snapshot()
  await put(a, 'more')
  assert.equal((await groupsOf(a)).length, 2)
  await a.restore(before)
  assert.equal((await groupsOf(a)).length, 1)

  const at = a.now()
  const old = a.token
  await a.advance('2h')
  assert.ok(a.now() - at >= 7_200_000)
  const withOld = await fetch(`${a.url}/subscriptions?api-version=2020-01-01`, {
    headers: { authorization: `Bearer ${old}` },
  })
  assert.equal(withOld.status, 401)
  const end = a.fail({ status: 500 })
  await assert.rejects(groupsOf(a), ClientError)
  end()
  a.fail({ status: 429, count: 1, retryAfter: 0 })
  assert.equal((await groupsOf(a)).length, 1, 'the client comes again')

  await put(a, 'more')
  a.fail({ status: 500 })
  await a.reset()
  assert.equal((await groupsOf(a)).length, 1)
  assert.equal(await asRita(), 200)
})

test('each kind of failure happens, and is listed with what it met', async () => {
  await using a = await start({ seed, clock: 'manual' })
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups?${version}`
  const get = () => fetch(a.url + path, { headers: { authorization: `Bearer ${a.token}` } })
  assert.throws(() => a.fail({ status: 500, path }), { code: 'BadRequest' })
  const metBy = async (rule: FaultRule, happens: () => Promise<unknown>): Promise<void> => {
    const end = a.fail(rule)
    await happens()
    const [kept] = a.failures()
    assert.ok(kept !== undefined && kept.met > 0, JSON.stringify(rule))
    assert.notEqual(kept.latest[0]?.what, undefined)
    end()
    assert.deepEqual(a.failures(), [])
  }
  const whole = Number((await get()).headers.get('content-length'))
  await metBy({ cut: true }, async () => {
    const answer = await get()
    assert.equal(answer.status, 200)
    assert.equal(Number(answer.headers.get('content-length')), whole)
    let received = 0
    await assert.rejects(async () => {
      for await (const part of answer.body ?? []) received += part.length
    })
    assert.ok(received > 0 && received < whole, `${received} of ${whole} bytes`)
  })
  for (const [rule, status] of [
    [{ status: 409 }, 409],
    [{ status: 429, retryAfter: 3, path: path.split('?')[0] ?? '' }, 429],
    [{ status: 500, method: 'GET' }, 500],
    [{ status: 503, type: 'Resources/resourceGroups' }, 503],
    [{ token: 'refused' }, 401],
    [{ store: 'away' }, 503],
    [{ store: 'slow', latency: 1 }, 200],
    [{ latency: 1 }, 200],
  ] as const) {
    await metBy(rule, async () => assert.equal((await get()).status, status, JSON.stringify(rule)))
  }

  const job = `/subscriptions/${a.subscriptionId}/resourceGroups/web/providers/Vendor.ContainerInstance/containerGroups/job`
  const resources = { requests: { cpu: 0.5, memoryInGB: 0.5 } }
  const containers = [{ name: 'job', properties: { image: 'nginx', resources } }]
  const body = { location: 'local', properties: { osType: 'Linux', containers } }
  const url = `${job}?api-version=2023-05-01`
  await metBy({ step: 'fail', path: job }, async () => {
    const accepted = await a.client.request('PUT', url, { body })
    await assert.rejects(a.client.waitForOperation(accepted), ClientError)
  })
  await metBy({ step: 'hang', path: job }, async () => {
    const other = { ...body, tags: { at: 'another' }, properties: { ...body.properties } }
    await a.client.request('DELETE', url)
    const accepted = await a.client.request('PUT', url, { body: other })
    // It does not end by itself, and times out after its deadline.
    await a.advance('2d')
    await assert.rejects(a.client.waitForOperation(accepted), ClientError)
  })

  const end = a.play('region-outage')
  assert.equal((await get()).status, 503)
  assert.equal(a.failures().length, 2)
  end()
  assert.equal((await get()).status, 200)
  a.play('flaky-network')
  a.play('slow-operations')
  a.play('throttled')
  const statuses = new Set<number>()
  for (let asked = 0; asked < 200 && !statuses.has(429); asked++) {
    await get().then(
      ({ status }) => statuses.add(status),
      () => 0,
    )
    if (asked === 0) a.failures()
  }
  assert.ok(statuses.has(429))
})

test('an engine that loses what it runs is found out, and the containers run again', async () => {
  await using a = await start({ clock: 'manual' })
  await put(a, 'shop')
  const path = `/subscriptions/${a.subscriptionId}/resourceGroups/shop/providers/Vendor.ContainerInstance/containerGroups/web`
  const resources = { requests: { cpu: 0.5, memoryInGB: 0.5 } }
  const containers = [{ name: 'web', properties: { image: 'nginx', resources } }]
  const body = { location: 'local', properties: { osType: 'Linux', containers } }
  const url = `${path}?api-version=2023-05-01`
  await a.client.waitForOperation(await a.client.request('PUT', url, { body }))
  const startedAt = async (): Promise<number> => {
    // The contract's shape. The assertions below check it.
    const shown = (await a.client.request('GET', url)).body as {
      properties: {
        containers: {
          properties: { instanceView?: { currentState?: { state?: string; startTime?: string } } }
        }[]
      }
    }
    const state = shown.properties.containers[0]?.properties.instanceView?.currentState
    return state?.state === 'Running' ? Date.parse(state.startTime ?? '') : 0
  }
  const first = await startedAt()
  assert.ok(first > 0)
  await a.advance('1m')
  assert.throws(() => a.fail({ engine: 'loses' }), { code: 'BadRequest' })
  a.fail({ engine: 'loses', path })
  for (let tries = 0; (await startedAt()) <= first; tries++) {
    assert.ok(tries < 200, 'the containers do not run again')
    await sleep(50)
  }
})

test('a reset brings back what the installation makes for itself, too', async () => {
  await using a = await start()
  await a.reset()
  const profile = `/providers/Vendor.Billing/billingAccounts/${a.tenantId}/billingProfiles/default`
  const { status } = await a.client.request('GET', `${profile}?api-version=2024-04-01`)
  assert.equal(status, 200)
})

test('fixed ids are the same in every installation, random ones are not', async () => {
  const open = async (ids: 'fixed' | 'random') => {
    await using a = await start({ seed, ids })
    return [a.tenantId, a.subscriptionId, a.principalId, a.idOf('Rita'), a.idOf('readers')]
  }
  const [one, two, other] = [await open('fixed'), await open('fixed'), await open('random')]
  assert.deepEqual(one, two)
  assert.notDeepEqual(one, other)
})

test('ten run at once, apart from each other, and leave nothing behind', async () => {
  const folders = () => readdirSync(tmpdir()).filter((name) => name.startsWith('armature-test-'))
  const before = folders()
  const all = await Promise.all(Array.from({ length: 10 }, () => start()))
  await Promise.all(all.map((a, at) => put(a, `group-${at}`)))
  for (const [at, a] of all.entries()) {
    const names = (await groupsOf(a)).map((one) => Object(one).name)
    assert.deepEqual(names, [`group-${at}`])
  }
  await Promise.all(all.map((a) => a.close()))
  assert.deepEqual(
    folders().filter((name) => !before.includes(name)),
    [],
  )
})

test('resets and states, again and again, leave neither rows nor much memory', async (t) => {
  await using a = await start({ seed })
  const round = async (times: number): Promise<void> => {
    for (let at = 0; at < times; at++) {
      await put(a, `group-${at}`)
      if (at % 2 === 0) await a.restore(await a.snapshot())
      await a.reset()
    }
  }
  const folders = readdirSync(tmpdir()).filter((name) => name.startsWith('armature-test-'))
  const files = () => folders.map((name) => readdirSync(join(tmpdir(), name), { recursive: true }))
  // Caches are full, and code is compiled.
  await round(isLong ? 50 : 10)
  const [filesBefore, heapBefore] = [files(), heapBytes()]
  await round(isLong ? 200 : 20)
  assert.equal((await groupsOf(a)).length, 1)
  assert.deepEqual(files(), filesBefore)
  const grown = (heapBytes() - heapBefore) / 1024 / 1024
  t.diagnostic(`the heap grew by ${grown.toFixed(1)} MB`)
  assert.ok(grown < 16, `the heap grew by ${grown} MB`)
})

/** After a garbage collection. */
function heapBytes(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}

test('a seed may be a file, and what is wrong in it is said', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-seed-'))
  const file = join(folder, 'seed.yaml')
  try {
    writeFileSync(file, 'principals:\n  - name: Rita\n')
    await using a = await start({ seed: file })
    assert.match(a.idOf('Rita'), /^[0-9a-f-]{36}$/)
    writeFileSync(file, 'people: []\n')
    await assert.rejects(start({ seed: file }), /'people' is none of/)
    await assert.rejects(
      start({ seed: { roleAssignments: [{ principal: 'Nobody', role: 'Reader' }] } }),
      /no principal of it/,
    )
    await assert.rejects(a.advance('2h'), /clock: 'manual'/)
  } finally {
    rmSync(folder, { recursive: true })
  }
  assert.equal(existsSync(folder), false)
})

test('a rule meets generic resources by their type, which may be any', async () => {
  await using a = await start({ settings: { genericResources: 'on' } })
  await put(a, 'web')
  const machines = `/subscriptions/${a.subscriptionId}/resourceGroups/web/providers/Vendor.Compute/virtualMachines`
  const get = () => a.client.request('GET', `${machines}?${version}`)
  a.fail({ status: 418, type: 'Compute/disks' })
  await get()
  a.fail({ status: 418, type: 'Compute/virtualMachines' })
  await assert.rejects(get(), { status: 418 })
})

test('a mistyped word is refused, and so is what follows a close', async () => {
  // As somebody would who writes JavaScript.
  const typed = (value: object) => value as never
  await assert.rejects(start(typed({ clok: 'manual' })), /'clok' is none of the options seed, ids/)
  await assert.rejects(start(typed({ ids: 'fixd' })), /'fixed' or 'random', not 'fixd'/)
  await assert.rejects(start({ seed: typed({ principles: [] }) }), /'principles' is none of/)
  await using a = await start({ seed: { principals: [{ name: 'Rita' }] } })
  assert.throws(() => a.fail(typed({ stauts: 429 })), /stauts/)
  assert.throws(() => a.fail({ status: 200 }), /status/)
  assert.throws(() => a.fail({ path: '/x', code: 'Gone' }), /nothing happens by this rule/)
  const type = 'ContainerInstance/containerGroup'
  const meant = /type: expected .* 'ContainerInstance\/containerGroups', not/
  assert.throws(() => a.fail({ status: 500, type }), meant)
  assert.deepEqual(a.failures(), [])
  await assert.rejects(a.tokenOf('Bob'), /'Bob' is no principal of the seed/)
  await a.tokenOf('Rita')
  await a.tokenOf(a.principalId)
  await a.close()
  await assert.rejects(a.client.list('/subscriptions?api-version=2020-01-01'), /is closed/)
})

test('the guide runs as it is pasted', async () => {
  const root = join(import.meta.dirname, '../..')
  const guide = readFileSync(join(root, 'docs/guides/testing.md'), 'utf8')
  const block = /^```js\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'armature-guide-'))
  const file = join(folder, 'cloud.test.mjs')
  try {
    const own = pathToFileURL(join(import.meta.dirname, 'index.ts')).href
    writeFileSync(file, block.replace("'armature-plane/testing'", `'${own}'`))
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env
    const { stdout } = await promisify(execFile)(process.execPath, ['--test', file], {
      env: environment,
    })
    assert.match(stdout, /pass 4\n/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
