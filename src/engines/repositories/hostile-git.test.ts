/**
 * A git server that sends without end: what comes through a fetch is bounded, and so is the memory of git. The servers here stop by
 * themselves, long after git should have been ended.
 */

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
import { stat } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, describe, test } from 'node:test'
import { createGzip } from 'node:zlib'
import { localServer, openWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { until } from '../../../tests/until.ts'
import { removeFolder } from './git-program.ts'
import { type GitOptions, gitRepositories } from './git-repositories.ts'
import { RepositoryError } from './repository-error.ts'

const folder = mkdtempSync(join(tmpdir(), 'armature-hostile-git-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function runs(program: string, ...words: readonly string[]): boolean {
  try {
    execFileSync(program, words)
    return true
  } catch {
    return false
  }
}
const available = runs('git', '--version')
const reason = 'git is not here; install the package git'

/** Far more than what is let through, and little enough for any machine. */
const sentMax = 150 * 2 ** 20
/** A list of references may have as much. */
const listMax = 16 * 2 ** 20
/** What lies in sockets and pipes between the server and git. */
const underWay = 24 * 2 ** 20

const packet = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
const service = `${packet('# service=git-upload-pack\n')}0000`
const references = Buffer.from(
  packet(`${'7'.repeat(40)} refs/heads/${'a'.repeat(900)}\n`).repeat(1000),
)
const first = packet(`${'7'.repeat(40)} HEAD\0multi_ack side-band-64k ofs-delta\n`)
const version2 = ['version 2\n', 'ls-refs\n', 'fetch=shallow\n', 'object-format=sha1\n']

interface Sink {
  readonly destroyed: boolean
  write(piece: Buffer): boolean
  once(event: 'drain', next: () => void): unknown
  end(last: string): unknown
}

/** Writes the piece again and again; gives what was written so far. */
function flood(sink: Sink, piece: Buffer, last: string): () => number {
  let sent = 0
  const go = (): void => {
    while (!sink.destroyed && sent < sentMax) {
      sent += piece.length
      if (!sink.write(piece)) {
        sink.once('drain', go)
        return
      }
    }
    sink.end(last)
  }
  go()
  return () => sent
}

function begin(
  response: ServerResponse,
  what: 'advertisement' | 'result',
  headers: Record<string, string> = {},
): void {
  response.on('error', () => undefined)
  response.writeHead(200, { 'content-type': `application/x-git-upload-pack-${what}`, ...headers })
}

/** References without end, compressed. */
function bomb(response: ServerResponse): void {
  begin(response, 'advertisement', { 'content-encoding': 'gzip' })
  const packed = createGzip({ level: 1 })
  packed.pipe(response)
  response.once('close', () => packed.destroy())
  packed.write(`${service}${first}`)
  flood(packed, references, '0000')
}

async function failure(repository: string, more: Partial<GitOptions> = {}) {
  const wish = { owner: 'g', repository, directory: 'r', revision: undefined }
  const given: GitOptions = { outbound: openWay, folder, secondsMax: 120, ...more }
  const error = await gitRepositories(given)
    .fetch(wish)
    .then(
      () => undefined,
      (cause: unknown) => cause,
    )
  assert.ok(error instanceof RepositoryError, String(error))
  const left = readdirSync(folder).filter((name) => name.startsWith('armature-repository'))
  assert.deepEqual(left, [], 'nothing is left behind')
  return error
}

describe('a git server that sends without end', () => {
  test('references before anything is requested are bounded', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    let sent = () => 0
    await using server = await localServer((_, response) => {
      begin(response, 'advertisement')
      response.write(`${service}${first}`)
      sent = flood(response, references, '0000')
    })
    const error = await failure(`http://127.0.0.1:${server.port}/r.git`)
    assert.match(error.message, /more than 16777216 bytes of branches and tags/)
    assert.equal(error.retry, 'never')
    assert.ok(sent() < listMax + underWay, `${sent()} bytes`)
  })

  test('references as an answer are bounded', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    let sent = () => 0
    const bodies: string[] = []
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      bodies.push(await text(request))
      begin(response, request.method === 'GET' ? 'advertisement' : 'result')
      if (request.method === 'GET') response.end(`${service}${version2.map(packet).join('')}0000`)
      else sent = flood(response, references, '0000')
    }
    await using server = await localServer((request, response) => void answer(request, response))
    const error = await failure(`http://127.0.0.1:${server.port}/r.git`)
    assert.match(bodies.at(-1) ?? '', /command=ls-refs/)
    assert.match(error.message, /more than 16777216 bytes of branches and tags/)
    assert.ok(sent() < listMax + underWay, `${sent()} bytes`)
  })

  test('files are bounded by what a repository may have, also where git keeps nothing of them', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    let sent = () => 0
    const shallow = `${packet(`shallow ${'7'.repeat(40)}`)}0000`
    // Progress, which git throws away.
    const progress = Buffer.from(packet(`\u0002${'.'.repeat(60_000)}`))
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const body = await text(request)
      begin(response, request.method === 'GET' ? 'advertisement' : 'result')
      if (request.method === 'GET') {
        response.end(`${service}${packet(`${'7'.repeat(40)} HEAD\0shallow side-band-64k\n`)}0000`)
      } else if (body.includes('done')) {
        response.write(`${shallow}${packet('NAK\n')}`)
        sent = flood(response, progress, '0000')
      } else response.end(shallow)
    }
    await using server = await localServer((request, response) => void answer(request, response))
    const error = await failure(`http://127.0.0.1:${server.port}/r.git`, { bytesMax: 2 ** 20 })
    assert.match(error.message, /the repository has more than 1048576 bytes/)
    assert.equal(error.retry, 'never')
    assert.ok(sent() < 4 * listMax + underWay, `${sent()} bytes`)
  })

  test('compressed over http gets no answer through', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const wanted = new Set<unknown>()
    await using server = await localServer((request, response) => {
      wanted.add(request.headers['accept-encoding'])
      bomb(response)
    })
    const error = await failure(`http://127.0.0.1:${server.port}/r.git`)
    assert.match(error.message, /no git repository can be fetched/)
    assert.deepEqual([...wanted], ['identity'])
  })

  test('compressed over https, which nobody sees into, meets the limit of memory', async (t) => {
    const has = available && runs('openssl', 'version')
    if (!requireOrSkip(t, has, 'git or openssl is not here')) return
    const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')]
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=a']
    const names = ['-addext', 'subjectAltName=IP:127.0.0.1']
    execFileSync('openssl', [...made, ...names, '-keyout', key, '-out', certificate], {
      stdio: 'ignore',
    })
    const options = { key: readFileSync(key), cert: readFileSync(certificate) }
    const server = createServer(options, (_, response) => bomb(response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    // The address of a server that listens on a port has this shape.
    const { port } = server.address() as AddressInfo
    try {
      const error = await failure(`https://127.0.0.1:${port}/r.git`, {
        memoryBytesMax: 96 * 2 ** 20,
        environment: { GIT_SSL_CAINFO: certificate },
      })
      assert.match(error.message, /git needs more than 100663296 bytes of memory/)
      assert.equal(error.retry, 'never')
    } finally {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    }
  })
})

