/** Blob services with wrong answers: each ends only its own data set, and uses no more memory than any other. */

import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { openSettings } from '#outbound/policy.ts'
import { localServer } from '#outbound/testing/ways.ts'
import { failure, runTask, taskOf } from './contract.ts'
import { type BlobLocation, CopyFailure } from './engine.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'
import { workerEngine } from './worker/worker-engine.ts'

const service = { 'x-ms-request-id': '1', 'content-type': 'application/xml' }
const etag = { ...service, etag: '"0x1"', 'last-modified': 'Sun, 22 Nov 2026 10:00:00 GMT' }

function blob(name: string, more = ''): string {
  return `<Blob><Name>${name}</Name><Properties><Last-Modified>Sun, 22 Nov 2026 10:00:00 GMT</Last-Modified>
    <Etag>0x1</Etag><Content-Length>3</Content-Length><BlobType>BlockBlob</BlobType>${more}</Properties></Blob>`
}

function page(blobs: string, marker = ''): string {
  return `<?xml version="1.0"?><EnumerationResults ContainerName="c-0"><Blobs>${blobs}</Blobs><NextMarker>${marker}</NextMarker></EnumerationResults>`
}

function flood(answer: ServerResponse, bytes: Buffer): void {
  while (!answer.destroyed) {
    if (answer.write(bytes)) continue
    answer.once('drain', () => flood(answer, bytes))
    return
  }
}

type Conduct = (answer: ServerResponse, isList: boolean) => void

