/**
 * The contract every registered type is put through: round trip in every version, idempotent PUT,
 * preconditions, paging, 404s, deny by default, secrets never echoed. A type joins it by its `sample`.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '#kernel/error.ts'
import { isJsonObject, mergePatch } from '#kernel/patch.ts'
import { parseResourceId } from '#kernel/resource-id.ts'
import type { ResourceRow } from '#stores/store.ts'
import { checkRow } from '../check-row.ts'
import type { CompiledType } from '../compiled-type.ts'
import type { Sample } from '../declare/sample.ts'
import type { WriteAnswer } from '../declare/stored.ts'
import type { Method, Outcome } from '../plane.ts'
import type { Registry } from '../registry.ts'
import { givesSecret, writeOnlyProperties } from '../secrets.ts'

/** What the suite uses: a way to send one request, and a way to let background work end. */
export interface Subject {
  readonly registry: Registry
  call(method: Method, path: string, body?: unknown, options?: SubjectOptions): Promise<Outcome>
  settle(): Promise<void>
  /** All records of the audit trail, as text. */
  trail?(): Promise<string>
  /** All resources as they are stored. */
  rows?(): Promise<readonly ResourceRow[]>
}

export interface SubjectOptions {
  readonly version?: string
  readonly ifMatch?: string
  readonly ifNoneMatch?: string
  /** Sends as a principal without any rights. */
  readonly stranger?: boolean
  /** Runs where a type has prepared the body, before the transaction. */
  readonly meanwhile?: () => Promise<unknown>
}

interface Place {
  readonly collection: string
  readonly type: CompiledType
  readonly sample: Sample
  readonly versions: readonly string[]
}

const subscription = '99999999-2222-4333-8444-555555555555'

/** Leaves out of the answer of a PUT what no GET shows, where the type says that there is such. */
function withoutPutMembers(
  { stored }: CompiledType,
  answer: Readonly<Record<string, unknown>>,
  { properties: known }: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const { properties } = answer
  if (stored?.onlyPutShows === undefined || !isJsonObject(properties)) return answer
  const kept = Object.entries(properties).filter(
    ([name]) => isJsonObject(known) && Object.hasOwn(known, name),
  )
  return { ...answer, properties: Object.fromEntries(kept) }
}

function without(body: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined || !isJsonObject(body) || !Object.hasOwn(body, first)) return body
  const { [first]: inner, ...others } = body
  return rest.length === 0 ? others : { ...others, [first]: without(inner, rest) }
}

/** The path of a property, its last name spelled as at the end of another path. */
function spelledLast(path: string, other: string): readonly string[] {
  return [...path.split('.').slice(0, -1), other.split('.').at(-1) ?? '']
}

function capitalized(path: string): string {
  const name = path.split('.').at(-1) ?? ''
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`
}

function withValue(body: unknown, [first, ...rest]: readonly string[]): unknown {
  if (first === undefined) return 'hush-misspelled'
  const own = isJsonObject(body) ? body : {}
  return { ...own, [first]: withValue(own[first], rest) }
}

function gives(compiled: CompiledType, version: string, body: unknown): boolean {
  const schema = compiled.versions.get(version)?.body
  return schema !== undefined && givesSecret(compiled.stored?.secrets, schema, body)
}

/** A new type that takes a secret fails this test until it declares who receives the secret. */
function secretsAreDeclared(compiled: CompiledType, where: string): void {
  const schemas = [...compiled.versions.values()].flatMap(({ body, patch }) =>
    typeof patch === 'object' ? [body, patch.body] : [body],
  )
  const taken = new Set(schemas.flatMap((schema) => writeOnlyProperties(schema)))
  if (taken.size === 0) return
  test(`${compiled.fullType} says who receives its secrets${where}`, () => {
    const { secrets } = compiled.stored ?? {}
    assert.ok(secrets !== undefined, `declare \`secrets\` for ${[...taken].join(', ')}`)
    if (typeof secrets !== 'object') return
    for (const property of taken) {
      assert.ok(
        secrets.some((secret) => secret.property === property),
        `no receiver is declared for ${property}`,
      )
    }
  })
}

type Wire = Readonly<Record<string, unknown>>

function wire(outcome: Outcome): Wire {
  return JSON.parse(JSON.stringify(outcome.body)) as Wire
}

