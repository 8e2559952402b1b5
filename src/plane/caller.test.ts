/** Internal requests and dry runs: the same answers and refusals as over HTTP. A dry run keeps nothing. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import Type from 'typebox'
import { ApiError } from '#kernel/error.ts'
import { defaultLimits } from '#kernel/limits.ts'
import { silentLog } from '#kernel/ports.ts'
import { parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import { callOwner } from '#stores/awaited.ts'
import { useUpTurns } from '../../tests/turns.ts'
import type { PlaneServices } from './create-plane.ts'
import { createPlane } from './create-plane.ts'
import { defineProvider, type ResourceType } from './declare/provider.ts'
import { defineStored, type StoredMembers } from './declare/stored.ts'
import type { Guard } from './guard.ts'
import { realClock, realIds } from './testing/provider-context.ts'
import { group, memoryStore, nobody, owner, realTimers, startPlane } from './testing/start.ts'

interface Note {
  readonly text: string
}

const noteType: StoredMembers<Note> = {
  type: 'Sample/notes',
  description: 'Notes, each with a text of its own.',
  scope: 'tenant',
  name: { pattern: /^\w+$/, rule: 'word characters' },
  unique: {
    key: (_id, model) => model.text,
    refuse: (_id, existing) => new ApiError('TextTaken', 409, `taken by ${existing?.text}`),
  },
  versions: [
    {
      date: '2024-01-01',
      body: Type.Object({ properties: Type.Object({ text: Type.String() }) }),
      answer: Type.Object({}),
      unknownProperties: 'ignore',
      toModel: (body: { properties: Note }) => ({ text: body.properties.text }),
      fromModel: (model) => ({ properties: model }),
    },
  ],
}
const notes = defineStored(noteType)

interface Further {
  readonly isAllowed?: () => boolean
  readonly guards?: readonly Guard[]
}

async function start(
  own: readonly ResourceType[] = [],
  { isAllowed = () => true, guards = [] }: Further = {},
) {
  const store = await memoryStore()
  let services: PlaneServices | undefined
  const plane = createPlane({
    providers(given) {
      services = given
      return [
        defineProvider({ namespace: 'Sample', description: 'Notes.', types: [notes, ...own] }),
      ]
    },
    store,
    access: { allows: ({ principal }) => principal.id === owner.id && isAllowed() },
    words: contractWords,
    clock: realClock,
    ids: realIds,
    log: silentLog,
    limits: defaultLimits,
    tokenKeys: () => [new Uint8Array(32)],
    scopes: 'declared',
    timers: realTimers,
    guards,
  })
  if (services === undefined) throw new Error('the plane makes its providers when it is made')
  const { caller } = services
  return {
    caller,
    plane,
    store,
    async [Symbol.asyncDispose]() {
      await plane[Symbol.asyncDispose]()
      await store[Symbol.asyncDispose]()
    },
  }
}

const version = '2024-01-01'
const at = (name: string): string => `/providers/Vendor.Sample/notes/${name}`
const note = (name: string, text: string) => ({
  path: at(name),
  version,
  body: { properties: { text } },
})
const wireOf = (body: unknown): object => {
  const { name, properties } = JSON.parse(JSON.stringify(body))
  return { name, properties }
}
const by = { principal: owner, correlationId: 'c' }

test('a call from inside is refused as any other would be', async () => {
  await using started = await start()
  const { caller } = started
  const put = { ...note('a', 'one'), method: 'PUT' } as const
  const stranger = caller.call({ ...put, principal: nobody, correlationId: 'c' })
  await assert.rejects(stranger, { code: 'AuthorizationFailed' })
  await assert.rejects(caller.call({ ...put, ...by, version: '2000-01-01' }), {
    code: 'InvalidApiVersionParameter',
  })
  await assert.rejects(caller.call({ ...put, ...by, body: {} }), { code: 'InvalidRequestContent' })
  assert.equal((await caller.call({ ...put, ...by })).status, 201)
  const read = await caller.call({ method: 'GET', path: at('a'), version, ...by })
  assert.equal(read.status, 200)
})

test('a dry run returns every outcome in order, and keeps nothing', async () => {
  await using started = await start()
  const { caller, store } = started
  const kept = await caller.call({ ...note('a', 'one'), method: 'PUT', ...by })
  const results = await caller.dryRun(
    [
      note('a', 'one'),
      note('b', 'one'),
      note('c', 'three'),
      note('d', 'three'),
      note('not a name', 'x'),
      { ...note('e', 'x'), body: {} },
      note('f', 'six'),
    ],
    owner,
    'c',
  )
  const outcomes = results.map((one) =>
    one.kind === 'ok' ? one.status : `${one.error.code}${one.early ? ' early' : ''}`,
  )
  const invalid = 'InvalidResourceName early'
  const body = 'InvalidRequestContent early'
  assert.deepEqual(outcomes, [200, 'TextTaken', 201, 'TextTaken', invalid, body, 201])
  const [first] = results
  assert.equal(first?.kind === 'ok' ? first.etag : '', kept.etag, 'the same PUT changes nothing')
  assert.equal((await store.list({ under: '/', limit: 9 })).length, 1)
  const refused = await caller.dryRun([note('g', 'seven')], nobody, 'c')
  assert.equal(refused[0]?.kind === 'refused' ? refused[0].error.code : '', 'AuthorizationFailed')
})

test('writes answer as their type declares; a dry run sees the resource and what is created', async () => {
  const created = { status: 202, leadsTo: 'operation', body: { operation: 'Upsert' } } as const
  const answers = { created, changed: created, deleted: { ...created, body: 'none' } } as const
  const type = 'Sample/letters'
  const letters = defineStored<Note>({ ...noteType, type, protocol: { answers } })
  await using started = await start([letters])
  const { caller } = started
  const letter = { ...note('a', 'one'), path: '/providers/Vendor.Sample/letters/a' }
  const send = (method: 'PUT' | 'DELETE') =>
    caller.call({ ...letter, ...by, method, ...(method === 'PUT' ? {} : { body: undefined }) })
  const dry = async (text: string) => {
    const [tried] = await caller.dryRun(
      [{ ...letter, ...note('', text), path: letter.path }],
      owner,
      'c',
    )
    return tried?.kind === 'ok' ? [tried.status, tried.isUnchanged, wireOf(tried.body)] : []
  }
  const shown = (text: string) => ({ name: 'a', properties: { text } })
  assert.deepEqual(await dry('one'), [201, false, shown('one')])
  for (let times = 0; times < 2; times++) {
    const put = await send('PUT')
    assert.equal(put.status, 202)
    const { statusPath = '', startTime } = put.operation ?? {}
    assert.deepEqual(put.body, { operation: 'Upsert', startTime })
    const [path = '', query = ''] = statusPath.split('?')
    const status = await caller.call({
      method: 'GET',
      path,
      version: query.split('=')[1] ?? '',
      ...by,
    })
    assert.equal((status.body as { status?: string }).status, 'Succeeded')
  }
  assert.deepEqual(await dry('one'), [200, true, shown('one')])
  assert.deepEqual(await dry('two'), [200, false, shown('two')])
  const { status, body, operation } = await send('DELETE')
  assert.deepEqual([status, body, operation?.retryAfterSeconds], [202, undefined, 1])
  assert.equal((await send('DELETE')).status, 204)
})

test('below a parent that has none a dry run looks for no sibling, and finds those that are there', async (t) => {
  const line = defineStored({ ...noteType, type: 'Sample/notes/lines' })
  await using started = await start([line])
  const { caller, store } = started
  for (const name of ['a', 'b']) await caller.call({ ...note(name, name), method: 'PUT', ...by })
  const lineAt = (of: string, name: string) => {
    const text = `${of} ${name}`
    return { ...note('', text), path: `${at(of)}/lines/${name}` }
  }
  await caller.call({ ...lineAt('b', 'x'), method: 'PUT', ...by })
  const asked = t.mock.method(store, 'get')
  const tried = async (of: string): Promise<unknown> => {
    asked.mock.resetCalls()
    const requests = ['x', 'y', 'x'].map((name) => lineAt(of, name))
    const results = await caller.dryRun(requests, owner, 'c')
    const rows = new Set(asked.mock.calls.map((call) => call.arguments[0]))
    return {
      statuses: results.map((one) => one.kind === 'ok' && one.status),
      isLookedFor: rows.has(`${at(of)}/lines/x`.toLowerCase()),
    }
  }
  assert.deepEqual(await tried('a'), { statuses: [201, 201, 200], isLookedFor: false })
  assert.deepEqual(await tried('b'), { statuses: [200, 201, 200], isLookedFor: true })
})

test('where only siblings can have a unique key, a dry run finds it with them alone', async (t) => {
  const unique = {
    key: (id: ResourceId, model: Note) => `${parentOf(id).key} ${model.text}`,
    isUniqueBelow: true as const,
  }
  const line = defineStored({ ...noteType, type: 'Sample/notes/lines', unique })
  await using started = await start([line])
  const { caller, store } = started
  for (const name of ['a', 'b']) await caller.call({ ...note(name, name), method: 'PUT', ...by })
  const lineAt = (of: string, name: string, text: string) => ({
    ...note('', text),
    path: `${at(of)}/lines/${name}`,
  })
  await caller.call({ ...lineAt('b', 'x', 'one'), method: 'PUT', ...by })
  const looked = t.mock.method(store, 'keyOfUnique')
  const tried = async (of: string): Promise<unknown> => {
    looked.mock.resetCalls()
    const requests = [lineAt(of, 'y', 'one'), lineAt(of, 'z', 'two'), lineAt(of, 'w', 'two')]
    const results = await caller.dryRun(requests, owner, 'c')
    const codes = results.map((one) => (one.kind === 'ok' ? one.status : one.error.code))
    // A refusal looks for the owner of the key that is taken.
    const isLookedFor = looked.mock.calls.some(({ arguments: [key] }) => key?.endsWith(' one'))
    return { codes, isLookedFor }
  }
  assert.deepEqual(await tried('a'), { codes: [201, 201, 'Conflict'], isLookedFor: false })
  const isLookedFor = true
  assert.deepEqual(await tried('b'), { codes: ['Conflict', 201, 'Conflict'], isLookedFor })
})

test('what siblings find alike in a dry run is looked at again when the plan itself changes it', async () => {
  const guard: Guard = {
    idleWithout: 'Sample/holds',
    async check({ id, type, reader }) {
      const held = await reader.count({ type: 'Sample/holds', under: '/', limit: 1 })
      if (type !== 'Sample/holds' && held > 0) throw new ApiError('Held', 409, id.text)
    },
  }
  const container = {
    allowsChildren({ model }: { readonly model: unknown }) {
      // The type's `toModel` made it.
      if ((model as Note).text === 'closed') throw new ApiError('Closed', 409, 'closed')
    },
  }
  const box = defineStored({ ...noteType, type: 'Sample/boxes', container })
  const line = defineStored({ ...noteType, type: 'Sample/boxes/lines' })
  const hold = defineStored({ ...noteType, type: 'Sample/holds' })
  await using started = await start([box, line, hold], { guards: [guard] })
  const { caller, store } = started
  const put = (path: string, text: string) => ({
    ...note('', text),
    path: `/providers/Vendor.Sample/${path}`,
  })
  const requests = [
    put('boxes/a/lines/1', 'no parent yet'),
    put('boxes/a', 'open'),
    put('boxes/a/lines/1', 'first'),
    put('boxes/a/lines/2', 'second'),
    put('boxes/a', 'closed'),
    put('boxes/a/lines/3', 'third'),
    put('boxes/a', 'opened again'),
    put('boxes/a/lines/3', 'third'),
    put('holds/one', 'from here on'),
    put('boxes/a/lines/4', 'fourth'),
  ]
  const tried = await caller.dryRun(requests, owner, 'c')
  const codes = tried.map((one) => (one.kind === 'ok' ? one.status : one.error.code))
  const missing = 'ParentResourceNotFound'
  assert.deepEqual(codes, [missing, 201, 201, 201, 200, 'Closed', 200, 201, 201, 'Held'])
  const sent: unknown[] = []
  for (const request of requests) {
    const one = caller.call({ ...request, method: 'PUT', ...by })
    sent.push(
      await one.then(
        ({ status }) => status,
        ({ code }) => code,
      ),
    )
  }
  assert.deepEqual(sent, codes)
  assert.equal((await store.list({ under: '/', limit: 100 })).length, 5)
})

test('a dry run says what is left alone as it is stored, and not as it left it itself', async () => {
  await using started = await start()
  const { caller } = started
  await caller.call({ ...note('a', 'one'), method: 'PUT', ...by })
  const requests = [note('a', 'one'), note('a', 'two'), note('a', 'two'), note('b', 'b')]
  const results = await caller.dryRun([...requests, note('b', 'b')], owner, 'c')
  const unchanged = results.map((one) => one.kind === 'ok' && one.isUnchanged)
  assert.deepEqual(unchanged, [true, false, false, false, false])
})

test('a long dry run lets others work and write in between', async () => {
  await using started = await start()
  const { caller } = started
  const requests = Array.from({ length: 200 }, (_, n) => note(`n${n}`, `text ${n}`))
  const running = { isOver: false }
  const results = caller.dryRun(requests, owner, 'c').finally(() => {
    running.isOver = true
  })
  let turns = 0
  let writtenMeanwhile = 0
  while (!running.isOver) {
    await turn()
    turns += 1
    const put = { ...note(`other${turns}`, `other ${turns}`), method: 'PUT' } as const
    if (turns <= 3) await caller.call({ ...put, ...by })
    if (turns <= 3 && !running.isOver) writtenMeanwhile += 1
  }
  assert.ok(turns >= 6, `${turns} turns`)
  assert.ok(writtenMeanwhile > 0)
  assert.ok((await results).every((one) => one.kind === 'ok' && one.status === 201))
})

test('large resources are read in chunks, in a transaction too', async (t) => {
  await using started = await start()
  const { caller, plane } = started
  const count = 24
  for (let n = 0; n < count; n++) {
    const put = { ...note(`n${n}`, `${n} ${'x'.repeat(1_000_000)}`), method: 'PUT' } as const
    await caller.call({ ...put, ...by })
  }
  const turnsOf = async (work: () => Promise<void>): Promise<number> => {
    const running = { isOver: false }
    const done = work().finally(() => {
      running.isOver = true
    })
    let turns = 0
    for (; !running.isOver; turns++) await turn()
    await done
    return turns
  }
  const query = { type: 'Sample/notes', under: '/', limit: 1_000 }
  // A fast machine reads several in the time of a turn.
  useUpTurns(t)
  const turns = await turnsOf(async () => {
    assert.equal((await plane.reader.list(query)).length, count)
  })
  assert.ok(turns >= 8, `${turns} turns`)
  const seen: string[] = []
  for await (const { id } of plane.reader.each({ ...query, limit: 5 })) seen.push(id.key)
  const short = await plane.reader.list({ ...query, limit: 5 })
  assert.deepEqual(
    seen,
    short.map(({ id }) => id.key),
  )
  const inTransaction = await turnsOf(() =>
    started.store.transact(async (tx) => {
      for (let round = 0; round < 12; round++) await tx.list({ under: '/', limit: 3 })
    }),
  )
  assert.ok(inTransaction >= 8, `${inTransaction} turns`)
})

test('what nobody waits for any more is neither tried to its end nor kept', async () => {
  await using started = await start()
  const { caller, plane, store } = started
  const requests = Array.from({ length: 200 }, (_, n) => note(`n${n}`, `text ${n}`))
  const controller = new AbortController()
  const results = caller.dryRun(requests, owner, 'c', controller)
  await turn()
  controller.abort()
  await assert.rejects(results, { name: 'AbortError' })
  const query = new URLSearchParams({ 'api-version': version })
  const route = plane.locate('PUT', at('late'), query)
  const { body } = note('late', 'late')
  const input = { principal: owner, query, body, preconditions: {}, correlationId: 'c' }
  const late = { ...input, pending: undefined, signal: controller.signal }
  await assert.rejects(plane.run(route, late), { name: 'AbortError' })
  assert.equal(await store.get(at('late').toLowerCase()), undefined)
})

test('a body that was tried is not checked again; rights and what is stored are looked at anew', async () => {
  let checks = 0
  let preparations = 0
  let isAllowed = true
  const [version2024] = noteType.versions
  if (version2024 === undefined) throw new Error('notes have a version')
  const counted = {
    ...version2024,
    problems: () => {
      checks++
      return []
    },
  }
  const types = [
    defineStored<Note>({ ...noteType, type: 'Sample/counted', versions: [counted] }),
    defineStored<Note>({
      ...noteType,
      type: 'Sample/prepared',
      prepare: async () => void preparations++,
    }),
  ]
  await using started = await start(types, { isAllowed: () => isAllowed })
  const { caller } = started
  const of = (type: string, name: string, text: string) => {
    const { path, ...rest } = note(name, text)
    return { ...rest, path: path.replace('/notes/', `/${type}/`), method: 'PUT', ...by } as const
  }
  const puts = [of('counted', 'a', 'one'), of('counted', 'b', 'two'), of('counted', 'c', 'three')]
  const tried = await caller.dryRun(puts, owner, 'c', { isSentNext: true })
  assert.deepEqual(
    tried.map(({ kind }) => kind),
    ['ok', 'ok', 'ok'],
  )
  assert.equal(checks, 3)
  const [a, b, c] = puts
  if (a === undefined || b === undefined || c === undefined) throw new Error('there are three')
  assert.equal((await caller.call(a)).status, 201)
  assert.equal(checks, 3, 'it was checked again')
  // The same body elsewhere, in another version, or an equal one, was not tried.
  await assert.rejects(caller.call({ ...a, path: `${b.path}!` }), { code: 'InvalidResourceName' })
  await assert.rejects(caller.call({ ...a, version: '2000-01-01' }), {
    code: 'InvalidApiVersionParameter',
  })
  await caller.call({ ...a, body: { ...a.body } })
  assert.equal(checks, 4)
  isAllowed = false
  await assert.rejects(caller.call(b), { code: 'AuthorizationFailed' })
  isAllowed = true
  await caller.call(of('counted', 'other', 'three'))
  await assert.rejects(caller.call(c), { code: 'TextTaken' })
  const prepared = of('prepared', 'p', 'four')
  await caller.dryRun([prepared], owner, 'c', { isSentNext: true })
  await caller.call(prepared)
  assert.equal(preparations, 2)
})

test('what is called from inside asks the store in the name of its principal', async () => {
  await using inner = await memoryStore()
  const owners = new Set<string | undefined>()
  const store = new Proxy(inner, {
    get(target, name) {
      if (name === 'get') owners.add(callOwner())
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  await using t = await startPlane({ store, reconcile: false })
  const { call } = t.plane.services.caller
  const request = { method: 'PUT', path: group, version: '2021-04-01', body: { location: 'x' } }
  owners.clear()
  await call({ ...request, method: 'PUT', principal: owner, correlationId: 'c' })
  await call({ ...request, method: 'GET', principal: owner, correlationId: 'c' })
  assert.deepEqual(owners, new Set([owner.id]))
})
