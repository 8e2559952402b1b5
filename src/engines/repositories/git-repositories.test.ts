/**
 * Repositories on this machine's disk, fetched like any other: which files come out, what is refused, what is left
 * behind.
 */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { openForwardProxy } from '#outbound/forward-proxy.ts'
import { closedPort, localServer, openWay, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { type GitOptions, gitRepositories } from './git-repositories.ts'
import { readAddress } from './repository-address.ts'
import { RepositoryError } from './repository-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'armature-git-test-'))
const work = join(folder, 'work')
const copies = join(folder, 'copies')
const repository = `file://${join(folder, 'bare.git')}`
const commits: string[] = []

function hasGit(): boolean {
  try {
    execFileSync('git', ['--version'])
    return true
  } catch {
    return false
  }
}
const available = hasGit()
const reason = 'git is not here; install the package git'

function git(...words: readonly string[]): string {
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.net']
  return execFileSync('git', ['-C', work, ...person, ...words], { encoding: 'utf8' }).trim()
}

before(() => {
  mkdirSync(copies)
  if (!available) return
  mkdirSync(work)
  git('init', '--quiet', '--initial-branch=main')
  for (const text of ['one', 'two']) {
    writeFileSync(join(work, 'file'), text)
    mkdirSync(join(work, 'inner'), { recursive: true })
    writeFileSync(join(work, 'inner', text), text)
    git('add', '.')
    git('commit', '--quiet', '-m', text)
    commits.push(git('rev-parse', 'HEAD'))
    git('tag', `v-${text}`)
  }
  git('branch', 'older', 'v-one')
  git('clone', '--quiet', '--bare', work, join(folder, 'bare.git'))
  // A server of plain files needs this.
  git('--git-dir', join(folder, 'bare.git'), 'update-server-info')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const options: GitOptions = { outbound: openWay, schemes: ['file'], folder: copies, secondsMax: 60 }

async function filesOf(
  wish: { directory?: string; revision?: string },
  given: GitOptions = options,
  from = repository,
): Promise<{ names: readonly string[]; text: string }> {
  const { directory = 'repo', revision } = wish
  await using copy = await gitRepositories(given).fetch({
    owner: 'g',
    repository: from,
    directory,
    revision,
  })
  const pieces: Uint8Array[] = []
  for await (const piece of copy.archive()) pieces.push(piece)
  const tar = Buffer.concat(pieces)
  const again: Uint8Array[] = []
  for await (const piece of copy.archive()) again.push(piece)
  assert.ok(tar.equals(Buffer.concat(again)), 'a second stream is the same')
  const names = execFileSync('tar', ['-t'], { input: tar, encoding: 'utf8' })
  const prefix = directory === '.' ? '' : `${directory}/`
  const text = execFileSync('tar', ['-xO', `${prefix}file`], { input: tar, encoding: 'utf8' })
  return { names: names.trim().split('\n').sort(), text }
}

async function refused(
  work: Promise<unknown>,
  retry: 'later' | 'never',
  words: RegExp,
): Promise<void> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof RepositoryError, String(error))
  assert.match(error.message, words)
  assert.equal(error.retry, retry)
}

/** A server of plain files, which asks for a missing password. */
function serveFiles(request: IncomingMessage, response: ServerResponse, isKnown = true): void {
  const path = join(folder, new URL(request.url ?? '', 'http://here').pathname)
  const isFile = existsSync(path) && statSync(path).isFile()
  const status = isKnown ? (isFile ? 200 : 404) : 401
  response.writeHead(status, { 'WWW-Authenticate': 'Basic realm="here"' })
  response.end(status === 200 ? readFileSync(path) : '')
}

describe('a repository', () => {
  test('as files in the directory, or at the top; branch, tag and commit', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    assert.deepEqual(await filesOf({}), {
      names: ['repo/', 'repo/file', 'repo/inner/', 'repo/inner/one', 'repo/inner/two'],
      text: 'two',
    })
    const top = await filesOf({ directory: '.', revision: 'older' })
    assert.deepEqual(top, { names: ['file', 'inner/', 'inner/one'], text: 'one' })
    for (const revision of ['v-one', commits[0] ?? '', (commits[0] ?? '').slice(0, 10)]) {
      assert.equal((await filesOf({ revision })).text, 'one', revision)
    }
    assert.deepEqual(readdirSync(copies), [], 'nothing is left behind')
  })

  test('over http, with a password, from a server of plain files', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const asked: string[] = []
    await using server = await localServer((request, response) => {
      asked.push(request.headers.authorization ?? '')
      serveFiles(request, response, asked.at(-1) !== '')
    })
    const { port } = server
    const at = (user: string, path: string) => `http://${user}127.0.0.1:${port}/${path}`
    const given: GitOptions = { ...options, schemes: ['http'] }
    assert.equal((await filesOf({}, given, at('ada:pass@', 'bare.git'))).text, 'two')
    assert.equal(new Set(asked).size, 1)
    const older = await filesOf({ revision: 'older' }, given, at('ada:pass@', 'bare.git'))
    assert.equal(older.text, 'one')
    const missing = filesOf({}, given, at('ada:pass@', 'none.git'))
    await refused(missing, 'later', /no git repository can be fetched/)
    await refused(filesOf({}, given, at('', 'bare.git')), 'later', /wants another name or password/)
  })

  test('several at once wait for one another', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const repositories = gitRepositories({ ...options, concurrentMax: 1 })
    const wish = { owner: 'g', repository, directory: 'r', revision: undefined }
    const all = await Promise.all([1, 2, 3].map(() => repositories.fetch(wish)))
    for (const copy of all) await copy[Symbol.asyncDispose]()
    assert.deepEqual(readdirSync(copies), [])
  })

  test('servers of one owner that do not answer hold up no other owner', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const server = await localServer(() => undefined)
    const repositories = gitRepositories({ ...options, schemes: ['http', 'file'], secondsMax: 30 })
    const fetch = (owner: string, from: string) =>
      repositories.fetch({ owner, repository: from, directory: 'r', revision: undefined })
    const slow = `http://127.0.0.1:${server.port}/slow.git`
    let ended = 0
    const waiting = Promise.allSettled(
      Array.from({ length: 8 }, () => fetch('slow', slow).finally(() => ended++)),
    )
    const copy = await fetch('other', repository)
    assert.equal(ended, 0)
    await copy[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await waiting
  })

  test('when the process ends, what is under way ends, and what waits does not begin', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await localServer(() => undefined)
    const closing = new AbortController()
    const { signal } = closing
    const given: GitOptions = { ...options, schemes: ['http'], concurrentMax: 1, signal }
    const repositories = gitRepositories(given)
    const wish = { owner: 'g', directory: 'r', revision: undefined }
    const at = `http://127.0.0.1:${server.port}/x`
    const all = [1, 2].map(() => repositories.fetch({ ...wish, repository: at }))
    await until(() => server.requests.length === 1)
    const ends = [/took too long/, /nobody waits/].map((words, at) =>
      refused(all[at] ?? Promise.resolve(), 'later', words),
    )
    closing.abort()
    await Promise.all(ends)
    await refused(repositories.fetch({ ...wish, repository: at }), 'later', /nobody waits/)
    assert.equal(server.requests.length, 1)
    assert.deepEqual(readdirSync(copies), [], 'nothing is left behind')
  })

  test('one that is not wanted any more, or waits for too long, waits no longer and is not fetched', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await localServer(() => undefined)
    const given: GitOptions = { ...options, schemes: ['http'], concurrentMax: 1 }
    const wish = { owner: 'g', directory: 'r', revision: undefined }
    const repository = `http://127.0.0.1:${server.port}/x`
    const repositories = gitRepositories(given)
    const [first, second] = [new AbortController(), new AbortController()]
    const [fetched, waits] = [first, second].map(({ signal }) =>
      repositories.fetch({ ...wish, repository, signal }),
    )
    await until(() => server.requests.length === 1)
    second.abort()
    await refused(waits ?? Promise.resolve(), 'later', /nobody waits/)
    first.abort()
    await refused(fetched ?? Promise.resolve(), 'later', /took too long/)
    const impatient = gitRepositories({ ...given, waitSecondsMax: 0 })
    const held = impatient.fetch({ ...wish, repository, signal: AbortSignal.timeout(2000) })
    await refused(impatient.fetch({ ...wish, repository }), 'later', /other repositories .*first/)
    await refused(held, 'later', /took too long/)
    assert.equal(server.requests.length, 2)
    assert.deepEqual(readdirSync(copies), [], 'nothing is left behind')
  })

  test('repositories of groups of one subscription leave a place to another one', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const server = await localServer(() => undefined)
    const repositories = gitRepositories({ ...options, schemes: ['http', 'file'], secondsMax: 30 })
    const fetch = (owner: string, from: string) =>
      repositories.fetch({ owner, repository: from, directory: 'r', revision: undefined })
    const slow = `http://127.0.0.1:${server.port}/slow.git`
    const waiting = Promise.allSettled(
      Array.from({ length: 12 }, (_, n) =>
        fetch(`/subscriptions/s/resourcegroups/g${n % 6}`, slow),
      ),
    )
    const copy = await fetch('/subscriptions/other/resourcegroups/g', repository)
    await until(() => server.requests.length === 5)
    await copy[Symbol.asyncDispose]()
    await server[Symbol.asyncDispose]()
    await waiting
  })

  test('what is not there, too large or too slow is said, and nothing is left behind', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const fetch = (wish: object, given: Partial<GitOptions> = {}) =>
      gitRepositories({ ...options, ...given }).fetch({
        owner: 'g',
        ...{ repository, directory: 'repo', revision: undefined },
        ...wish,
      })
    await refused(fetch({ revision: 'none' }), 'never', /no revision 'none'/)
    await refused(fetch({ repository: `${repository}-none` }), 'later', /no git repository/)
    await refused(fetch({}, { bytesMax: 100 }), 'never', /more than 100 bytes/)
    await refused(fetch({}, { secondsMax: 0 }), 'later', /too long/)
    await refused(fetch({}, { program: 'no-git-here' }), 'later', /cannot be run/)
    assert.deepEqual(readdirSync(copies), [])
    await using copy = await fetch({})
    for await (const _ of copy.archive()) break
  })

  /** A git that does more at the end of its work, in the folder of the repository. */
  function gitThen(name: string, words: string): string {
    const program = join(folder, name)
    writeFileSync(program, `#!/bin/sh\ngit "$@" || exit\ncase "$*" in *archive*) ${words};; esac\n`)
    chmodSync(program, 0o755)
    return program
  }
  const wish = { owner: 'g', repository, directory: 'repo', revision: undefined }

  test('what somebody else removed meanwhile is removed', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const program = gitThen('removing', 'rm -r "$2"')
    assert.equal((await filesOf({}, { ...options, program })).text, 'two')
    assert.deepEqual(readdirSync(copies), [])
  })

  test('of a folder that cannot be removed no files are kept, and its path is not said', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const half = (letter: string) => Array.from({ length: 12 }, () => letter.repeat(200)).join('/')
    // In two halves: no path may be as long as the whole.
    const words = `cd "$2" && mkdir -p ${half('a')} ${half('b')} && mv ${'b'.repeat(200)} ${half('a')}`
    const program = gitThen('deep', words)
    const said = /^the repository cannot be kept here now \(ENAMETOOLONG\)$/
    await refused(gitRepositories({ ...options, program }).fetch(wish), 'later', said)
    const left = readdirSync(copies)
    execFileSync('rm', ['-r', ...left.map((one) => join(copies, one))])
    assert.deepEqual(
      left.filter((one) => one.endsWith('.tar')),
      [],
    )
    const absent = gitRepositories({ ...options, folder: join(folder, 'absent') })
    await refused(
      absent.fetch(wish),
      'later',
      /^the repository cannot be kept here now \(ENOENT\)$/,
    )
  })
})