async function refused(work: Promise<unknown>, status: number): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof ApiError, `expected a refusal ${status}, got ${String(error)}`)
  assert.equal(error.status, status, `${error.code}: ${error.message}`)
  return error
}

/** An answer that leads to an operation leads to one that can be followed to its end. */
async function requireLeads(
  subject: Subject,
  answer: WriteAnswer | undefined,
  { operation, body }: Outcome,
): Promise<void> {
  if (answer?.leadsTo !== 'operation') return
  assert.ok(operation !== undefined, 'the answer leads to no operation')
  const [path = '', query = ''] = operation.statusPath.split('?')
  const version = new URLSearchParams(query).get('api-version') ?? ''
  const status = wire(await subject.call('GET', path, undefined, { version }))
  assert.equal(status['status'], 'Succeeded')
  if (answer.body === 'none') assert.equal(body, undefined)
  if (typeof answer.body === 'object') {
    assert.deepEqual(body, { ...answer.body, startTime: status['startTime'] })
  }
}

/** The status of an answer or a refusal; any other error is a fault and counts as 500. */
function statusOf(settled: PromiseSettledResult<Outcome>): number {
  if (settled.status === 'fulfilled') return settled.value.status
  return settled.reason instanceof ApiError ? settled.reason.status : 500
}

function described(settled: readonly PromiseSettledResult<Outcome>[]): string {
  return settled
    .map((one) => (one.status === 'fulfilled' ? one.value.status : String(one.reason)))
    .join('; ')
}

/**
 * Registers the suite for every type of `types`. `open` makes a fresh installation for each test; `where` names the
 * store it uses. Of the types by their number, `isWhole` says which go through what no type has a rule of its own for, too.
 */
