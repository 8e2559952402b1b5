/** Copies connect only to addresses that the policy allows, and reveal nothing of what is behind others. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { closedPort, localServer, watchedWay } from '#outbound/testing/ways.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { failure, runTask, taskOf } from './contract.ts'
import type { BlobLocation, CopyFailure, CopyLocation, PostgresTable } from './engine.ts'
import { emulator, hasAzurite, howToGetAzurite, startAzurite } from './testing/azurite.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'
import { workerEngine } from './worker/worker-engine.ts'

const blobs = (endpoint: string): BlobLocation => ({
  kind: 'blobs',
  shape: 'tree',
  endpoint,
  ...emulator,
  container: 'c-0',
  path: 'x',
})

const table = (host: string, port: number): PostgresTable => ({
  kind: 'postgres',
  host,
  port,
  database: 'd',
  user: 'u',
  password: 'secret',
  tls: 'off',
  schema: 's',
  table: 't',
})

type Way = ReturnType<typeof watchedWay>['outbound']

async function refusal(
  source: CopyLocation,
  way: Way,
  engine = inlineEngine(way),
): Promise<CopyFailure> {
  await using pair = await folderPair()
  const manifest = new MemoryManifest()
  const task = taskOf({ source, target: pair.target }, 'full', manifest)
  const target =
    source.kind === 'postgres' ? { ...pair.target, shape: 'file' as const } : pair.target
  return await failure(runTask(engine, { ...task, target, format: 'Csv' }, manifest))
}

test('closed, foreign and absent look the same; the operator sees which', async () => {
  await using web = await localServer((_, response) => response.writeHead(404).end('secret'))
  const closed = await closedPort()
  const { outbound, told } = watchedWay({ mode: 'open' })
  for (const locations of [
    [
      blobs(`http://127.0.0.1:${web.port}/a`),
      blobs(`http://127.0.0.1:${closed}/a`),
      blobs(`https://127.0.0.1:${web.port}/a`),
      blobs('https://absent.test/a'),
    ],
    [table('127.0.0.1', web.port), table('127.0.0.1', closed), table('absent.test', 5432)],
  ]) {
    const messages = new Set<string>()
    for (const location of locations) {
      const { code, retry, message } = await refusal(location, outbound)
      messages.add(`${code} ${retry} ${message.replace(/of '[^']*'/, 'of IT')}`)
    }
    assert.equal(messages.size, 1, [...messages].join('\n'))
    assert.match([...messages].join(), /^Unreachable later .* is not reached: it gives no answer/)
  }
  assert.match(told.join('\n'), /ECONNREFUSED/)
})

test('inner services are not asked, by this process and by the worker’s own', async () => {
  await using web = await localServer((_, response) => response.end('secret'))
  const { outbound } = watchedWay({}, { 'inside.test': [['127.0.0.1']] })
  for (const engine of [inlineEngine(outbound), workerEngine(outbound.settings)]) {
    for (const location of [
      blobs(`http://127.0.0.1:${web.port}/a`),
      blobs(`http://[::ffff:127.0.0.1]:${web.port}/a`),
      table('localhost', web.port),
      table('0x7f000001', web.port),
    ]) {
      const { code, retry, message } = await refusal(location, outbound, engine)
      assert.deepEqual([code, retry], ['Unreachable', 'never'], message)
      assert.match(message, /its address must not be asked from here/)
    }
  }
  const byName = await refusal(blobs(`http://inside.test:${web.port}/a`), outbound)
  assert.deepEqual([byName.code, byName.retry], ['Unreachable', 'later'])
  assert.deepEqual(web.requests, [])
})

test('a server without a password gets none of the environment or of files', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-passwords-'))
  const file = join(folder, '.pgpass')
  writeFileSync(file, '*:*:*:*:of-the-operator\n', { mode: 0o600 })
  process.env['PGPASSFILE'] = file
  t.after(() => {
    delete process.env['PGPASSFILE']
    delete process.env['PGPASSWORD']
    rmSync(folder, { recursive: true })
  })
  const { outbound } = watchedWay({ mode: 'open' })
  await using server = await openCurious(() => undefined)
  const location = { ...table('127.0.0.1', server.port), password: '' }
  await refusal(location, outbound)
  process.env['PGPASSWORD'] = 'of-the-operator-too'
  await refusal(location, outbound)
  assert.deepEqual(server.passwords, ['', ''])
})

test('a password that its server repeats is not shown', async () => {
  const { outbound } = watchedWay({ mode: 'open' })
  await using server = await openCurious((password) => `no ${password} here`)
  const location = { ...table('127.0.0.1', server.port), password: 'a-secret-of-it' }
  assert.match((await refusal(location, outbound)).message, /no \*+ here/)
})

/** A PostgreSQL server that asks for the password in clear text, and answers with an error of these words. */
async function openCurious(answer: (password: string) => string | undefined) {
  const passwords: string[] = []
  const server = createServer((socket) => {
    socket.once('data', () => {
      socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]))
      socket.once('data', (bytes) => {
        const password = bytes.toString('utf8', 5, bytes.length - 1)
        passwords.push(password)
        const words = answer(password)
        if (words === undefined) return socket.destroy()
        const body = Buffer.from(`SERROR\0C58000\0M${words}\0\0`)
        const head = Buffer.from([0x45, 0, 0, 0, 4 + body.length])
        return socket.end(Buffer.concat([head, body]))
      })
    })
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  // A server that listens on a port has such an address.
  const { port } = server.address() as AddressInfo
  return { port, passwords, [Symbol.asyncDispose]: async () => void server.close() }
}