test('a signature that a file asks for is given to no program', async (t) => {
  if (!requireOrSkip(t, available, reason)) return
  const at = (name: string) => join(folder, name)
  const [bare, programs, ran] = [at('signed.git'), at('programs'), at('ran')]
  mkdirSync(programs)
  for (const name of ['gpg', 'gpgsm', 'ssh-keygen']) {
    writeFileSync(join(programs, name), `#!/bin/sh\necho ${name} >> '${ran}'\n`, { mode: 0o755 })
  }
  const git = (words: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', bare, ...words], { input, encoding: 'utf8' }).trim()
  git(['init', '--quiet', '--bare'])
  const blob = (text: string) => git(['hash-object', '-w', '--stdin'], text)
  const tree = git(
    ['mktree'],
    `100644 blob ${blob('f export-subst')}\t.gitattributes\n100644 blob ${blob('$Format:%G?$')}\tf\n`,
  )
  for (const kind of ['PGP SIGNATURE', 'SIGNED MESSAGE', 'SSH SIGNATURE']) {
    const person = 'a <a@example.net> 1700000000 +0000'
    const signature = `gpgsig -----BEGIN ${kind}-----\n \n iQ\n -----END ${kind}-----`
    const commit = `tree ${tree}\nauthor ${person}\ncommitter ${person}\n${signature}\n\nx\n`
    git(['update-ref', 'HEAD', git(['hash-object', '-t', 'commit', '-w', '--stdin'], commit)])
    await using copy = await gitRepositories({
      outbound: openWay,
      schemes: ['file'],
      folder,
      searchPath: `${programs}:/usr/local/bin:/usr/bin:/bin`,
    }).fetch({ owner: 'g', repository: `file://${bare}`, directory: '.', revision: undefined })
    const files: Uint8Array[] = []
    for await (const piece of copy.archive()) files.push(piece)
    assert.match(Buffer.concat(files).toString('latin1'), /f\0/)
    assert.equal(existsSync(ran), false, kind)
  }
})

test('git begins nothing that outlives a fetch', async (t) => {
  if (!requireOrSkip(t, available, reason)) return
  const [bare, trace] = [join(folder, 'plain.git'), join(folder, 'trace')]
  const git = (words: readonly string[], input = '') =>
    execFileSync('git', ['--git-dir', bare, ...words], { input, encoding: 'utf8' }).trim()
  git(['init', '--quiet', '--bare'])
  const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.net']
  git(['update-ref', 'HEAD', git([...person, 'commit-tree', '-m', 'x', git(['mktree'])])])
  await using copy = await gitRepositories({
    outbound: openWay,
    schemes: ['file'],
    folder,
    environment: { GIT_TRACE: trace },
  }).fetch({ owner: 'g', repository: `file://${bare}`, directory: '.', revision: undefined })
  const commands = readFileSync(trace, 'utf8')
  assert.match(commands, /run_command: .*upload-pack/)
  assert.doesNotMatch(commands, /maintenance|gc --auto/)
  assert.match(commands, /built-in: git archive/)
  // Whoever reads has no place, so git makes nothing for them.
  for await (const _ of copy.archive());
  assert.equal(readFileSync(trace, 'utf8'), commands)
})

describe('a repository of many small things', () => {
  const count = 400
  let name = 0

  /** A repository as a server of plain files has it, with as many branches, tags and objects. */
  function manyOf(): { readonly bare: string; readonly commit: string } {
    const bare = join(folder, `many-${name++}.git`)
    const git = (words: readonly string[], input = '') =>
      execFileSync('git', ['--git-dir', bare, ...words], { input, encoding: 'utf8' }).trim()
    git(['init', '--quiet', '--bare', '--initial-branch=main'])
    const blob = git(['hash-object', '-w', '--stdin'], 'text')
    const numbers = Array.from({ length: count }, (_, at) => at)
    const trees = git(
      ['mktree', '--batch'],
      numbers.map((at) => `100644 blob ${blob}\t${at}\n`).join('\n'),
    ).split('\n')
    const tree = git(['mktree'], trees.map((one, at) => `040000 tree ${one}\t${at}\n`).join(''))
    const person = ['-c', 'user.name=a', '-c', 'user.email=a@example.net']
    const commit = git([...person, 'commit-tree', '-m', 'x', tree])
    const names = ['refs/heads/main', ...numbers.map((at) => `refs/heads/a/${at}/b`)]
    const tags = numbers.map((at) => `refs/tags/a/${at}/b`)
    git(
      ['update-ref', '--stdin'],
      [...names, ...tags].map((one) => `create ${one} ${commit}\n`).join(''),
    )
    git(['update-server-info'])
    return { bare, commit }
  }

  const plainFiles = (bare: string) =>
    localServer((request, response) => {
      const path = join(bare, new URL(request.url ?? '', 'http://here').pathname)
      const isFile = existsSync(path) && statSync(path).isFile()
      response.writeHead(isFile ? 200 : 404).end(isFile ? readFileSync(path) : '')
    })

  test('branches and tags make no files here', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const { bare, commit } = manyOf()
    const given: GitOptions = { outbound: openWay, schemes: ['file'], folder, filesMax: 100 }
    const wish = { owner: 'g', repository: `file://${bare}`, directory: '.' }
    await using copy = await gitRepositories(given).fetch({
      ...wish,
      revision: commit.slice(0, 12),
    })
    const tar: Uint8Array[] = []
    for await (const piece of copy.archive()) tar.push(piece)
    assert.match(Buffer.concat(tar).toString('latin1'), /399\/399\0/)
  })

  test('the number of files that git keeps it in is bounded', async (t) => {
    if (!requireOrSkip(t, available, reason)) return
    const { bare } = manyOf()
    await using server = await plainFiles(bare)
    const error = await failure(`http://127.0.0.1:${server.port}/`, { filesMax: 100 })
    assert.match(error.message, /git keeps the repository in more than 100 files/)
    assert.equal(error.retry, 'never')
  })

  test('removing it holds up no other work on files', async () => {
    const own = mkdtempSync(join(folder, 'removed-'))
    const many = join(own, 'many')
    mkdirSync(many)
    for (let at = 0; at < 5000; at++) writeFileSync(join(many, String(at)), '')
    const removed = removeFolder(own)
    const left = () => (existsSync(many) ? readdirSync(many).length : 0)
    await until(() => left() < 5000, 1)
    // Behind whatever is under way.
    await stat(folder)
    assert.ok(left() > 2500, `${left()} files are left`)
    await removed
    assert.equal(existsSync(own), false)
  })
})