export function resourceContract(
  types: readonly CompiledType[],
  open: () => Promise<Subject & AsyncDisposable>,
  where = '',
  isWhole: (nth: number) => boolean = () => true,
): void {
  for (const [nth, compiled] of types.entries()) {
    const { sample } = compiled.stored ?? {}
    secretsAreDeclared(compiled, where)
    if (sample === undefined || compiled.dates === 'any' || compiled.versions.size === 0) continue
    const place = { type: compiled, sample, versions: compiled.dates }
    const { answers } = compiled.stored?.protocol ?? {}
    const createdStatus = answers?.created?.status ?? 201
    const changedStatus = answers?.changed?.status ?? 200
    describe(`resource contract: ${compiled.fullType}${where}`, () => {
      test('round trip in every version; the same PUT again changes nothing', async () => {
        await using subject = await open()
        const at = await placed(subject, place)
        for (const [seed, version] of at.versions.entries()) {
          const path = `${at.collection}/${at.sample.name(seed)}`
          const body = at.sample.body(seed, version)
          const made = await subject.call('PUT', path, body, { version })
          assert.equal(made.status, createdStatus)
          await subject.settle()
          await requireLeads(subject, answers?.created, made)
          const read = await subject.call('GET', path, undefined, { version })
          const shown = wire(read)
          assert.equal(String(shown['id']).toLowerCase(), keptAt(compiled, path))
          assert.equal(shown['name'] ?? at.sample.name(seed), at.sample.name(seed))
          // Some families require a tag to overwrite an existing resource.
          const over = compiled.stored?.protocol?.ifMatchRequired?.includes('put')
            ? { ifMatch: '*' }
            : {}
          const again = await subject.call('PUT', path, body, { version, ...over })
          assert.equal(again.status, changedStatus)
          await requireLeads(subject, answers?.changed, again)
          if (gives(compiled, version, body)) {
            // It is answered like any other change, so nobody learns that the given secret equals the kept one.
            assert.notEqual(again.etag, read.etag, 'the tag tells what a secret is not')
            await subject.settle()
          } else {
            assert.equal(again.etag, read.etag, 'an identical PUT wrote something')
            if (answers?.changed?.body === undefined) {
              const same = withoutPutMembers(compiled, wire(again), shown)
              assert.deepEqual(same, shown)
            }
          }
          const now = await subject.call('GET', path, undefined, { version })
          for (const other of at.versions) {
            const elsewhere = await subject.call('GET', path, undefined, { version: other })
            assert.equal(elsewhere.etag, now.etag)
          }
          const changed = await subject.call('PUT', path, at.sample.changed(seed, version), {
            version,
            ...over,
          })
          assert.equal(changed.status, changedStatus)
          assert.notEqual(changed.etag, now.etag, 'a changed PUT wrote nothing')
          await subject.settle()
          // A saved state may be brought back.
          for (const row of (await subject.rows?.()) ?? []) checkRow(subject.registry, row)
        }
      })

      test('preconditions, HEAD and 404', async () => {
        await using subject = await open()
        const at = await placed(subject, place)
        const version = at.versions[0] ?? ''
        const path = `${at.collection}/${at.sample.name(0)}`
        const body = at.sample.body(0, version)
        const call = (method: Method, what?: unknown, options: SubjectOptions = {}) =>
          subject.call(method, path, what, { version, ...options })
        await refused(call('GET'), 404)
        await refused(call('HEAD'), 404)
        if (compiled.stored?.protocol?.anyMatchCreates === true) {
          await refused(call('PUT', body, { ifMatch: '"some"' }), 412)
          assert.equal((await call('PUT', body, { ifMatch: '*' })).status, createdStatus)
        } else {
          await refused(call('PUT', body, { ifMatch: '*' }), 412)
          assert.equal((await call('PUT', body, { ifNoneMatch: '*' })).status, createdStatus)
        }
        await subject.settle()
        const read = await call('GET')
        assert.equal((await call('HEAD')).status, compiled.stored?.protocol?.headStatus ?? 204)
        await refused(call('PUT', body, { ifNoneMatch: '*' }), 412)
        await refused(call('PUT', body, { ifMatch: '"stale"' }), 412)
        const isBackground = compiled.reconcile?.background !== undefined
        const unchanged = await call('GET', undefined, { ifNoneMatch: `"${read.etag}"` })
        assert.ok((isBackground ? [200, 304] : [304]).includes(unchanged.status))
        if (compiled.verbs.has('delete')) {
          await refused(call('DELETE', undefined, { ifMatch: '"stale"' }), 412)
          const deleted = await call('DELETE', undefined, { ifMatch: `"${read.etag}"` })
          assert.ok([answers?.deleted?.status ?? 200, 202].includes(deleted.status))
          await subject.settle()
          await requireLeads(subject, answers?.deleted, deleted)
          if (compiled.reconcile?.background?.endInstead !== undefined) {
            assert.equal((await call('GET')).status, 200, 'its work is ended first')
            assert.equal((await call('DELETE')).status, 200)
          }
          assert.equal((await call('DELETE')).status, 204)
          await refused(call('GET'), 404)
        }
      })

      // The plane does the same for all types here. What one of them refuses or shows is tested above and below.
      const whole: typeof test | undefined = isWhole(nth) ? test : undefined
      whole?.(
        'callers at once: one makes it, the others are refused, and it stays whole',
        async () => {
          await using subject = await open()
          const at = await placed(subject, place)
          const version = at.versions[0] ?? ''
          const path = `${at.collection}/${at.sample.name(0)}`
          const bodies = [at.sample.body(0, version), at.sample.changed(0, version)]
          const call = (method: Method, what?: unknown, options: SubjectOptions = {}) =>
            subject.call(method, path, what, { version, ...options })
          const made = await Promise.allSettled(
            Array.from({ length: 5 }, () => call('PUT', bodies[0], { ifNoneMatch: '*' })),
          )
          assert.deepEqual(made.map(statusOf).sort()[0], createdStatus)
          assert.equal(made.filter((one) => one.status === 'fulfilled').length, 1, described(made))
          await subject.settle()
          const over = compiled.stored?.protocol?.ifMatchRequired?.includes('put')
            ? { ifMatch: '*' }
            : {}
          // A DELETE may only end the work of a type. What is left of it cannot be changed.
          const isDeleted =
            compiled.verbs.has('delete') && compiled.reconcile?.background?.endInstead === undefined
          const mixed = await Promise.allSettled(
            Array.from({ length: 9 }, (_, index) => {
              if (index === 4 && isDeleted) return call('DELETE')
              return index % 3 === 2 ? call('GET') : call('PUT', bodies[index % 2], over)
            }),
          )
          for (const one of mixed) assert.ok(statusOf(one) < 500, described(mixed))
          await subject.settle()
          const last = await Promise.allSettled([call('GET')])
          assert.ok([200, 404].includes(last.map(statusOf)[0] ?? 0), described(last))
          if (last[0].status === 'rejected') {
            assert.equal((await call('PUT', bodies[0])).status, createdStatus)
            await subject.settle()
          }
          const { etag } = await call('GET')
          assert.equal(
            (await call('PUT', bodies[1], { ifMatch: `"${etag}"` })).status,
            changedStatus,
          )
        },
      )

      whole?.('what is no body of this type is refused, and nothing is written', async () => {
        await using subject = await open()
        const at = await placed(subject, place)
        const version = at.versions[0] ?? ''
        const path = `${at.collection}/${at.sample.name(0)}`
        for (const body of [undefined, null, [], 'text', 7, true, { properties: 7 }]) {
          await refused(subject.call('PUT', path, body, { version }), 400)
        }
        await refused(subject.call('GET', path, undefined, { version }), 404)
      })

      if (compiled.verbs.has('list') && sample.isAlone !== true) {
        test('pages joined are the list', async () => {
          await using subject = await open()
          const at = await placed(subject, place)
          const version = at.versions[0] ?? ''
          const names: string[] = []
          for (const seed of [0, 1, 2]) {
            const name = at.sample.name(seed)
            names.push(name)
            const body = at.sample.body(seed, version)
            await subject.call('PUT', `${at.collection}/${name}`, body, { version })
          }
          await subject.settle()
          const seen: string[] = []
          let token: string | undefined
          do {
            const more = token === undefined ? '' : `&$skipToken=${encodeURIComponent(token)}`
            const page = await subject.call('GET', `${at.collection}?$top=1${more}`, undefined, {
              version,
            })
            // The envelope of a list; its items are looked at by name only.
            const value = wire(page)['value'] as readonly Wire[]
            assert.ok(value.length <= 1)
            seen.push(...value.map((item) => String(item['name'] ?? item['id'])))
            token = page.nextToken
          } while (token !== undefined)
          for (const name of names) {
            assert.ok(
              seen.filter((one) => one.toLowerCase().endsWith(name.toLowerCase())).length === 1,
              `${name} is not exactly once in ${seen.join(', ')}`,
            )
          }
        })
      }

      const { secrets: kept } = compiled.stored ?? {}
      if (typeof kept === 'object') {
        test('a stored secret stays with the receiver it was given for', async () => {
          await using subject = await open()
          const at = await placed(subject, place)
          const { redirects = [] } = at.sample
          assert.ok(redirects.length > 0, 'the sample tells no change of the receiver')
          const version = at.versions[0] ?? ''
          const path = `${at.collection}/${at.sample.name(0)}`
          const over = compiled.stored?.protocol?.ifMatchRequired?.includes('put')
            ? { ifMatch: '*' }
            : {}
          const call = (method: Method, body: unknown) =>
            subject.call(method, path, body, { version, ...over })
          const full = at.sample.body(0, version)
          await subject.call('PUT', path, full, { version })
          await subject.settle()
          const bare = kept.reduce<unknown>(
            (body, { property }) => without(body, property.split('.')),
            full,
          )
          assert.equal((await call('PUT', bare)).status, changedStatus, 'left out, it stays')
          await subject.settle()
          for (const redirect of redirects) {
            const error = await refused(call('PUT', mergePatch(bare, redirect)), 400)
            assert.match(
              `${error.message} ${JSON.stringify(error.extra)}`,
              /stays with the receiver/,
            )
            const { patch = 'merge' } = compiled.versions.get(version) ?? {}
            const isPatched = patch !== 'none' && patch !== 'tags'
            if (isPatched) await refused(call('PATCH', redirect), 400)
            // A name in another case gives no secret: the type would keep the stored one.
            for (const { property } of kept) {
              for (const spelled of [property.toUpperCase(), capitalized(property)]) {
                const path = spelledLast(property, spelled)
                const misspelled = withValue(mergePatch(bare, redirect), path)
                await refused(call('PUT', misspelled), 400)
                if (isPatched) await refused(call('PATCH', withValue(redirect, path)), 400)
              }
            }
            assert.equal((await call('PUT', mergePatch(full, redirect))).status, changedStatus)
            await subject.settle()
            assert.equal((await call('PUT', full)).status, changedStatus)
            await subject.settle()
          }
        })
      }

      test('deny by default; secrets never come back', async () => {
        await using subject = await open()
        const at = await placed(subject, place)
        const version = at.versions[0] ?? ''
        const path = `${at.collection}/${at.sample.name(0)}`
        const body = at.sample.body(0, version)
        const answers = [await subject.call('PUT', path, body, { version })]
        await subject.settle()
        answers.push(await subject.call('GET', path, undefined, { version }))
        if (compiled.verbs.has('list')) {
          answers.push(await subject.call('GET', at.collection, undefined, { version }))
        }
        for (const secret of at.sample.secrets ?? []) {
          for (const one of answers) assert.ok(!JSON.stringify(one.body).includes(secret))
        }
        if (subject.trail !== undefined) {
          await subject.call('PUT', path, at.sample.changed(0, version), { version, ifMatch: '*' })
          await subject.settle()
          const trail = await subject.trail()
          assert.ok(trail.includes('/write'), 'the write left no record')
          for (const secret of at.sample.secrets ?? []) assert.ok(!trail.includes(secret), secret)
        }
        for (const method of ['GET', 'PUT', 'DELETE'] as const) {
          if (method === 'DELETE' && !compiled.verbs.has('delete')) continue
          for (const one of [path, `${at.collection}/${at.sample.name(5)}`]) {
            const asked = subject.call(method, one, body, { version, stranger: true })
            // A missing subscription is reported before rights are checked (facts 9.7).
            if (one !== path && method === 'GET' && at.collection === '/subscriptions') {
              assert.equal((await refused(asked, 404)).code, 'SubscriptionNotFound')
              continue
            }
            const error = await refused(asked, 403)
            assert.equal(error.code, 'AuthorizationFailed')
          }
        }
      })
    })
  }
}