test('the blob client goes by judged addresses: a name that changes, a redirect inside', async (t) => {
  if (!requireOrSkip(t, hasAzurite(), howToGetAzurite)) return
  await using server = await startAzurite()
  const { port } = new URL(server.endpoint)
  const container = `c-${randomUUID()}`
  const credential = new StorageSharedKeyCredential(emulator.account, emulator.key)
  const client = new BlobServiceClient(server.endpoint, credential).getContainerClient(container)
  await client.create()
  await client.getBlockBlobClient('x/a').uploadData(Buffer.from('hello'))
  // The service takes the account from the first label of the host.
  const host = `${emulator.account}.test`
  const source = { ...blobs(`http://${host}:${port}`), container }

  await using pair = await folderPair()
  const manifest = new MemoryManifest()
  // No name server knows it, so anything that is read came through the checked address.
  const { outbound } = watchedWay({ allow: ['*.test'] }, { [host]: [['127.0.0.1']] })
  const task = taskOf({ source, target: pair.target }, 'full', manifest)
  await runTask(inlineEngine(outbound), task, manifest)
  assert.deepEqual([...(await pair.seen()).keys()], ['a'])

  // Allowed when it is first resolved, and internal when it is connected to.
  const moving = watchedWay(
    { allow: ['127.0.0.1'], deny: ['127.9.9.9'] },
    { [host]: [['127.0.0.1'], ['127.9.9.9']] },
  )
  assert.equal((await refusal(source, moving.outbound)).code, 'Unreachable')
  assert.match(moving.told.join(), /'127\.9\.9\.9' is denied/)

  await using inner = await localServer((_, response) => response.end('secret'))
  await using outer = await localServer((_, response) => {
    response.writeHead(307, { location: `http://inside.test:${inner.port}/` }).end()
  })
  const redirected = watchedWay(
    { allow: ['outer.test'] },
    { 'outer.test': [['127.0.0.1']], 'inside.test': [['127.0.0.1']] },
  )
  const location = blobs(`http://outer.test:${outer.port}/a`)
  assert.equal((await refusal(location, redirected.outbound)).code, 'Unreachable')
  assert.ok(outer.requests.length > 0)
  assert.deepEqual(inner.requests, [])
})