describe('what git connects to', () => {
  const secret = 'the body of an inner service'

  /** An internal text service, such as a metadata service: git would repeat its text as the server's message. */
  const inner = () =>
    localServer((_, response) => {
      response.writeHead(403, { 'content-type': 'text/plain' }).end(secret)
    })

  async function messageOf(repositoryUrl: string, way: GitOptions['outbound']): Promise<string> {
    const given: GitOptions = { ...options, schemes: ['http', 'https'], outbound: way }
    const error = await filesOf({}, given, repositoryUrl).then(
      () => undefined,
      (cause: unknown) => cause,
    )
    assert.ok(error instanceof RepositoryError, String(error))
    assert.deepEqual(readdirSync(copies), [])
    return error.message.replace(/'[^']*'/, 'HOST')
  }

  test('a refusal says neither what answers nor whether anything does', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await inner()
    const { outbound, told } = watchedWay({ mode: 'open' }, {})
    const messages = new Set([
      await messageOf(`http://127.0.0.1:${server.port}/x`, outbound),
      await messageOf(`http://127.0.0.1:${await closedPort()}/x`, outbound),
      await messageOf(`https://127.0.0.1:${server.port}/x`, outbound),
      await messageOf('http://absent.test/x', outbound),
    ])
    assert.equal(messages.size, 1, [...messages].join('\n'))
    assert.doesNotMatch([...messages].join(), /body|refused|40\d|50\d/)
    assert.match(told.join('\n'), new RegExp(secret))
    assert.match(told.join('\n'), /ECONNREFUSED/)
  })

  test('inner addresses are not asked: by number, by name, by a redirect, by a name that changes', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await inner()
    const { port } = server
    await using outer = await localServer((request, response) => {
      const to = request.url?.startsWith('/https') ? 'https' : 'http'
      response.writeHead(302, { location: `${to}://inside.test:${port}${request.url}` }).end()
    })
    const names = {
      'inside.test': [['127.0.0.1']],
      'outer.test': [['127.0.0.1']],
      'moving.test': [['127.0.0.1'], ['127.9.9.9']],
    }
    const { outbound, told, asked } = watchedWay(
      { allow: [`outer.test:${outer.port}`, `moving.test:${port}`], deny: ['127.9.9.9'] },
      names,
    )
    for (const repositoryUrl of [
      `http://127.0.0.1:${port}/x`,
      `http://2130706433:${port}/x`,
      `http://0177.1:${port}/x`,
      `http://[::ffff:127.0.0.1]:${port}/x`,
      `https://localhost:${port}/x`,
    ]) {
      assert.match(await messageOf(repositoryUrl, outbound), /^its address must not be asked/)
    }
    assert.deepEqual(asked, [])
    const indirect = [
      `http://inside.test:${port}/x`,
      `http://outer.test:${outer.port}/x`,
      `http://outer.test:${outer.port}/https`,
      `http://moving.test:${port}/x`,
    ]
    for (const repositoryUrl of indirect) {
      assert.match(await messageOf(repositoryUrl, outbound), /no git repository can be fetched/)
    }
    assert.equal(outer.requests.length, 2)
    assert.deepEqual(server.requests, [])
    assert.match(told.join('\n'), /"host":"inside\.test".*127\.0\.0\.1 is a loopback address/)
    assert.match(told.join('\n'), /"host":"moving\.test".*'127\.9\.9\.9' is denied/)
  })

  test('an allowed redirect is followed', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await localServer((request, response) => serveFiles(request, response))
    await using outer = await localServer((request, response) => {
      const location = `http://inner.test:${server.port}${request.url}`
      response.writeHead(301, { location }).end()
    })
    const names = { 'outer.test': [['127.0.0.1']], 'inner.test': [['127.0.0.1']] }
    const { outbound } = watchedWay({ allow: ['*.test'] }, names)
    const given: GitOptions = { ...options, schemes: ['http'], outbound }
    const { text } = await filesOf({}, given, `http://outer.test:${outer.port}/bare.git`)
    assert.equal(text, 'two')
  })

  test('a name and password go to no server that theirs redirects to', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using inner = await localServer((request, response) => serveFiles(request, response))
    await using outer = await localServer((request, response) => {
      const [, to, rest = ''] = /^\/(elsewhere|here)(.*)$/.exec(request.url ?? '') ?? []
      if (to === undefined) return serveFiles(request, response, 'authorization' in request.headers)
      const host = to === 'here' ? request.headers.host : `inner.test:${inner.port}`
      response.writeHead(301, { location: `http://${host}${rest}` }).end()
    })
    const names = { 'outer.test': [['127.0.0.1']], 'inner.test': [['127.0.0.1']] }
    const way = watchedWay({ allow: ['*.test'] }, names)
    const given: GitOptions = { ...options, schemes: ['http'], outbound: way.outbound }
    const at = (path: string) => `http://ada:pass@Outer.test:${outer.port}/${path}/bare.git`
    assert.equal((await filesOf({}, given, at('here'))).text, 'two')
    await refused(filesOf({}, given, at('elsewhere')), 'later', /no git repository can be fetched/)
    assert.deepEqual(inner.requests, [])
    assert.match(way.told.join('\n'), /"host":"inner\.test".*for no other server/)
  })

  test('a name and password that their server repeats are in no log', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    await using server = await localServer(({ headers }, response) => {
      const basic = String(headers.authorization).slice('Basic '.length)
      const pair = Buffer.from(basic, 'base64').toString()
      response.writeHead(403, { 'content-type': 'text/plain' }).end(`given ${basic}, ${pair}`)
    })
    const way = watchedWay({ allow: ['127.0.0.1'] })
    const given: GitOptions = { ...options, schemes: ['http'], outbound: way.outbound }
    const at = `http://ada:pass%20word@127.0.0.1:${server.port}/bare.git`
    await refused(filesOf({}, given, at), 'later', /no git repository can be fetched/)
    assert.match(way.told.join('\n'), /remote: given \*+, ada:\*+/)
  })

  test('the proxy serves nobody without the secret, and nothing but what it is for', async () => {
    await using server = await localServer((_, response) => response.end(secret))
    await using proxy = await openForwardProxy(openWay, {
      bytesMax: 2 ** 20,
      answerBytesMax: () => 2 ** 20,
    })
    const { port, username, password } = new URL(proxy.url)
    const basic = Buffer.from(`${username}:${password}`).toString('base64')
    const ask = (path: string, authorization?: string): Promise<string> =>
      new Promise((resolve, reject) => {
        const headers =
          authorization === undefined ? {} : { 'proxy-authorization': `Basic ${authorization}` }
        request({ port, host: '127.0.0.1', path, headers }, async (answer) => {
          resolve(`${answer.statusCode} ${await text(answer)}`)
        })
          .once('error', reject)
          .end()
      })
    const url = `http://127.0.0.1:${server.port}/`
    assert.equal(await ask(url), '407 ')
    assert.equal(await ask(url, 'YTpi'), '407 ')
    assert.equal(await ask('/', basic), '502 ')
    assert.equal(await ask('ftp://127.0.0.1/', basic), '502 ')
    assert.deepEqual(server.requests, [])
    assert.equal(await ask(url, basic), `200 ${secret}`)
  })
})

