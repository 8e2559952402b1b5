/**
 * One request of the fuzzer: a valid request to a route, then broken in up to three ways. Everything follows from
 * the random source, so that a seed and a number always name the same request.
 */

import type { ErrorFamily } from '#kernel/error.ts'
import type { RouteDescription } from '#plane/plane.ts'
import { bodyFor, damagedBody } from './bodies.ts'
import type { Random } from './random.ts'

export interface FuzzCase {
  readonly method: string
  readonly bytes: Buffer
  /** A description for the report. */
  readonly summary: string
  /** Error families that are allowed. Only the route's own if the path is intact. */
  readonly families: ReadonlySet<ErrorFamily>
  /** The request never ends by itself: the client hangs up, and no answer is fine. */
  readonly incomplete: boolean
}

export interface FuzzFixture {
  readonly token: string
  readonly subscriptionId: string
  readonly routes: readonly RouteDescription[]
}

interface Draft {
  method: string
  path: string
  query: string[]
  headers: string[]
  body: Buffer
  framing: 'length' | 'chunked' | 'none' | 'short' | 'wrong'
  whole: boolean
  incomplete: boolean
  done: string[]
}

/** Turns a text of code points below 256 into bytes. Callers percent-encode anything else. */
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1')

const names = ['a', 'rg', 'one-1', 'X', '0af7651c-1111-4222-8333-444455556666']

function draftOf(route: RouteDescription, fixture: FuzzFixture, random: Random): Draft {
  const version = route.versions.length === 0 ? '2021-04-01' : random.pick(route.versions)
  const scopes = [
    '',
    `/subscriptions/${fixture.subscriptionId}`,
    `/subscriptions/${fixture.subscriptionId}/resourceGroups/rg`,
    `/subscriptions/${fixture.subscriptionId}/resourceGroups/rg/providers/Vendor.None/things/t`,
  ]
  const path = route.path
    .replace('/{scope}', () => random.pick(scopes))
    .replace(/\{(\w+)\}/g, (_, name: string) =>
      name === 'subscriptionId' ? fixture.subscriptionId : random.pick(names),
    )
  const method = route.method === 'GET' && random.chance(0.15) ? 'HEAD' : route.method
  const writes = method === 'PUT' || method === 'PATCH' || method === 'POST'
  // A TypeBox schema is a JSON Schema, which is all the generator needs.
  const schema = route.body?.(version) as Readonly<Record<string, unknown>> | undefined
  const body = writes
    ? damagedBody(
        schema === undefined
          ? { location: 'westus', properties: {}, tags: {} }
          : bodyFor(schema, random),
        random,
      )
    : { bytes: Buffer.alloc(0), damage: 'none' }
  return {
    method,
    path,
    query: [`api-version=${version}`],
    headers: [
      'Host: 127.0.0.1',
      `Authorization: Bearer ${fixture.token}`,
      ...(writes ? ['Content-Type: application/json'] : []),
    ],
    body: body.bytes,
    framing: body.bytes.length > 0 ? (random.chance(0.2) ? 'chunked' : 'length') : 'none',
    whole: true,
    incomplete: false,
    done: body.damage === 'none' ? [] : [`body ${body.damage}`],
  }
}

const pathParts = [
  '',
  '.',
  '..',
  '%2e%2e',
  '%00',
  'a%00b',
  '%zz',
  '%',
  '%2F',
  '%2f..%2f',
  '%ED%A0%80',
  '%C3%28',
  '%25',
  '\\',
  ';a=b',
  '*',
  "'",
  '"',
  '<script>',
  '%0d%0aX: y',
  'providers',
  'subscriptions',
  'resourceGroups',
  'Vendor.Nothing',
  '\xff\xfe',
  '__proto__',
  'constructor',
  'toString',
  'a'.repeat(261),
  '%F0%9F%98%80',
  'x'.repeat(2000),
  '{}',
  '$batch',
  '#frag',
  '@',
  ':',
]

const values = [
  '',
  '*',
  'null',
  'undefined',
  'NaN',
  '-1',
  '0',
  '1e9',
  '99999999999999999999',
  '2024-01-01',
  '2024-13-45',
  'latest',
  '%00',
  '%',
  '%zz',
  '%ED%A0%80',
  "name eq 'x'",
  'name%20eq%20%27x%27',
  'atScope()',
  'assignedTo(%27%27)',
  'principalId%20eq%20x',
  `${'('.repeat(3000)}`,
  `${'a%20eq%201%20and%20'.repeat(300)}b%20eq%202`,
  "'",
  '%27%27%27',
  'a.b',
  'eyJhIjoxfQ.AAAA',
  'x'.repeat(9000),
  '%F0%9F%98%80',
  '%26%3D',
  'tagName%20eq%20%27a%27',
  'startswith(',
  'not%20not%20not%20a',
  '1%20eq%201',
]

