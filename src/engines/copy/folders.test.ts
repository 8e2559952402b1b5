/** Folder to folder, in this process and in one of its own; and forbidden paths and links. */

import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { openSettings } from '#outbound/policy.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import { failure, large, objectsContract, runTask, taskOf } from './contract.ts'
import type { CopyJournal, FolderLocation } from './engine.ts'
import { swapFolders, swapPrograms } from './files/atomic-swap.ts'
import { FolderSink } from './files/folder-sink.ts'
import { FolderSource } from './files/folder-source.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { JournalClosed, MemoryManifest } from './testing/memory-journal.ts'
import { workerEngine } from './worker/worker-engine.ts'

objectsContract('folder to folder', inlineEngine, async () => folderPair())
objectsContract(
  'folder to folder, in a process of its own',
  () => workerEngine(openSettings),
  async () => folderPair(),
)

test('a process of its own has a folder for temporary files, which goes when it is killed', async () => {
  await using pair = folderPair()
  await pair.write('a.txt', Buffer.from('one'))
  const folder = join(pair.folder, 'temporary')
  mkdirSync(folder)
  const manifest = new MemoryManifest()
  const task = taskOf(pair, 'full', manifest)
  const journal = manifest.journal(task)
  const session = workerEngine(openSettings, folder).open()
  const during = Promise.withResolvers<readonly string[]>()
  const never = new Promise<never>(() => {})
  const copied = session.copy(
    task,
    {
      ...journal,
      todo() {
        during.resolve(readdirSync(folder))
        return never
      },
    },
    new AbortController().signal,
  )
  const lost = failure(copied)
  assert.equal((await during.promise).length, 1)
  await session[Symbol.asyncDispose]()
  assert.equal((await lost).code, 'WorkerLost')
  assert.deepEqual(readdirSync(folder), [])
})

test('the end of a process ends no task of the one after it', async () => {
  await using pair = folderPair()
  await pair.write('a.txt', Buffer.from('one'))
  const children: ChildProcess[] = []
  const note = (made: unknown): void => {
    // What this channel says.
    children.push((made as { process: ChildProcess }).process)
  }
  subscribe('child_process', note)
  await using session = workerEngine(openSettings).open()
  const begin = (id: string, todo: () => Promise<unknown>) => {
    const manifest = new MemoryManifest()
    const task = { ...taskOf(pair, 'full', manifest), id }
    const journal = manifest.journal(task)
    const waiting: CopyJournal = {
      ...journal,
      async todo(batch) {
        await todo()
        return journal.todo(batch)
      },
    }
    return session.copy(task, waiting, new AbortController().signal)
  }
  const isUnderWay = Promise.withResolvers<void>()
  const lost = failure(
    begin('first', () => {
      isUnderWay.resolve()
      return new Promise(() => {})
    }),
  )
  await isUnderWay.promise
  const [first] = children
  assert.ok(first !== undefined)
  const gone = once(first, 'exit')
  first.disconnect()
  const copied = begin('second', async () => {
    first.kill('SIGKILL')
    await gone
  })
  assert.equal((await lost).code, 'WorkerLost')
  await copied
  unsubscribe('child_process', note)
  assert.equal(children.length, 2)
})

test('each program that can exchange two folders does, by itself', async (t) => {
  for (const program of swapPrograms.filter((one) => one !== '/usr/bin/mv')) {
    await t.test(program, async (t) => {
      if (!requireOrSkip(t, existsSync(program), `${program} is not there`)) return
      await using pair = folderPair()
      const [left, right] = ['left "', 'right $x'].map((name) => join(pair.folder, name))
      mkdirSync(join(String(left), 'was-left'), { recursive: true })
      mkdirSync(join(String(right), 'was-right'), { recursive: true })
      assert.equal(swapFolders(String(left), String(right), [program]), true)
      assert.deepEqual(readdirSync(String(left)), ['was-right'])
      assert.deepEqual(readdirSync(String(right)), ['was-left'])
    })
  }
})

