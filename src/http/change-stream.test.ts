/** What a listener is told when much comes at once, when records come late, and when it does not read. */

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { test } from 'node:test'
import type { TrailRecord } from '#activity/tail.ts'
import { owner } from '#plane/testing/start.ts'
import { behalfOf, callOwner } from '#stores/awaited.ts'
import { createChangeStream } from './change-stream.ts'

function startTrail() {
  const records: TrailRecord[] = []
  const log: unknown[] = []
  const questions: string[] = []
  const problems = { next: undefined as Error | undefined }
  const note = (fields: object): void => void log.push(fields)
  const stream = createChangeStream({
    tail: {
      newest: async () => records.at(-1)?.number ?? 0,
      async after(number, limit) {
        assert.equal(callOwner(), undefined)
        const { next } = problems
        problems.next = undefined
        if (next !== undefined) throw next
        return records.filter((one) => one.number > number).slice(0, limit)
      },
    },
    refresh: async () => void questions.push('refresh'),
    mayRead(_, key) {
      questions.push(key)
      return !key.includes('secret')
    },
    log: { debug: note, info: note, warn: note, error: note },
    everyMilliseconds: 2,
  })
  return {
    records,
    questions,
    problems,
    stream,
    async open(): Promise<Readable> {
      const initiator = {
        principal: owner,
        correlationId: '',
        authorizeAgain: async () => undefined,
      }
      // Looks go on when the request that was the first is over, and meanwhile they are for all.
      const out = (await behalfOf(owner.id).run(() =>
        stream.route.run({}, undefined, new URLSearchParams(), initiator),
      )) as Readable
      out.setEncoding('utf8')
      assert.match(await next(out), /^event: ready/)
      return out
    },
  }
}

async function next(out: Readable): Promise<string> {
  for (;;) {
    const [text] = await once(out, 'data')
    if (String(text).startsWith('event:')) return String(text)
  }
}

test('a state that is brought back is sent, and so is what comes after it', async () => {
  for (const kept of [0, 3, 9]) {
    const trail = startTrail()
    const out = await trail.open()
    for (let number = 1; number <= 10; number++) trail.records.push({ number, key: `/a${number}` })
    await changed(out)
    trail.records.length = kept
    assert.deepEqual(await changed(out), { ids: [], all: true }, `${kept} are kept`)
    trail.records.push({ number: kept + 1, key: '/b' })
    assert.deepEqual(await changed(out), { ids: ['/b'], all: false })
    out.destroy()
    trail.stream.end()
  }
})

/** The ids of the next event, and whether there were more. */
async function changed(out: Readable): Promise<{ readonly ids: string[]; readonly all: boolean }> {
  return JSON.parse((await next(out)).split('data: ')[1] ?? '')
}

test('each record is sent once, a late one as well, none that may not be read', async () => {
  const { records, open } = startTrail()
  records.push({ number: 1, key: '/before' })
  const out = await open()
  records.push({ number: 3, key: '/third' }, { number: 4, key: '/secret' })
  assert.deepEqual(await changed(out), { ids: ['/third'], all: false })
  records.splice(1, 0, { number: 2, key: '/late' })
  assert.deepEqual(await changed(out), { ids: ['/late'], all: false })
  records.push({ number: 5, key: '/fifth' })
  assert.deepEqual(await changed(out), { ids: ['/fifth'], all: false })
  out.destroy()
})

test('the rights of a principal are asked for once, however many streams it has, and brought up to date once for all ids', async () => {
  const trail = startTrail()
  const [one, other] = [await trail.open(), await trail.open()]
  const told = Promise.all([next(one), next(other)])
  trail.records.push({ number: 1, key: '/a' }, { number: 2, key: '/secret' })
  assert.deepEqual(
    await told,
    Array(2).fill('event: changed\ndata: {"ids":["/a"],"all":false}\n\n'),
  )
  assert.deepEqual(trail.questions, ['refresh', '/a', '/secret'])
  trail.stream.end()
})

test('who missed some events is notified of that', async () => {
  const { records, problems, open } = startTrail()
  const out = await open()
  for (let number = 1; number <= 60; number++) records.push({ number, key: `/${number}` })
  const many = await changed(out)
  assert.deepEqual([many.ids.length, many.all], [50, true])
  for (let number = 61; number <= 700; number++) records.push({ number, key: '/same' })
  assert.deepEqual(await changed(out), { ids: ['/same'], all: true })
  problems.next = new Error('the store is away')
  assert.deepEqual(await changed(out), { ids: [], all: true })
  records.push({ number: 701, key: '/after' })
  assert.deepEqual(await changed(out), { ids: ['/after'], all: false })
  out.destroy()
})

test('a listener that does not read holds a bounded amount', async () => {
  const { records, open } = startTrail()
  const slow = await open()
  slow.pause()
  const quick = await open()
  const key = `/${'long'.repeat(250)}`
  for (let number = 1; slow.readableLength < 64 * 1024; number++) {
    records.push({ number, key: `${key}${number}` })
    await changed(quick)
  }
  const held = slow.readableLength
  for (let more = 1; more <= 100; more++) {
    records.push({ number: 10_000 + more, key: `${key}${more}` })
    await changed(quick)
  }
  assert.ok(slow.readableLength - held < 4 * 1024, `${slow.readableLength}`)
  slow.destroy()
  quick.destroy()
})