const parameters = [
  '$filter',
  '%24filter',
  '$top',
  '$skipToken',
  '$expand',
  '$select',
  '$orderby',
  'api-version',
  'API-VERSION',
  'api-version[]',
  '__proto__',
  '',
]

const oddHeaders = [
  'If-Match: *',
  'If-Match: ""',
  'If-Match: W/"x"',
  'If-Match: "a", "b"',
  `If-Match: ${'"a",'.repeat(2000)}`,
  'If-None-Match: *',
  'If-None-Match: \xff',
  'If-Match: "\xe9"',
  'Content-Type: text/xml',
  'Content-Type: application/json; charset=utf-16',
  'Content-Type: ',
  'Content-Type: application/merge-patch+json',
  'Content-Encoding: gzip',
  'Content-Encoding: br',
  'Accept: text/html;q=0',
  'Accept: \xff',
  'x-ms-correlation-request-id: \xff',
  'x-ms-client-request-id: nope',
  'x-ms-return-client-request-id: true',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Host: other',
  'Authorization: Bearer second',
  'Connection: close',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: identity',
  'Content-Length: 3',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Cookie: a=b',
  'X-HTTP-Method-Override: DELETE',
  'accept-version: 9.9.9',
  `X-Long: ${'x'.repeat(20_000)}`,
  `X-Long: ${'x'.repeat(60_000)}`,
  'Bad Name: x',
  'X\x00: y',
  'X: \x00',
  ' folded: x',
  'X: a\rb',
  'Range: bytes=0-1',
  'TE: trailers',
  'Trailer: X',
]

const mediaTypes = [
  'text/plain',
  'application/xml',
  'application/json; charset=latin1',
  'application/x+json',
  ';',
  '*/*',
  'multipart/form-data',
  '\xff',
  'application/json,text/html',
]

const authorizations = [
  '',
  'Bearer',
  'Bearer ',
  'Basic YTpi',
  'Bearer a b',
  'Bearer \xff',
  'bearer x.y.z',
  `Bearer ${'x'.repeat(20_000)}`,
  'Bearer eyJhbGciOiJub25lIn0.e30.',
]

const methods = [
  'GET',
  'HEAD',
  'PUT',
  'PATCH',
  'DELETE',
  'POST',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'PURGE',
  'QUERY',
  'get',
  'FROB',
  'CONNECT',
]

type Mutation = (draft: Draft, random: Random) => void

const mutations: readonly Mutation[] = [
  function pathPart(draft, random) {
    const parts = draft.path.split('/')
    parts[1 + random.below(parts.length - 1)] = random.pick(pathParts)
    draft.path = parts.join('/')
    draft.whole = false
  },
  function pathInserted(draft, random) {
    const parts = draft.path.split('/')
    parts.splice(1 + random.below(parts.length), 0, random.pick(pathParts))
    draft.path = parts.join('/')
    draft.whole = false
  },
  function pathCut(draft, random) {
    const parts = draft.path.split('/')
    parts.splice(1 + random.below(parts.length - 1), 1)
    draft.path = parts.join('/') || '/'
    draft.whole = false
  },
  function pathLong(draft, random) {
    draft.path += random.pick([
      '/a'.repeat(200),
      `/${'b'.repeat(12_000)}`,
      '/',
      '//',
      '/providers',
      '/register',
    ])
    draft.whole = false
  },
  function pathCase(draft, random) {
    draft.path = random.chance(0.5) ? draft.path.toUpperCase() : draft.path.toLowerCase()
  },
  function version(draft, random) {
    draft.query = draft.query.filter((part) => !part.startsWith('api-version='))
    if (random.chance(0.8)) draft.query.push(`api-version=${random.pick(values)}`)
  },
  function query(draft, random) {
    for (let count = random.below(3); count >= 0; count--) {
      draft.query.push(`${random.pick(parameters)}=${random.pick(values)}`)
    }
  },
  function queryMany(draft, random) {
    draft.query.push(
      ...Array.from({ length: 1000 }, (_, n) => `${random.pick(['a', '$top', `n${n}`])}=1`),
    )
  },
  function header(draft, random) {
    for (let count = random.below(3); count >= 0; count--) {
      draft.headers.splice(random.below(draft.headers.length + 1), 0, random.pick(oddHeaders))
    }
    // With a wrong length or encoding, the server may wait for more.
    draft.incomplete ||= draft.headers.some((line) =>
      /^(content-length|transfer-encoding|expect|upgrade|connection)/i.test(line),
    )
  },
  function mediaType(draft, random) {
    draft.headers = draft.headers.filter((line) => !line.startsWith('Content-Type:'))
    if (random.chance(0.8)) draft.headers.push(`Content-Type: ${random.pick(mediaTypes)}`)
  },
  function authorization(draft, random) {
    draft.headers = draft.headers.filter((line) => !line.startsWith('Authorization:'))
    if (random.chance(0.8)) draft.headers.push(`Authorization: ${random.pick(authorizations)}`)
  },
  function method(draft, random) {
    draft.method = random.pick(methods)
    draft.incomplete ||= draft.method === 'CONNECT'
  },
  function framing(draft, random) {
    draft.framing = random.pick(['short', 'wrong', 'chunked', 'none'] as const)
    draft.incomplete = true
  },
  function bodyAnyway(draft) {
    if (draft.body.length > 0) return
    draft.body = Buffer.from('{"properties":{}}')
    draft.framing = 'length'
  },
]