/** The key under which a type stores what was written at a path. */
function keptAt(type: CompiledType, path: string): string | undefined {
  const id = parseResourceId(path)
  return id === undefined ? undefined : (type.stored?.sharedRow?.idOf(id) ?? id).key
}

/** Creates the parents of a type, and returns where its collection is. */
async function placed(subject: Subject, place: Omit<Place, 'collection'>): Promise<Place> {
  return { ...place, collection: await collectionOf(subject, place.type) }
}

async function collectionOf(subject: Subject, type: CompiledType): Promise<string> {
  const word = type.words.at(-1) ?? ''
  if (type.words.length > 1) {
    const parent = subject.registry.find(
      type.declaration.scope === 'implied' ? undefined : type.namespace,
      type.words.slice(0, -1),
    )
    const sample = parent?.stored?.sample
    if (parent === undefined || sample === undefined || parent.dates === 'any') {
      throw new Error(`the parent of ${type.fullType} has no sample`)
    }
    const version = parent.dates[0] ?? ''
    const path = `${await collectionOf(subject, parent)}/${sample.name(9)}`
    await subject.call('PUT', path, sample.body(9, version), { version })
    await subject.settle()
    return `${path}/${word}`
  }
  const providers = `/providers/${type.namespace}/${word}`
  switch (type.declaration.scope) {
    case 'implied':
      return `/${word}`
    case 'tenant':
      return providers
    case 'subscription':
      await declare(subject, `/subscriptions/${subscription}`, 'Resources/subscriptions')
      return `/subscriptions/${subscription}${providers}`
    case 'resource-group':
    case 'any': {
      const group = `/subscriptions/${subscription}/resourceGroups/contract`
      await declare(subject, `/subscriptions/${subscription}`, 'Resources/subscriptions')
      await declare(subject, group, 'Resources/subscriptions/resourceGroups')
      return `${group}${providers}`
    }
    default:
      return type.declaration.scope satisfies never
  }
}

async function declare(subject: Subject, path: string, name: string): Promise<void> {
  const type = subject.registry.byName(name)
  const version = type.dates === 'any' ? '' : (type.dates[0] ?? '')
  const body = type.stored?.sample?.body(0, version) ?? { location: 'local' }
  await subject.call('PUT', path, body, { version })
}
