/** The verbs, over a real store and a small real engine. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { turnsOf, useUpTurns } from '../../tests/turns.ts'
import type { Outcome } from './plane.ts'
import { group, nobody, startPlane, subscription } from './testing/start.ts'

const widget = `${group}/providers/Vendor.Sample/widgets/w`
const widgetBody = { location: 'here', properties: { parts: ['a', 'b'] } }

function refusal(code: string, status: number) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof ApiError, String(error))
    assert.equal(`${error.status} ${error.code}`, `${status} ${code}`)
    return true
  }
}

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here, and only here.
function json(outcome: Outcome): any {
  return JSON.parse(JSON.stringify(outcome.body))
}

describe('PUT', () => {
  test('creates with 201, its scopes and an operation; then reaches Succeeded by the engine', async () => {
    await using t = await startPlane()
    const made = await t.call('PUT', widget, widgetBody)
    assert.equal(made.status, 201)
    assert.equal(json(made).properties.provisioningState, 'Creating')
    assert.equal(json(made).type, 'Vendor.Sample/widgets')
    assert.ok(made.operation)
    await t.plane.reconciler.idle()
    const read = await t.call('GET', widget)
    assert.equal(json(read).properties.provisioningState, 'Succeeded')
    assert.deepEqual(json(read).properties.made, ['a', 'b'])
    const status = await t.call('GET', made.operation.statusPath)
    assert.equal(json(status).status, 'Succeeded')
    const result = await t.call('GET', made.operation.resultPath)
    assert.equal(result.status, 200)
    assert.equal((await t.call('HEAD', group, undefined, { version: '2021-04-01' })).status, 204)
  })

  test('of the same body is one operation and changes nothing', async () => {
    await using t = await startPlane({ reconcile: false })
    const first = await t.call('PUT', widget, widgetBody)
    const again = await t.call('PUT', widget, widgetBody)
    assert.equal(again.status, 200)
    assert.equal(again.etag, first.etag)
    assert.equal(again.operation?.statusPath, first.operation?.statusPath)
    t.plane.reconciler.start()
    await t.plane.reconciler.idle()
    const settled = await t.call('GET', widget)
    const third = await t.call('PUT', widget, widgetBody)
    assert.equal(third.etag, settled.etag)
    assert.equal(third.operation, undefined)
    assert.deepEqual(json(third), json(settled))
  })

  test('of another body while an operation runs is 409', async () => {
    await using t = await startPlane({ reconcile: false })
    await t.call('PUT', widget, widgetBody)
    await assert.rejects(
      t.call('PUT', widget, { ...widgetBody, properties: { parts: ['z'] } }),
      refusal('AnotherOperationInProgress', 409),
    )
  })

  test('reports every problem of a body at once, each with its path', async () => {
    await using t = await startPlane()
    const bad = { location: 'here', colour: 1, properties: { parts: ['', 7, 'ok'], secret: 4 } }
    await assert.rejects(t.call('PUT', widget, bad), (error) => {
      assert.ok(error instanceof ApiError)
      assert.equal(error.code, 'InvalidRequestContent')
      const targets = (error.extra.details ?? []).map((detail) => detail.target)
      assert.deepEqual(targets.toSorted(), [
        'colour',
        'properties.parts[0]',
        'properties.parts[1]',
        'properties.secret',
      ])
      return true
    })
  })

  test('refuses rules, names, tags, locations, contradictions', async () => {
    await using t = await startPlane()
    const put = (path: string, body: unknown) => t.call('PUT', path, body)
    const cases: readonly [string, unknown, string, number][] = [
      [widget, { ...widgetBody, properties: { parts: ['a', 'a'] } }, 'InvalidRequestContent', 400],
      [`${widget}_!`, widgetBody, 'InvalidResourceName', 400],
      [widget, { ...widgetBody, tags: { 'a<b': 'x' } }, 'InvalidTagNameCharacters', 400],
      [widget, { properties: { parts: [] } }, 'LocationRequired', 400],
      [widget, { ...widgetBody, name: 'other' }, 'InvalidRequestContent', 400],
      [widget, [], 'InvalidRequestContent', 400],
      [widget, undefined, 'InvalidRequestContent', 400],
      [`${widget}/labels/l`, { properties: { title: 'x' } }, 'ParentResourceNotFound', 404],
    ]
    for (const [path, body, code, status] of cases) {
      await assert.rejects(
        put(path, body),
        refusal(code, status),
        `${path} ${JSON.stringify(body)}`,
      )
    }
    await put(widget, widgetBody)
    await t.plane.reconciler.idle()
    await assert.rejects(
      put(widget, { ...widgetBody, location: 'elsewhere' }),
      refusal('InvalidResourceLocation', 409),
    )
    assert.equal((await put(widget, { ...widgetBody, location: 'H ERE' })).status, 200)
  })

  test('in declared mode needs its subscription and group', async () => {
    await using t = await startPlane({ scopes: 'declared' })
    await assert.rejects(t.call('PUT', widget, widgetBody), refusal('SubscriptionNotFound', 404))
    await t.call('PUT', `/subscriptions/${subscription}`, {}, { version: '2020-01-01' })
    await assert.rejects(t.call('PUT', widget, widgetBody), refusal('ResourceGroupNotFound', 404))
    await t.call('PUT', group, { location: 'here' }, { version: '2021-04-01' })
    assert.equal((await t.call('PUT', widget, widgetBody)).status, 201)
    const long = widget.replace(/resourceGroups\/[^/]+/, `resourceGroups/${'x'.repeat(91)}`)
    for (const [method, body] of [
      ['PUT', widgetBody],
      ['PATCH', { tags: {} }],
      ['DELETE', undefined],
    ] as const) {
      await assert.rejects(t.call(method, long, body), refusal('InvalidResourceName', 400), method)
    }
    const odd = t.call('PATCH', `${widget}_!`, { tags: {} })
    await assert.rejects(odd, refusal('InvalidResourceName', 400))
  })

  test('by many writers at once leaves one row a name', async () => {
    await using t = await startPlane()
    const writes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, at) =>
        t.call('PUT', `/providers/Vendor.Sample/boards/b${at % 4}`, {
          properties: { title: `t${at}` },
        }),
      ),
    )
    assert.ok(writes.every((write) => write.status === 'fulfilled'))
    const list = json(await t.call('GET', '/providers/Vendor.Sample/boards'))
    assert.equal(list.value.length, 4)
  })
})

describe('preconditions', () => {
  test('follow the table of facts 9.3', async () => {
    await using t = await startPlane()
    const path = `/providers/Vendor.Sample/boards/b`
    const body = (title: string) => ({ properties: { title } })
    await assert.rejects(
      t.call('PUT', path, body('x'), { ifMatch: '*' }),
      refusal('PreconditionFailed', 412),
    )
    const made = await t.call('PUT', path, body('x'), { ifNoneMatch: '*' })
    assert.equal(made.status, 201)
    await assert.rejects(
      t.call('PUT', path, body('y'), { ifNoneMatch: '*' }),
      refusal('PreconditionFailed', 412),
    )
    await assert.rejects(
      t.call('PUT', path, body('y'), { ifMatch: '"stale"' }),
      refusal('PreconditionFailed', 412),
    )
    const changed = await t.call('PUT', path, body('y'), { ifMatch: `"${made.etag}"` })
    assert.notEqual(changed.etag, made.etag)
    const same = await t.call('GET', path, undefined, { ifNoneMatch: `"${changed.etag}"` })
    assert.equal(same.status, 304)
    await assert.rejects(
      t.call('DELETE', path, undefined, { ifMatch: `"${made.etag}"` }),
      refusal('PreconditionFailed', 412),
    )
    assert.equal((await t.call('DELETE', path, undefined, { ifMatch: '*' })).status, 200)
    assert.equal((await t.call('DELETE', path, undefined, { ifMatch: '*' })).status, 204)
    await assert.rejects(
      t.call('PATCH', path, body('z'), { ifMatch: '*' }),
      refusal('ResourceNotFound', 404),
    )
  })
})

describe('PATCH', () => {
  test('merges, and leaves what it does not name', async () => {
    await using t = await startPlane()
    const path = `/subscriptions/${subscription}/providers/Vendor.Sample/tagged/x`
    await t.call('PUT', path, { tags: { a: '1' }, properties: { title: 'one' } })
    const tagged = await t.call('PATCH', path.replace(/x$/, 'X'), { tags: { b: '2' } })
    assert.deepEqual(json(tagged).tags, { b: '2' })
    assert.equal(json(tagged).id, path, 'a PATCH spelled the name anew')
    assert.equal(json(tagged).properties.title, 'one')
    const titled = await t.call('PATCH', path, { properties: { title: 'two' } })
    assert.deepEqual(json(titled).tags, { b: '2' })
    assert.equal(json(titled).properties.title, 'two')
    await assert.rejects(
      t.call('PATCH', path, { properties: { title: null } }),
      refusal('InvalidRequestContent', 400),
    )
  })

  test('of tags alone gives the engine nothing to do; of the type’s own rule it does', async () => {
    await using t = await startPlane()
    await t.call('PUT', widget, widgetBody)
    await t.plane.reconciler.idle()
    const steps = t.engine.journal.length
    const tagged = await t.call('PATCH', widget, { tags: { a: '1' } })
    assert.equal(tagged.operation, undefined)
    assert.equal(json(tagged).properties.provisioningState, 'Succeeded')
    assert.equal(t.engine.journal.length, steps)
    const noted = await t.call('PATCH', widget, { properties: { note: 'hi' } })
    assert.equal(json(noted).properties.note, 'hi')
    assert.deepEqual(json(noted).tags, { a: '1' })
  })
})

describe('lists', () => {
  test('are joined pages, signed and bound to their collection', async () => {
    await using t = await startPlane()
    for (let at = 0; at < 25; at++) {
      await t.call('PUT', `/providers/Vendor.Sample/boards/b${at}`, { properties: { title: 'x' } })
    }
    const names: string[] = []
    let next: string | undefined
    do {
      const query: string = next === undefined ? '' : `&$skipToken=${encodeURIComponent(next)}`
      const page = await t.call('GET', `/providers/Vendor.Sample/boards?$top=7${query}`)
      names.push(...json(page).value.map((item: { name: string }) => item.name))
      next = page.nextToken
    } while (next !== undefined)
    assert.deepEqual(names, Array.from({ length: 25 }, (_, at) => `b${at}`).toSorted())
    const first = await t.call('GET', '/providers/Vendor.Sample/boards?$top=7')
    const token = encodeURIComponent(first.nextToken ?? '')
    await assert.rejects(
      t.call('GET', `${group}/providers/Vendor.Sample/notes?$skipToken=${token}`),
      refusal('InvalidContinuationToken', 400),
    )
    await assert.rejects(
      t.call('GET', `/providers/Vendor.Sample/boards?$skipToken=x.y`),
      refusal('InvalidContinuationToken', 400),
    )
    await assert.rejects(
      t.call('GET', '/providers/Vendor.Sample/boards?$top=0'),
      refusal('InvalidQueryParameter', 400),
    )
  })

  test('of a missing group or subscription are 404, of an empty one empty', async () => {
    await using t = await startPlane()
    const collection = `${group}/providers/Vendor.Sample/widgets`
    await assert.rejects(t.call('GET', collection), refusal('SubscriptionNotFound', 404))
    await t.call('PUT', `/subscriptions/${subscription}`, {}, { version: '2020-01-01' })
    await assert.rejects(t.call('GET', collection), refusal('ResourceGroupNotFound', 404))
    await t.call('PUT', group, { location: 'here' }, { version: '2021-04-01' })
    assert.deepEqual(json(await t.call('GET', collection)), { value: [] })
  })
})

describe('DELETE', () => {
  test('is long-running where there is an engine, and takes nested and extension resources along', async () => {
    await using t = await startPlane()
    await t.call('PUT', widget, widgetBody)
    await t.plane.reconciler.idle()
    await t.call('PUT', `${widget}/labels/l`, { properties: { title: 'x' } })
    await t.call('PUT', `${widget}/providers/Vendor.Sample/notes/n`, { properties: { title: 'x' } })
    const deleted = await t.call('DELETE', widget)
    assert.equal(deleted.status, 202)
    await t.plane.reconciler.idle()
    t.clock.advance(5)
    t.plane.reconciler.wake()
    await t.plane.reconciler.idle()
    assert.equal(t.engine.parts.size, 0)
    assert.equal((await t.call('DELETE', widget)).status, 204)
    assert.equal((await t.store.list({ under: widget.toLowerCase(), limit: 10 })).length, 0)
    const status = await t.call('GET', deleted.operation?.statusPath ?? '')
    assert.equal(json(status).status, 'Succeeded')
    assert.equal((await t.call('GET', deleted.operation?.resultPath ?? '')).status, 204)
  })

  test('takes nothing new below it nor on it while it runs', async () => {
    for (const scopes of ['implicit', 'declared'] as const) {
      await using t = await startPlane({ scopes, reconcile: false })
      await t.call('PUT', `/subscriptions/${subscription}`, {}, { version: '2020-01-01' })
      await t.call('PUT', group, { location: 'here' }, { version: '2021-04-01' })
      await t.call('PUT', widget, widgetBody)
      const note = `${widget}/providers/Vendor.Sample/notes`
      assert.equal(
        (await t.call('PUT', `${note}/before`, { properties: { title: 'x' } })).status,
        201,
      )
      assert.equal((await t.call('DELETE', widget)).status, 202)
      const deeper = `${note}/before/providers/Vendor.Sample/notes/n`
      for (const path of [`${widget}/labels/l`, `${note}/n`, deeper]) {
        await assert.rejects(
          t.call('PUT', path, { properties: { title: 'x' } }),
          refusal('AnotherOperationInProgress', 409),
          `${scopes} ${path}`,
        )
      }
    }
  })

  test('supersedes a running create', async () => {
    await using t = await startPlane({ reconcile: false })
    const made = await t.call('PUT', widget, widgetBody)
    const deleted = await t.call('DELETE', widget)
    assert.equal(deleted.status, 202)
    t.plane.reconciler.start()
    await t.plane.reconciler.idle()
    assert.equal(t.engine.parts.size, 0)
    const status = json(await t.call('GET', made.operation?.statusPath ?? ''))
    assert.equal(status.status, 'Canceled')
  })
})

describe('the reconciler', () => {
  test('retries what fails, with back-off, until the deadline', async () => {
    await using t = await startPlane()
    t.engine.failures = 3
    await t.call('PUT', widget, widgetBody)
    for (let at = 0; at < 6; at++) {
      await t.plane.reconciler.idle()
      t.clock.advance(10)
      t.plane.reconciler.wake()
    }
    await t.plane.reconciler.idle()
    assert.equal(json(await t.call('GET', widget)).properties.provisioningState, 'Succeeded')
    t.engine.failures = 1e9
    const changed = await t.call('PUT', widget, { location: 'here', properties: { parts: [] } })
    for (let at = 0; at < 12; at++) {
      await t.plane.reconciler.idle()
      t.clock.advance(20)
      t.plane.reconciler.wake()
    }
    await t.plane.reconciler.idle()
    const status = json(await t.call('GET', changed.operation?.statusPath ?? ''))
    assert.equal(status.status, 'Failed')
    assert.equal(status.error.code, 'EngineAway')
    assert.equal(json(await t.call('GET', widget)).properties.provisioningState, 'Failed')
  })

  test('fails what can never be, and a later PUT retries', async () => {
    await using t = await startPlane()
    t.engine.forbidden.add('b')
    const made = await t.call('PUT', widget, widgetBody)
    await t.plane.reconciler.idle()
    const status = json(await t.call('GET', made.operation?.statusPath ?? ''))
    assert.deepEqual([status.status, status.error.code], ['Failed', 'PartForbidden'])
    assert.equal((await t.call('GET', made.operation?.resultPath ?? '')).status, 409)
    t.engine.forbidden.clear()
    const again = await t.call('PUT', widget, widgetBody)
    assert.equal(again.status, 200)
    await t.plane.reconciler.idle()
    assert.equal(json(await t.call('GET', widget)).properties.provisioningState, 'Succeeded')
  })

  test('goes on where a process that died left off', async () => {
    await using first = await startPlane({ reconcile: false })
    await first.call('PUT', widget, widgetBody)
    await using second = await startPlane({ store: first.store, engine: first.engine })
    await second.plane.reconciler.idle()
    assert.deepEqual(
      first.engine.journal.map((line) => line.split(' ')[2]),
      ['a', 'b'],
    )
    assert.equal(json(await second.call('GET', widget)).properties.provisioningState, 'Succeeded')
  })

  test('runs actions as intent', async () => {
    await using t = await startPlane()
    await t.call('PUT', widget, widgetBody)
    await t.plane.reconciler.idle()
    assert.deepEqual(json(await t.call('GET', `${widget}/count`)), { count: 2 })
    const stripped = await t.call('POST', `${widget}/strip`)
    assert.equal(stripped.status, 202)
    await t.plane.reconciler.idle()
    assert.equal(t.engine.parts.size, 0)
  })
})

describe('paths', () => {
  test('are refused in the right order and family', async () => {
    await using t = await startPlane()
    const cases: readonly [Parameters<typeof t.call>[0], string, string, number][] = [
      ['GET', '/providers/Vendor.Sample/boards/b?api-version=', 'MissingApiVersionParameter', 400],
      [
        'GET',
        '/providers/Vendor.Sample/boards/b?api-version=1999-01-01',
        'InvalidApiVersionParameter',
        400,
      ],
      ['GET', '/providers/Vendor.Nothing/boards/b', 'InvalidResourceNamespace', 404],
      ['GET', '/providers/Vendor.Sample/nothings/b', 'InvalidResourceType', 404],
      ['GET', `${group}/providers/Vendor.Sample/boards/b`, 'InvalidResourceType', 404],
      ['POST', '/providers/Vendor.Sample/boards/b', 'MethodNotAllowed', 405],
      ['DELETE', '/providers/Vendor.Sample/boards', 'MethodNotAllowed', 405],
      [
        'GET',
        '/subscriptions/not-a-uuid/providers/Vendor.Sample/tagged',
        'InvalidSubscriptionId',
        400,
      ],
      ['GET', '/subscriptions//x', 'InvalidRequestUri', 400],
      ['GET', '/providers/Vendor.Sample/boards/b', 'ResourceNotFound', 404],
    ]
    for (const [method, path, code, status] of cases) {
      await assert.rejects(t.call(method, path), refusal(code, status), path)
    }
  })

  test('deny by default on every route of the table, also for what does not exist', async () => {
    await using t = await startPlane()
    await t.call('PUT', widget, widgetBody)
    for (const route of t.plane.describe()) {
      // Lists that any signed-in caller may read show only what the caller may see.
      if (route.action === '') continue
      const path = route.path
        .replace('{subscriptionId}', subscription)
        .replace('{scope}', group.slice(1))
        .replaceAll(/\{\w+\}/g, 'rg')
      await assert.rejects(
        t.call(route.method, path, {}, { as: nobody, version: route.versions[0] ?? '2024-01-01' }),
        refusal('AuthorizationFailed', 403),
        `${route.method} ${path}`,
      )
    }
  })

  test('case does not matter to identity and is not lost in display', async () => {
    await using t = await startPlane()
    await t.call('PUT', '/providers/Vendor.Sample/boards/MixedCase', { properties: { title: 'x' } })
    const read = await t.call('GET', '/PROVIDERS/vendor.sample/BOARDS/mixedcase')
    assert.equal(json(read).name, 'MixedCase')
    assert.equal(json(read).id, '/providers/Vendor.Sample/boards/MixedCase')
  })
})

test('resources that are read at once are shown as long as the turn has time for it', async (t) => {
  await using started = await startPlane({ reconcile: false })
  await started.call('PUT', widget, widgetBody)
  const read = () =>
    turnsOf(() => Promise.all(Array.from({ length: 20 }, () => started.call('GET', widget))))
  assert.ok((await read()).turns < 5)
  useUpTurns(t)
  assert.ok((await read()).turns >= 20)
})