export function makeCase(fixture: FuzzFixture, random: Random): FuzzCase {
  if (random.chance(0.03)) return garbage(random)
  const route = random.pick(fixture.routes)
  const draft = draftOf(route, fixture, random)
  for (let count = random.below(4); count > 0; count--) {
    const mutate = random.pick(mutations)
    mutate(draft, random)
    draft.done.push(mutate.name)
  }
  const search = draft.query.length === 0 ? '' : `?${draft.query.join('&')}`
  const { lines, body } = framed(draft, random)
  const head = [`${draft.method} ${draft.path}${search} HTTP/1.1`, ...draft.headers, ...lines]
  return {
    method: draft.method,
    bytes: Buffer.concat([latin1(`${head.join('\r\n')}\r\n\r\n`), body]),
    summary: `${route.method} ${route.path} [${draft.done.join(', ')}]`,
    families: new Set(
      draft.whole
        ? [route.errorFamily, 'resource-manager']
        : ['resource-manager', 'health', 'data-share'],
    ),
    incomplete: draft.incomplete,
  }
}

function framed(draft: Draft, random: Random): { readonly lines: string[]; readonly body: Buffer } {
  const { body } = draft
  switch (draft.framing) {
    case 'none':
      return { lines: [], body }
    case 'length':
      return { lines: [`Content-Length: ${body.length}`], body }
    case 'short':
      return { lines: [`Content-Length: ${body.length + 1 + random.below(1000)}`], body }
    case 'wrong':
      return {
        lines: ['Transfer-Encoding: chunked'],
        body: Buffer.concat([
          latin1(random.pick(['zz\r\n', '-1\r\n', 'fffffffffffffffff\r\n', '5\r\nab\r\n'])),
          body,
        ]),
      }
    case 'chunked': {
      const cut = random.below(body.length + 1)
      const parts = [body.subarray(0, cut), body.subarray(cut)].filter((part) => part.length > 0)
      const chunks = parts.flatMap((part) => [
        latin1(`${part.length.toString(16)}\r\n`),
        part,
        latin1('\r\n'),
      ])
      return {
        lines: ['Transfer-Encoding: chunked'],
        body: Buffer.concat([...chunks, latin1('0\r\n\r\n')]),
      }
    }
    default:
      return draft.framing satisfies never
  }
}

/** Not HTTP at all. */
function garbage(random: Random): FuzzCase {
  const bytes = random.pick([
    () => Buffer.from(Array.from({ length: 1 + random.below(2000) }, () => random.below(256))),
    () => latin1('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
    () => latin1('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    () => latin1('GET / HTTP/9.9\r\n\r\n'),
    () => latin1('GET\r\n\r\n'),
    () => latin1(`GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(5000)}\r\n`),
    () => latin1(`${'\r\n'.repeat(2000)}GET / HTTP/1.1\r\n\r\n`),
    () => latin1('GET http://elsewhere/ HTTP/1.1\r\nHost: h\r\n\r\n'),
    () => latin1('OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n'),
  ])()
  return {
    method: 'garbage',
    bytes,
    summary: `garbage ${JSON.stringify(bytes.toString('latin1', 0, 40))}`,
    families: new Set(['resource-manager']),
    incomplete: true,
  }
}
