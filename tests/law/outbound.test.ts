/**
 * The law of outbound connections: only `src/outbound` and its callers open sockets, resolve names or fetch
 * addresses. The files below are the only exceptions, each with its target and the reason why no policy is asked.
 */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sourceFiles } from './source.ts'

/** Code that opens a connection, resolves a name, or creates a client that does. Types are none. */
const ways: readonly (readonly [what: string, pattern: RegExp, bad: string])[] = [
  [
    'a module of the network',
    /import (?!type )(?:\* as )?(?:\w+,? )?(?:\{[^}]*\} )?from '(?:node:)?(?:net|tls|https?|http2|dgram|dns|dns\/promises)'/,
    "import { connect } from 'node:net'",
  ],
  [
    'the global fetch',
    /(?:await|return|=>|=|\(|\?\?)\s*fetch\b(?!:)|globalThis\.fetch/,
    'await fetch(url)',
  ],
  ['a web socket', /\bnew WebSocket\(|\bnew EventSource\(/, 'new WebSocket(url)'],
  ['a PostgreSQL session', /\bnew (?:pg\.)?(?:Client|Pool)\(/, 'new pg.Client(config)'],
  ['a blob client', /\bnew BlobServiceClient\(/, 'new BlobServiceClient(endpoint)'],
  [
    'a program',
    /import (?!type )(?:(?!\bfrom\b)[^;'])*from '(?:node:)?child_process'/,
    "import { spawn } from 'node:child_process'",
  ],
  [
    'a package that connects',
    /from '(?:undici|axios|got|node-fetch|ws|ssh2|nodemailer|postgres|mysql2?|redis|ioredis)'/,
    "import ws from 'ws'",
  ],
]

const operator = 'the operator’s own address, which no caller names'
const routed = 'sockets and hosts are those of a route of src/outbound'
const machine = 'a program of this machine that connects to nothing'

const allowed: Readonly<Record<string, string>> = {
  'src/stores/postgres/open.ts': operator,
  'src/stores/postgres/gathered-socket.ts': operator,
  'src/engines/containers/docker/client.ts': operator,
  'src/engines/containers/kubernetes/client.ts': operator,
  'src/engines/containers/probe.ts':
    'probes the containers of a group at the address of the engine',
  'src/installation/outside-key.ts':
    'runs the operator’s own command at start, which no caller names',
  'src/http/failure.ts': 'names of statuses',
  'src/http/listener.ts': 'listens; connects to nothing',
  'src/http/web-socket/accept-web-socket.ts': 'answers handshakes; connects to nothing',
  'src/http/metrics-listener.ts': 'listens; connects to nothing',
  'src/http/connections.ts': 'closes its own listener; connects to nothing',
  'src/http/public-url.ts': 'tells connections of https by their class; connects to nothing',
  'src/tls/certificates.ts': 'checks that certificate and key belong together',
  'src/tls/trust.ts': 'adds an authority to those that this process trusts',
  'src/identity/oauth-request.ts': 'makes a request of its own process; connects to nothing',
  'src/threads/begin-process.ts': 'a process of our own that connects to nothing, or that of names',
  'src/engines/repositories/git-program.ts': 'git, which has no way out but the forward proxy',
  'src/engines/databases/postgres/connect.ts': routed,
  'src/engines/databases/postgres/schema.ts': 'reads the authorities that this process trusts',
  'src/engines/databases/postgres/client-programs.ts': routed,
  'src/engines/databases/postgres/find-client-programs.ts': machine,
  'src/engines/databases/postgres/looks/main.ts': 'trusts the authorities that its parent trusts',
  'src/engines/databases/postgres/looks/looks-process.ts':
    'starts its process, which asks for each route',
  'src/engines/databases/postgres/postgres-engine.ts':
    'starts its workers, which are given the policy',
  'src/engines/copy/tables/postgres-table.ts': routed,
  'src/engines/copy/blobs/bounded-client.ts': routed,
  'src/engines/copy/blobs/blob-service.ts': routed,
  'src/engines/copy/blobs/blob-puller.ts': routed,
  'src/engines/copy/files/atomic-swap.ts': machine,
  'src/engines/copy/worker/worker-engine.ts': 'starts its worker, which is given the policy',
}

/** Code that opens TLS, or passes options of it to what does. */
const securing =
  /import (?!type )[^;']*from '(?:node:)?(?:https|tls)'|\brejectUnauthorized\b|\bcheckServerIdentity\b|\b(?:ssl|tls): \{|\btls\.connect\(/

const aThread = 'its connections are those of src/outbound/tls-thread'
/** Where handshakes run, as a server that a caller names can make each of them take long. */
const aProcess = 'runs in a process of its own, and never in the server’s'
const handshakesIn: Readonly<Record<string, string>> = {
  'src/outbound/tls-thread/main.ts': 'runs in a thread of its own',
  'src/outbound/agents.ts': aProcess,
  'src/engines/copy/tables/postgres-table.ts': aProcess,
  'src/engines/databases/postgres/connect.ts': aProcess,
  'src/engines/containers/kubernetes/client.ts': operator,
  'src/engines/mail/smtp/smtp-engine.ts': operator,
}

/** These take their options from elsewhere, or open none. */
const secured: Readonly<Record<string, string>> = {
  'src/engines/copy/blobs/bounded-client.ts': 'its agent is that of src/outbound',
  'src/engines/copy/blobs/blob-puller.ts': 'its agent is that of src/outbound',
  'src/engines/databases/postgres/schema.ts': 'reads the authorities that this process trusts',
  'src/engines/databases/postgres/looks/main.ts': 'trusts the authorities that its parent trusts',
  'src/engines/databases/postgres/looks/looks-process.ts':
    'reads the authorities that this process trusts',
  'src/http/listener.ts': 'listens; connects to nothing',
  'src/http/connections.ts': 'closes its own listener; connects to nothing',
  'src/http/public-url.ts': 'tells connections of https by their class; connects to nothing',
  'src/outbound/tls.ts': 'makes the options',
  'src/outbound/request.ts': aThread,
  'src/outbound/tls-thread/secure-connection.ts': 'reads the authorities that this process trusts',
  'src/engines/containers/probe.ts': aThread,
  'src/tls/certificates.ts': 'checks that certificate and key belong together',
  'src/tls/trust.ts': 'adds an authority to those that this process trusts',
}

/** The command line and the client are not part of the server: they connect where their user says. */
const outside = /^src\/(?:cli|client|outbound)\//

function strip(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** Classifies an address, but connects to nothing. */
const pure =
  /import \{ (?:(?:type \w+|BlockList|isIP|isIPv4|isIPv6|SocketAddress),? )+\} from 'node:net'/g

function found(text: string): readonly string[] {
  const code = strip(text).replace(pure, '')
  return ways.filter(([, pattern]) => pattern.test(code)).map(([what]) => what)
}

describe('the way out', () => {
  const files = sourceFiles('src').filter((file) => !file.isTest && !outside.test(file.path))

  test('nothing connects besides src/outbound and the files named', () => {
    const reaching = files
      .filter(({ path }) => allowed[path] === undefined)
      .flatMap(({ path, text }) => found(text).map((what) => `${path}: ${what}`))
    assert.deepEqual(reaching, [], 'these reach the network: take a route of src/outbound')
  })

  test('the files named are there and need it', () => {
    const idle = Object.keys(allowed).filter((path) => {
      const file = files.find((one) => one.path === path)
      return file === undefined || found(file.text).length === 0
    })
    assert.deepEqual(idle, [], 'these need no exception')
  })

  test('drivers that take a host get a socket or an agent of a route', () => {
    for (const { path, text } of files) {
      const code = strip(text)
      if (allowed[path] !== routed) continue
      assert.match(code, /socketOf\(|agentOf\(|routeTo\(|boundedClient\(/, path)
    }
  })

  test('whatever opens TLS takes the options of src/outbound, which no other side can make expensive', () => {
    const all = sourceFiles('src').filter(
      ({ path, isTest }) => !isTest && !/^src\/(?:cli|client)\//.test(path),
    )
    const opening = all.filter(({ text }) => securing.test(strip(text)))
    const bare = opening
      .filter(({ path, text }) => secured[path] === undefined && !/\.\.\.tlsOutward\b/.test(text))
      .map(({ path }) => path)
    assert.deepEqual(bare, [], 'pass `...tlsOutward` of src/outbound/tls.ts')
    const shaking = all.filter(({ text }) => /\btlsOutward\b,?[^:]/.test(strip(text)))
    assert.deepEqual(
      shaking.map(({ path }) => path).filter((path) => path !== 'src/outbound/tls.ts'),
      Object.keys(handshakesIn).sort(),
      'say where its handshakes run: connections of the server itself are opened by src/outbound/tls-thread',
    )
    const paths = opening.map(({ path }) => path)
    const idle = Object.keys(secured).filter((path) => !paths.includes(path))
    assert.deepEqual(idle, [], 'these need no exception')
    // A pattern that finds none of these would hold for nothing.
    for (const path of [
      'outbound/request.ts',
      'outbound/agents.ts',
      'engines/containers/probe.ts',
    ]) {
      assert.ok(paths.includes(`src/${path}`), path)
    }
  })

  test('known-bad examples are caught', () => {
    assert.match('ssl: { rejectUnauthorized: false }', securing)
    assert.match("import https from 'node:https'", securing)
    assert.doesNotMatch("import type { Server } from 'node:tls'", securing)
    for (const [what, pattern, bad] of ways) assert.match(bad, pattern, what)
    assert.deepEqual(found("import { BlockList, isIP } from 'node:net'"), [])
    assert.equal(found("import { isIP, connect } from 'node:net'").length, 1)
    assert.deepEqual(found("import type { Socket } from 'node:net'"), [])
    assert.deepEqual(found('repositories.fetch(one)'), [])
  })
})