/** The error of a copy from it, and how many bytes it could send. */
async function failureWith(
  conduct: Conduct,
  engine = inlineEngine(),
): Promise<{ readonly error: CopyFailure; readonly sent: number }> {
  let sent = 0
  const server = createServer((request: IncomingMessage, answer) => {
    const before = request.socket.bytesWritten
    request.socket.once('close', () => {
      sent += request.socket.bytesWritten - before
    })
    conduct(answer, request.url?.includes('comp=list') === true)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  try {
    // It listens on a port, so its address is one.
    const { port } = server.address() as AddressInfo
    await using pair = folderPair()
    const source = {
      kind: 'blobs',
      shape: 'tree',
      endpoint: `http://127.0.0.1:${port}/a`,
      account: 'a',
      key: 'a2V5',
      container: 'c-0',
      path: 'x',
    } as const
    const manifest = new MemoryManifest()
    const task = taskOf({ source, target: pair.target }, 'full', manifest)
    return { error: await failure(runTask(engine, task, manifest)), sent }
  } finally {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
}

const megabyte = Buffer.alloc(1024 * 1024, '<Blob></Blob>')

describe('what is not read to its end', () => {
  for (const [what, conduct] of Object.entries<Conduct>({
    'a list': (answer) => flood(answer.writeHead(200, service), megabyte),
    'an error': (answer) => flood(answer.writeHead(403, service), megabyte),
    'a blob': (answer, isList) => {
      if (isList) answer.writeHead(200, service).end(page(blob('x/a')))
      else flood(answer.writeHead(206, etag), megabyte)
    },
  })) {
    test(`${what} without an end`, async () => {
      const { error, sent } = await failureWith(conduct)
      assert.equal(error.retry, 'later')
      assert.ok(sent < 200 * 1024 * 1024, `${sent} bytes`)
    })
  }
})

test('informational answers without an end are no answer', async () => {
  const { error } = await failureWith((answer) => {
    answer.socket?.write('HTTP/1.1 100 Continue\r\n\r\n'.repeat(20_000))
    answer.writeHead(403, service).end('<Error><Code>Late</Code></Error>')
  })
  assert.deepEqual([error.code, error.retry], ['Unreachable', 'later'])
})

describe('lists', () => {
  for (const [what, text] of Object.entries({
    'the same page again and again': page('', 'again'),
    'names that are not below what was asked for': page(blob('y/a')),
    'names as long as a page': page(blob(`x/${'a'.repeat(5000)}`)),
    'blobs without properties': page('<Blob><Name>x/a</Name></Blob>'),
    'a size that is none': page(blob('x/a').replace('>3<', '>-3<')),
    'a tag as long as a page': page(blob('x/a').replace('0x1', 'a'.repeat(5000))),
  })) {
    test(`${what} fail for good`, async () => {
      const { error: refused } = await failureWith((answer) =>
        answer.writeHead(200, service).end(text),
      )
      assert.deepEqual([refused.code, refused.retry], ['Unsupported', 'never'])
    })
  }
})

test('what no blob client can read is a failure of the service, in a worker too', async () => {
  const empty: Conduct = (answer) => answer.writeHead(200, service).end()
  for (const engine of [inlineEngine(), workerEngine(openSettings)]) {
    const { error: unread } = await failureWith(empty, engine)
    assert.deepEqual([unread.code, unread.retry], ['Unreachable', 'later'])
  }
})

test('the code of a service is cut, and holds nothing for a terminal', async () => {
  const { error: refused } = await failureWith((answer) =>
    answer
      .writeHead(403, service)
      .end(`<Error><Code>a&#x1b;[31m${'b'.repeat(5000)}</Code></Error>`),
  )
  assert.equal(refused.code, 'SourceRefused')
  assert.match(refused.message, /^[\w .'()/-]{1,200}$/)
})

test('what a service tells of one blob is no longer than what it lists', async () => {
  let isFirst = true
  const { error: refused } = await failureWith((answer, isList) => {
    if (isList) answer.writeHead(200, service).end(page(blob('x/a')))
    else if (isFirst) answer.writeHead(412, service).end()
    else answer.writeHead(200, { ...etag, etag: `"${'a'.repeat(5000)}"` }).end()
    isFirst &&= isList
  })
  assert.deepEqual([refused.code, refused.retry], ['Unsupported', 'never'])
})

test('what a service calls a checksum and is none is not kept', async () => {
  await using both = await localServer((request, answer) => {
    const { method, url = '', headers } = request
    request.resume()
    if (url.includes('comp=list')) {
      answer.writeHead(200, service).end(page(url.includes('c-0') ? blob('x/a') : ''))
    } else if (headers['x-ms-copy-source'] !== undefined) {
      answer.writeHead(202, { ...etag, 'content-md5': 'YWFh'.repeat(3000) }).end()
    } else answer.writeHead(method === 'PUT' ? 201 : 200, service).end()
  })
  const at = (container: string): BlobLocation => ({
    ...{ kind: 'blobs', shape: 'tree' },
    ...{ account: 'a', key: 'a2V5', container, path: 'x' },
    endpoint: `http://127.0.0.1:${both.port}/a`,
  })
  const manifest = new MemoryManifest()
  const task = taskOf({ source: at('c-0'), target: at('c-1') }, 'full', manifest)
  const digests: string[] = []
  const journal = manifest.journal(task)
  await using session = inlineEngine().open()
  await session.copy(
    task,
    {
      ...journal,
      commit: (progress) => {
        digests.push(...progress.done.map(({ digest }) => digest))
        return journal.commit(progress)
      },
    },
    new AbortController().signal,
  )
  assert.deepEqual(digests, ['service:'])
})

describe('a name that a URL would take for a way up', () => {
  for (const name of ['x/../../other/a', 'x/a/../../../other/a', 'x/./../../other/a', 'x/../a']) {
    test(`${name} leads to no other container, of neither service`, async () => {
      const paths: string[] = []
      const seen = (request: IncomingMessage): void => {
        paths.push(new URL(request.url ?? '', 'http://any').pathname)
      }
      await using from = await localServer((request, answer) => {
        seen(request)
        const isList = request.url?.includes('comp=list') === true
        if (isList) answer.writeHead(200, service).end(page(blob(name)))
        else answer.writeHead(200, { ...etag, 'content-length': 3 }).end('abc')
      })
      await using to = await localServer((request, answer) => {
        seen(request)
        const isList = request.url?.includes('comp=list') === true
        request.resume().once('end', () => {
          answer.writeHead(isList ? 200 : 201, isList ? service : etag).end(isList ? page('') : '')
        })
      })
      const at = ({ port }: { readonly port: number }): BlobLocation => ({
        ...{ kind: 'blobs', shape: 'tree' },
        ...{ account: 'a', key: 'a2V5', container: 'c-0', path: 'x' },
        endpoint: `http://127.0.0.1:${port}/a`,
      })
      const manifest = new MemoryManifest()
      const task = taskOf({ source: at(from), target: at(to) }, 'full', manifest)
      const outcome = await runTask(inlineEngine(), task, manifest).then(
        () => undefined,
        (error: unknown) => error,
      )
      assert.deepEqual(
        paths.filter((path) => !/^\/a\/c-0(?:\/x\/|$)/.test(path)),
        [],
      )
      assert.ok(outcome instanceof CopyFailure && outcome.code === 'PathRefused', String(outcome))
    })
  }
})
