/** Laws of the verbs: preconditions against an oracle, and pages against the list, also while it changes. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { fc } from '../../tests/property.ts'
import { startPlane, type TestPlane } from './testing/start.ts'

const numRuns = process.env['ARMATURE_TEST_LONG'] === '1' ? 2000 : 100
const boards = '/providers/Vendor.Sample/boards'
const board = (name: string): string => `${boards}/${name}`
const title = (text: string): object => ({ properties: { title: text } })

/** The header as a caller may send it: the current tag, an old one, any, several, or none. */
type Header = 'none' | 'any' | 'current' | 'weak' | 'old' | 'other' | 'list'
const header = fc.constantFrom<Header>('none', 'any', 'current', 'weak', 'old', 'other', 'list')

const call = fc.record({
  method: fc.constantFrom('PUT' as const, 'PATCH' as const, 'DELETE' as const, 'GET' as const),
  text: fc.constantFrom('x', 'y', 'z'),
  ifMatch: header,
  ifNoneMatch: header,
})

function headerOf(kind: Header, current: string | undefined, old: string): string | undefined {
  const now = current ?? 'nothing'
  switch (kind) {
    case 'none':
      return undefined
    case 'any':
      return '*'
    case 'current':
      return `"${now}"`
    case 'weak':
      return `W/"${now}"`
    case 'old':
      return `"${old}"`
    case 'other':
      return '"another"'
    case 'list':
      return `"another", "${now}"`
    default:
      return kind satisfies never
  }
}

/** Facts 9.3 once more, as plainly as possible: whether this header names the current state. */
function names(kind: Header, exists: boolean): boolean {
  return exists && ['any', 'current', 'weak', 'list'].includes(kind)
}

test('preconditions decide as the table says, and a failed one changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 12 }), async (calls) => {
      await using t = await startPlane({ reconcile: false })
      let current: { readonly text: string; readonly etag: string } | undefined
      let old = 'never'
      for (const one of calls) {
        const ifMatch = headerOf(one.ifMatch, current?.etag, old)
        const ifNoneMatch = headerOf(one.ifNoneMatch, current?.etag, old)
        const status = await statusOf(t, one.method, one.text, {
          ...(ifMatch === undefined ? {} : { ifMatch }),
          ...(ifNoneMatch === undefined ? {} : { ifNoneMatch }),
        })
        const exists = current !== undefined
        const fails =
          (one.ifMatch !== 'none' && !names(one.ifMatch, exists)) ||
          (one.ifNoneMatch !== 'none' && names(one.ifNoneMatch, exists))
        const expected = expectedStatus(one, exists, fails)
        assert.equal(status, expected, JSON.stringify({ one, exists }))
        const row = await t.store.get(board('b').toLowerCase())
        const wrote = expected === 201 || (expected === 200 && one.method !== 'GET')
        if (one.method === 'DELETE' && expected === 200) {
          assert.equal(row, undefined)
          old = current?.etag ?? old
          current = undefined
        } else if (!wrote || current?.text === one.text) {
          assert.equal(row?.etag, current?.etag, 'written without need or right')
        } else {
          assert.ok(row !== undefined && row.etag !== current?.etag)
          old = current?.etag ?? old
          current = { text: one.text, etag: row.etag }
        }
      }
    }),
    { numRuns },
  )
})

function expectedStatus(
  { method, ifNoneMatch }: { readonly method: string; readonly ifNoneMatch: Header },
  exists: boolean,
  fails: boolean,
): number {
  if (!exists && (method === 'GET' || method === 'PATCH')) return 404
  if (!exists && method === 'DELETE') return 204
  // `If-Match` does not affect reads.
  if (method === 'GET') return names(ifNoneMatch, exists) ? 304 : 200
  if (fails) return 412
  return exists ? 200 : 201
}

async function statusOf(
  t: TestPlane,
  method: 'PUT' | 'PATCH' | 'DELETE' | 'GET',
  text: string,
  conditions: { readonly ifMatch?: string; readonly ifNoneMatch?: string },
): Promise<number> {
  const body = method === 'PUT' || method === 'PATCH' ? title(text) : undefined
  try {
    return (await t.call(method, board('b'), body, conditions)).status
  } catch (error) {
    if (error instanceof ApiError) return error.status
    throw error
  }
}

interface Page {
  readonly names: readonly string[]
  readonly token: string | undefined
}

async function page(t: TestPlane, top: number, token: string | undefined): Promise<Page> {
  const more = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
  const outcome = await t.call('GET', `${boards}?$top=${top}${more}`)
  // The envelope of a list.
  const { value } = outcome.body as { readonly value: readonly { readonly name: string }[] }
  return { names: value.map(({ name }) => name), token: outcome.nextToken }
}

// Characters on both sides of `/` and of letters, which key ranges must not confuse.
const name = fc.stringMatching(/^[a-cA-C0-1-]{1,4}$/)

test('pages of any size, joined, are the list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { selector: (one) => one.toLowerCase(), maxLength: 20 }),
      fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
      async (all, sizes) => {
        await using t = await startPlane({ reconcile: false })
        for (const one of all) await t.call('PUT', board(one), title('x'))
        const seen: string[] = []
        let token: string | undefined
        let turn = 0
        do {
          const top = sizes[turn++ % sizes.length] ?? 1
          const found = await page(t, top, token)
          assert.ok(found.names.length <= top)
          assert.ok(found.names.length > 0 || token === undefined, 'a page for nothing')
          seen.push(...found.names)
          token = found.token
        } while (token !== undefined)
        const byKey = (left: string, right: string): number =>
          left.toLowerCase() < right.toLowerCase() ? -1 : 1
        assert.deepEqual(seen, all.toSorted(byKey))
      },
    ),
    { numRuns },
  )
})

const change = fc.record({ kind: fc.constantFrom('put' as const, 'delete' as const), name })

test('while things come and go, nothing is listed twice and nothing that stayed is missed', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(name, { selector: (one) => one.toLowerCase(), maxLength: 16 }),
      fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 4 }),
      async (first, between, top) => {
        await using t = await startPlane({ reconcile: false })
        for (const one of first) await t.call('PUT', board(one), title('x'))
        const stayed = new Set(first.map((one) => one.toLowerCase()))
        const ever = new Set(stayed)
        const seen: string[] = []
        let token: string | undefined
        let turn = 0
        do {
          const found = await page(t, top, token)
          seen.push(...found.names.map((one) => one.toLowerCase()))
          token = found.token
          for (const one of between[turn++] ?? []) {
            const key = one.name.toLowerCase()
            if (one.kind === 'put') {
              await t.call('PUT', board(one.name), title('x'))
              ever.add(key)
            } else {
              await t.call('DELETE', board(one.name))
              stayed.delete(key)
            }
          }
        } while (token !== undefined)
        assert.equal(new Set(seen).size, seen.length, `twice in ${seen.join(' ')}`)
        for (const one of stayed)
          assert.ok(seen.includes(one), `${one} is missed in ${seen.join(' ')}`)
        for (const one of seen) assert.ok(ever.has(one), `${one} never was`)
      },
    ),
    { numRuns },
  )
})
