/** Repositories on this machine's disk, got as any other: which files come out, what is refused, what is left behind. */

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { requireOrSkip } from '../../../tests/require.ts'
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
  // What a server of plain files needs.
  git('--git-dir', join(folder, 'bare.git'), 'update-server-info')
})
after(() => rmSync(folder, { recursive: true, force: true }))

const options: GitOptions = { schemes: ['file'], folder: copies, secondsMax: 60 }

async function filesOf(
  wish: { directory?: string; revision?: string },
  given: GitOptions = options,
  from = repository,
): Promise<{ names: readonly string[]; text: string }> {
  const { directory = 'repo', revision } = wish
  await using copy = await gitRepositories(given).fetch({ repository: from, directory, revision })
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
    const server = createServer((request, response) => {
      const path = join(folder, new URL(request.url ?? '', 'http://here').pathname)
      asked.push(request.headers.authorization ?? '')
      const known = existsSync(path) && statSync(path).isFile()
      const status = asked.at(-1) === '' ? 401 : known ? 200 : 404
      response.writeHead(status, { 'WWW-Authenticate': 'Basic realm="here"' })
      response.end(status === 200 ? readFileSync(path) : '')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    // A server that listens on a port has an address of this shape.
    const { port } = server.address() as AddressInfo
    const at = (user: string, path: string) => `http://${user}127.0.0.1:${port}/${path}`
    const given: GitOptions = { ...options, schemes: ['http'] }
    assert.equal((await filesOf({}, given, at('ada:pass@', 'bare.git'))).text, 'two')
    assert.equal(new Set(asked).size, 1)
    const older = await filesOf({ revision: 'older' }, given, at('ada:pass@', 'bare.git'))
    assert.equal(older.text, 'one')
    const missing = filesOf({}, given, at('ada:pass@', 'none.git'))
    await refused(missing, 'never', /not found/)
    await refused(filesOf({}, given, at('', 'bare.git')), 'never', /Username|[Aa]uthentication/)
  })

  test('several at once wait for one another', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const repositories = gitRepositories({ ...options, concurrentMax: 1 })
    const wish = { repository, directory: 'r', revision: undefined }
    const all = await Promise.all([1, 2, 3].map(() => repositories.fetch(wish)))
    for (const copy of all) await copy[Symbol.asyncDispose]()
    assert.deepEqual(readdirSync(copies), [])
  })

  test('what is not there, too large or too slow is said, and nothing is left behind', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const fetch = (wish: object, given: GitOptions = {}) =>
      gitRepositories({ ...options, ...given }).fetch({
        ...{ repository, directory: 'repo', revision: undefined },
        ...wish,
      })
    await refused(fetch({ revision: 'none' }), 'never', /no revision 'none'/)
    await refused(fetch({ repository: `${repository}-none` }), 'never', /does not/)
    await refused(fetch({}, { bytesMax: 100 }), 'never', /more than 100 bytes/)
    await refused(fetch({}, { secondsMax: 0 }), 'later', /too long/)
    await refused(fetch({}, { program: 'no-git-here' }), 'later', /cannot be run/)
    assert.deepEqual(readdirSync(copies), [])
    await using copy = await fetch({})
    for await (const _ of copy.archive()) break
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
