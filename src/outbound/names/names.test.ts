/** Names whose DNS servers do not answer, as the system's resolver waits for them. */

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { until } from '../../../tests/until.ts'
import { Names } from './names.ts'

/** The resolver of Linux looks a name without a dot up in a file of aliases first, and waits for whoever writes into a pipe. */
const isLinux = process.platform === 'linux'

/** A pipe that nobody writes into. */
function pipeIn(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-names-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const pipe = join(folder, 'pipe')
  execFileSync('mkfifo', [pipe])
  return pipe
}

/** Whoever waits for a writer reads the end. */
function releaseReaders(pipe: string): void {
  try {
    closeSync(openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK))
  } catch {
    // Nobody waits.
  }
}

test('names that nobody answers for hold up no others', { skip: !isLinux }, async (t) => {
  const names = new Names({ HOSTALIASES: pipeIn(t) })
  await using _names = names
  let ended = 0
  const end = (): void => {
    ended++
  }
  const held = Array.from({ length: 40 }, (_, at) =>
    names.resolve(at < 10 ? `silent-${at}` : 'silent').then(end, end),
  )
  assert.ok((await names.resolve('localhost')).length > 0)
  assert.equal(ended, 0)
  await names[Symbol.asyncDispose]()
  await Promise.all(held.slice(0, 10))
})

test('a name that was quick waits for none of any number of domains that nobody answers for', {
  skip: !isLinux,
}, async (t) => {
  const names = new Names({ HOSTALIASES: pipeIn(t) })
  await using _names = names
  assert.ok((await names.resolve('localhost')).length > 0)
  const held = Array.from({ length: 100 }, (_, at) => names.resolve(`silent-${at}`))
  const ended = Promise.allSettled(held)
  assert.ok((await names.resolve('localhost')).length > 0)
  await names[Symbol.asyncDispose]()
  await ended
})

test('new names that nobody answers for leave their places to others after a second', {
  skip: !isLinux,
}, async (t) => {
  const names = new Names({ HOSTALIASES: pipeIn(t) })
  await using _names = names
  let ended = 0
  const end = (): void => {
    ended++
  }
  const held = Array.from({ length: 20 }, (_, at) => names.resolve(`silent-${at}`).then(end, end))
  assert.ok((await names.resolve('localhost')).length > 0)
  assert.equal(ended, 0)
  await names[Symbol.asyncDispose]()
  await Promise.all(held)
})

test('whoever gives up waits for no place, and a name under way is joined without one', {
  skip: !isLinux,
}, async (t) => {
  const names = new Names({ HOSTALIASES: pipeIn(t) })
  await using _names = names
  // All places of names that are not known.
  const held = Promise.allSettled(
    Array.from({ length: 12 }, (_, at) => names.resolve(`silent-${at}`)),
  )
  const gone = new Error('nobody waits')
  await assert.rejects(names.resolve('silent-12', AbortSignal.abort(gone)), gone)
  const giving = new AbortController()
  const waiting = names.resolve('silent-13', giving.signal)
  giving.abort(gone)
  await assert.rejects(waiting, gone)
  const shared = names.resolve('silent-14')
  await assert.rejects(names.resolve('silent-14', AbortSignal.abort(gone)), gone)
  const joined = names.resolve('silent-0', AbortSignal.abort(gone))
  const ended = Promise.all(
    [shared, joined].map((one) => assert.rejects(one, /the control plane ends/)),
  )
  await names[Symbol.asyncDispose]()
  await ended
  await held
})

test('of all who want one name nobody waits behind names of others', {
  skip: !isLinux,
}, async (t) => {
  const pipe = pipeIn(t)
  const names = new Names({ HOSTALIASES: pipe })
  await using _names = names
  // All places of names that are not known.
  const held = Array.from({ length: 12 }, (_, at) => names.resolve(`silent-${at}`))
  const wanted = Array.from({ length: 5 }, () => names.resolve('localhost'))
  held.push(...Array.from({ length: 60 }, (_, at) => names.resolve(`next-${at}`)))
  const ended = Promise.allSettled(held)
  let isFound = false
  const found = Promise.race(wanted).finally(() => {
    isFound = true
  })
  while (!isFound) {
    releaseReaders(pipe)
    await new Promise((resolve) => setImmediate(resolve))
  }
  await found
  await Promise.all(wanted)
  await names[Symbol.asyncDispose]()
  await ended
})