describe('addresses', () => {
  test('only plain addresses of allowed schemes reach git', async () => {
    for (const address of [
      'ext::sh -c touch% /tmp/x',
      'ext::sh',
      '--upload-pack=touch',
      '-https://host/x',
      'ssh://-oProxyCommand=touch/x',
      'git@host:x',
      'https:host/x',
      'https://-host/x',
      'https://ho st/x',
      'https:\\\\host/x',
      'file:///etc',
      'https://host/x\n--upload-pack=y',
      '',
    ]) {
      assert.throws(() => readAddress(address, ['https', 'http']), RepositoryError, address)
    }
    const fetch = (wish: object) =>
      gitRepositories(options).fetch({
        owner: 'g',
        ...{ repository, directory: 'repo', revision: undefined },
        ...wish,
      })
    for (const revision of ['--output=/tmp/x', '-x', 'a..b', 'a:b', 'a b', '@{u}', '+x:refs/y']) {
      await refused(fetch({ revision }), 'never', /revision/)
    }
    for (const directory of ['../out', '/etc', 'a/../../b', 'a\nb']) {
      await refused(fetch({ directory }), 'never', /directory/)
    }
  })

  test('a password is no part of what git is called with', () => {
    const { url, authorization } = readAddress('https://ada:p%40ss@host.example/x.git', ['https'])
    assert.equal(url, 'https://host.example/x.git')
    const pair = Buffer.from((authorization ?? '').replace('Basic ', ''), 'base64')
    assert.equal(pair.toString(), 'ada:p@ss')
    assert.equal(readAddress('https://host.example/x', ['https']).authorization, undefined)
  })
})