test('a reader who never looks away finds the folder whole, whatever is exchanged for it', async (t) => {
  await using pair = folderPair()
  const files = 20
  for (let n = 0; n < files; n++) await pair.write(`f${n}`, Buffer.from('one'))
  const [left, right] = ['left', 'right'].map((one) => join(pair.folder, one))
  mkdirSync(String(left))
  mkdirSync(String(right))
  const how = 'no way to exchange two paths in one step: perl, python3, or mv of coreutils 9.5'
  if (!requireOrSkip(t, swapFolders(String(left), String(right)), how)) return
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  const script = join(import.meta.dirname, 'testing/reader.ts')
  const reader = fork(script, [join(pair.folder, 'to/data/x'), String(files)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const heard = () => new Promise<unknown>((done) => reader.once('message', done))
  await heard()
  for (let round = 0; round < 30; round++) {
    await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  }
  const answer = heard()
  reader.send('stop')
  // The result of the script.
  const seen = (await answer) as { looks: number; absent: number; half: number }
  assert.ok(seen.looks > 500)
  assert.deepEqual([seen.absent, seen.half], [0, 0])
})

test('cut off while it takes its place, on either side of it: taken up again, the new one whole', async () => {
  for (const isThere of [false, true]) {
    await using pair = folderPair()
    await pair.write('a', Buffer.from('old'))
    const manifest = new MemoryManifest()
    await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
    await pair.write('a', Buffer.from('new'))
    const task = taskOf(pair, 'full', manifest)
    const { target } = pair
    assert.ok(target.kind === 'folder')
    const sink = new FolderSink(target, task)
    await sink.prepare(async () => undefined)
    const stage = join(target.root, '.armature', `${task.token}-${task.run}`)
    const location = join(target.root, target.container, target.path)
    writeFileSync(join(stage, 'data/a'), 'new')
    const next = join(stage, `next-${statSync(join(stage, 'data'), { bigint: true }).ino}`)
    renameSync(join(stage, 'data'), next)
    if (isThere) {
      renameSync(location, join(stage, 'between'))
      renameSync(next, location)
      renameSync(join(stage, 'between'), next)
    }
    await runTask(inlineEngine(), { ...task, owned: true }, manifest)
    assert.equal(Buffer.from((await pair.seen()).get('a') ?? []).toString(), 'new')
    assert.ok(!existsSync(stage))
  }
})

test('cut off once more after what was staged is gone: all is copied, and counted once', async () => {
  await using pair = folderPair()
  await pair.write('a', Buffer.from('one'))
  await pair.write('b', Buffer.from('two'))
  const manifest = new MemoryManifest()
  const task = taskOf(pair, 'full', manifest)
  const journal = manifest.journal(task)
  const cut = async (name: 'publishing' | 'todo') => {
    await using session = inlineEngine().open()
    const closed = () => Promise.reject(new JournalClosed(name))
    const given = { ...journal, [name]: closed }
    await assert.rejects(session.copy(task, given, new AbortController().signal), JournalClosed)
  }
  await cut('publishing')
  assert.ok(pair.target.kind === 'folder')
  rmSync(join(pair.target.root, '.armature'), { recursive: true })
  await cut('todo')
  await runTask(inlineEngine(), task, manifest)
  assert.deepEqual([...(await pair.seen()).keys()], ['a', 'b'])
  assert.equal(manifest.countsOf(task.run).filesRead, 2)
})

test('paths do not leave their root, links are not followed', async () => {
  await using pair = folderPair()
  await pair.write('in.txt', Buffer.from('in'))
  writeFileSync(join(pair.folder, 'secret'), 'out')
  symlinkSync(join(pair.folder, 'secret'), join(pair.folder, 'from/data/x/link'))
  symlinkSync(pair.folder, join(pair.folder, 'from/data/x/up'))
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  assert.deepEqual([...(await pair.seen()).keys()], ['in.txt'])
  const source: FolderLocation = { ...(pair.source as FolderLocation), path: 'x/up' }
  const through = taskOf({ source, target: pair.target }, 'full', manifest)
  assert.equal((await failure(runTask(inlineEngine(), through, manifest))).code, 'PathRefused')
  for (const path of ['..', 'x/../..', './x', 'x//y', '/etc', 'x\\y', 'x\0']) {
    for (const side of ['source', 'target'] as const) {
      const locations = { source: pair.source, target: pair.target }
      const bad = { ...locations, [side]: { ...locations[side], path } }
      const refused = await failure(
        runTask(inlineEngine(), taskOf(bad, 'full', manifest), manifest),
      )
      assert.equal(refused.code, 'PathRefused', path)
    }
  }
  rmSync(join(pair.folder, 'to/data'), { recursive: true })
  mkdirSync(join(pair.folder, 'elsewhere'))
  symlinkSync(join(pair.folder, 'elsewhere'), join(pair.folder, 'to/data'))
  const linked = await failure(runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest))
  assert.equal(linked.code, 'PathRefused')
  assert.deepEqual(readdirSync(join(pair.folder, 'elsewhere')), [])
})

test('a folder that is exchanged for a link while it is copied leads nowhere else', async () => {
  await using pair = folderPair()
  const outside = join(pair.folder, 'outside')
  mkdirSync(outside)
  writeFileSync(join(outside, 'key'), 'secret')
  await pair.write('d/one', Buffer.from('1'))
  await pair.write('d/key', Buffer.from('mine'))
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  const { source: from, target: to } = pair
  assert.ok(from.kind === 'folder' && to.kind === 'folder')
  const exchange = (side: string): void => {
    const folder = join(pair.folder, side, 'data/x/d')
    renameSync(folder, `${folder}-away`)
    symlinkSync(outside, folder)
  }
  await using source = new FolderSource(from)
  const items = [...source.list()].flat()
  exchange('from')
  assert.equal(await source.look('d/key').catch(() => undefined), undefined)
  await using other = new FolderSource(from)
  const { ino, size, mtimeNs } = statSync(join(outside, 'key'), { bigint: true })
  const etag = [mtimeNs, size, ino].map((one) => one.toString(36)).join('-')
  const led = { key: 'd/key', size: Number(size), etag, modified: 0 }
  assert.throws(() => other.whole(led))
  await assert.rejects(other.open(led, 0).next())
  assert.deepEqual(items.map(({ key }) => key).sort(), ['d/key', 'd/one'])
  const task = { ...taskOf(pair, 'incremental', manifest), owned: true }
  await using sink = new FolderSink(to, task)
  await sink.prepare(async () => undefined)
  const item = (key: string) => ({ key, size: 3, etag: 'e', modified: 1 })
  sink.putWhole(item('d/before'), Buffer.from('new'))
  exchange('to')
  sink.putWhole(item('d/after'), Buffer.from('new'))
  await using later = new FolderSink(to, task)
  await later.prepare(async () => undefined)
  assert.throws(() => later.putWhole(item('d/later'), Buffer.from('new')), /goes through a link/)
  assert.deepEqual(readdirSync(outside), ['key'])
})

test('an item that changes is read again once; twice, and its data set fails alone', async () => {
  await using pair = folderPair()
  await pair.write('a.txt', Buffer.from('one'))
  await pair.write('b.bin', Buffer.alloc(large, 1))
  const manifest = new MemoryManifest()
  const task = taskOf(pair, 'full', manifest)
  const journal = manifest.journal(task)
  await using session = inlineEngine().open()
  const listing = {
    ...journal,
    todo: async (items: Parameters<typeof journal.todo>[0]) => {
      // After the listing, before the reading.
      await pair.write('a.txt', Buffer.from('changed since'))
      return journal.todo(items)
    },
  }
  await session.copy(task, listing, new AbortController().signal)
  assert.equal(Buffer.from((await pair.seen()).get('a.txt') ?? []).toString(), 'changed since')
  assert.equal(manifest.countsOf(task.run).sizeRead, large + 13)
  const next = taskOf(pair, 'full', manifest)
  const growing = { ...manifest.journal(next) }
  const busy = setInterval(
    () => appendFileSync(join(pair.folder, 'from/data/x/b.bin'), Buffer.alloc(1000)),
    1,
  )
  const refused = await failure(session.copy(next, growing, new AbortController().signal))
  clearInterval(busy)
  assert.equal(refused.code, 'SourceChanged')
  assert.match(refused.message, /b\.bin/)
  assert.ok(!existsSync(join(pair.folder, 'to/.armature', `${next.token}-${next.run}`)))
})