test('whoever wants a name that has become slow does not wait for what is under way', {
  skip: !isLinux,
}, async (t) => {
  const pipe = pipeIn(t)
  const names = new Names({ HOSTALIASES: pipe })
  await using _names = names
  let ended = 0
  const end = (): void => {
    ended++
  }
  const held = names.resolve('silent').then(end, end)
  const writer = await until(() => {
    try {
      return openSync(pipe, constants.O_WRONLY | constants.O_NONBLOCK)
    } catch {
      return false // Nobody reads yet.
    }
  })
  t.after(() => closeSync(writer))
  // Whoever comes next waits for no writer.
  rmSync(pipe)
  const others: Promise<void>[] = []
  await until(() => {
    others.push(names.resolve('silent').then(end, end))
    return ended > 0
  })
  await names[Symbol.asyncDispose]()
  await Promise.all([held, ...others])
})

test('a name is slow by the time of the system, however long this process stands still', {
  skip: !isLinux,
}, async (t) => {
  const pipe = pipeIn(t)
  const names = new Names({ HOSTALIASES: pipe })
  await using _names = names
  await names.resolve('localhost')
  const silent = ['a', 'b', 'c', 'd']
  const first = Promise.allSettled(silent.map((name) => names.resolve(name)))
  const quick = names.resolve('localhost')
  await new Promise((resolve) => setImmediate(resolve))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500)
  await quick
  const stopped = new AbortController()
  const released = (async () => {
    while (!stopped.signal.aborted) {
      releaseReaders(pipe)
      await new Promise((resolve) => setImmediate(resolve))
    }
  })()
  await first
  stopped.abort()
  await released
  // All places of slow names.
  const held = Promise.allSettled(silent.map((name) => names.resolve(name)))
  await names.resolve('localhost')
  await names[Symbol.asyncDispose]()
  await held
})

test('what the system says of a name is said, and a process that is lost is followed by another', {
  skip: !isLinux,
}, async () => {
  const names = new Names()
  await using _names = names
  await assert.rejects(names.resolve('name.invalid'), {
    message: /getaddrinfo/,
    code: /^(?:ENOTFOUND|EAI_AGAIN)$/,
  })
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8')
  const pids = children.trim().split(' ').map(Number)
  assert.equal(pids.length, 1)
  const under = Array.from({ length: 3 }, () => names.resolve('localhost'))
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await Promise.allSettled(under)
  await until(() =>
    names.resolve('localhost').then(
      (found) => found.length > 0,
      () => false,
    ),
  )
})

/** It ends by itself: nothing is left under way, and no rejection is unhandled. */
const whereNoneStarts = `
import assert from 'node:assert/strict'
import { closeSync, openSync } from 'node:fs'
import { Names } from ${JSON.stringify(new URL('./names.ts', import.meta.url).href)}

const environment = {}
const names = new Names(environment)
const files = []
assert.throws(() => {
  for (;;) files.push(openSync('/dev/null'))
}, /EMFILE/)
await Promise.all([
  assert.rejects(names.resolve('localhost')),
  assert.rejects(names.resolve('localhost')),
])
for (const file of files) closeSync(file)
environment.REFUSED = '\\0'
await assert.rejects(names.resolve('localhost'))
delete environment.REFUSED
assert.ok((await names.resolve('localhost')).length > 0)
`

test('names of a process that could not be started are not resolved, and those of the next one are', {
  skip: !isLinux,
}, async () => {
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module']
  await promisify(execFile)(
    'sh',
    ['-c', 'ulimit -n 100; exec "$@"', 'sh', ...node, '-e', whereNoneStarts],
    { timeout: 60_000, killSignal: 'SIGKILL' },
  )
})
