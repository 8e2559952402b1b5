/** Blobs to blobs and blobs to a folder, against azurite, by the contract of objects. */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { isLong } from '../../../tests/long.ts'
import { requireOrSkip } from '../../../tests/require.ts'
import {
  type Cuts,
  failure,
  type ObjectsPair,
  objectsContract,
  runTask,
  taskOf,
} from './contract.ts'
import type { BlobLocation } from './engine.ts'
import {
  type BlobServer,
  emulator,
  hasAzurite,
  howToGetAzurite,
  startAzurite,
} from './testing/azurite.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'
import { MemoryManifest } from './testing/memory-journal.ts'
import { stubbornService } from './testing/stubborn-service.ts'

let server: Promise<BlobServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

type Test = Parameters<typeof requireOrSkip>[0]

async function location(t: Test): Promise<BlobLocation | undefined> {
  if (!requireOrSkip(t, hasAzurite(), howToGetAzurite)) return undefined
  server ??= startAzurite()
  const { endpoint } = await server
  return {
    kind: 'blobs',
    shape: 'tree',
    endpoint,
    ...emulator,
    container: `c-${randomUUID()}`,
    path: 'x',
  }
}

function containerOf({ endpoint, account, key, container }: BlobLocation) {
  return new BlobServiceClient(
    endpoint,
    new StorageSharedKeyCredential(account, key),
  ).getContainerClient(container)
}

async function put(at: BlobLocation, key: string, bytes: Uint8Array): Promise<void> {
  const container = containerOf(at)
  await container.createIfNotExists()
  await container.getBlockBlobClient(`x/${key}`).uploadData(bytes)
}

/** Together the pairs are interrupted at every second call; in the long suite each of them at every call. */
function cutsFrom(nth: number): Cuts {
  return isLong ? { first: 0, step: 1 } : { first: 2 * nth, step: 8 }
}

async function blobPair(t: Test): Promise<ObjectsPair | undefined> {
  const source = await location(t)
  const target = await location(t)
  if (source === undefined || target === undefined) return undefined
  return {
    source,
    target,
    write: (key, bytes) => put(source, key, bytes),
    litter: (key, bytes) => put(target, key, bytes),
    async remove(key) {
      await containerOf(source).getBlobClient(`x/${key}`).delete()
    },
    async seen() {
      const seen = new Map<string, Uint8Array>()
      const container = containerOf(target)
      for await (const { name } of container.listBlobsFlat()) {
        seen.set(name.slice(2), await container.getBlobClient(name).downloadToBuffer())
      }
      return seen
    },
    async [Symbol.asyncDispose]() {
      await containerOf(source).deleteIfExists()
      await containerOf(target).deleteIfExists()
    },
  }
}

objectsContract(
  'blob to blob of one service',
  inlineEngine,
  async (t) => {
    const pair = await blobPair(t as Test)
    return pair === undefined ? undefined : { ...pair, pulls: true }
  },
  cutsFrom(0),
)

/** The same service by another name counts as another one. */
function elsewhere(pair: ObjectsPair): ObjectsPair {
  // Both are blob locations.
  const source = pair.source as BlobLocation
  return {
    ...pair,
    source: { ...source, endpoint: source.endpoint.replace('127.0.0.1', 'localhost') },
  }
}

objectsContract(
  'blob to blob of a service that copies nothing by itself',
  inlineEngine,
  async (t) => {
    const pair = await blobPair(t as Test)
    if (pair === undefined || server === undefined) return undefined
    const stubborn = await stubbornService(await server)
    const at = (location: ObjectsPair['source']) =>
      // Both are blob locations.
      ({ ...(location as BlobLocation), endpoint: stubborn.endpoint })
    return {
      ...pair,
      source: at(pair.source),
      target: at(pair.target),
      pulls: true,
      async [Symbol.asyncDispose]() {
        await stubborn[Symbol.asyncDispose]()
        await pair[Symbol.asyncDispose]()
      },
    }
  },
  cutsFrom(1),
)

test('within one service: what changes while it is published is copied as it is then; what is gone fails alone', async (t) => {
  await using pair = await blobPair(t)
  if (pair === undefined) return
  const names = Array.from({ length: 10 }, (_, n) => `f${n}`)
  for (const name of names) await pair.write(name, Buffer.from('one'))
  const manifest = new MemoryManifest()
  const task = taskOf(pair, 'full', manifest)
  const meanwhile = (work: () => Promise<void>) => {
    const journal = manifest.journal(task)
    return {
      ...journal,
      publishing: async () => {
        await work()
        await journal.publishing()
      },
    }
  }
  await using session = inlineEngine().open()
  const { signal } = new AbortController()
  const changing = meanwhile(() => pair.write('f3', Buffer.from('changed')))
  await session.copy(task, changing, signal)
  const seen = await pair.seen()
  assert.equal(Buffer.from(seen.get('f3') ?? []).toString(), 'changed')
  assert.deepEqual([manifest.countsOf(task.run).filesWritten, seen.size], [10, 10])
  assert.equal(manifest.countsOf(task.run).sizeWritten, 9 * 3 + 7)

  const next = taskOf(pair, 'full', manifest)
  for (const name of names) await pair.write(name, Buffer.from('two'))
  const removing = {
    ...manifest.journal(next),
    publishing: async () => {
      await pair.remove('f5')
      await manifest.journal(next).publishing()
    },
  }
  const failed = await failure(session.copy(next, removing, signal))
  assert.deepEqual([failed.code, failed.message.includes("'f5'")], ['SourceChanged', true])
  const after = await pair.seen()
  const isNew = names.filter((name) => Buffer.from(after.get(name) ?? []).toString() === 'two')
  assert.deepEqual(
    isNew,
    names.filter((name) => name !== 'f5'),
  )
  await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  assert.ok(!(await pair.seen()).has('f5'))
})

test('within one service: what a copy shows of its source opens that blob alone', async (t) => {
  await using pair = await blobPair(t)
  if (pair === undefined) return
  // Both are blob locations.
  const [source, target] = [pair.source as BlobLocation, pair.target as BlobLocation]
  await pair.write('given', Buffer.from('given'))
  await containerOf(source).getBlockBlobClient('kept').uploadData(Buffer.from('kept'))
  const manifest = new MemoryManifest()
  await runTask(inlineEngine(), taskOf(pair, 'full', manifest), manifest)
  const copy = containerOf(target).getBlobClient('x/given')
  const shown = (await copy.getProperties()).copySource ?? ''
  assert.equal((await fetch(shown)).status, 200)
  const other = shown.replace(/x(?:\/|%2F)given/, 'kept')
  assert.notEqual(other, shown)
  assert.equal((await fetch(other)).status, 403)
})

objectsContract(
  'blob to blob of another service',
  inlineEngine,
  async (t) => {
    const pair = await blobPair(t as Test)
    return pair === undefined ? undefined : elsewhere(pair)
  },
  cutsFrom(2),
)

objectsContract(
  'folder to blob',
  inlineEngine,
  async (t) => {
    const blobs = await blobPair(t as Test)
    if (blobs === undefined) return undefined
    const folders = folderPair()
    return {
      ...blobs,
      source: folders.source,
      write: folders.write,
      remove: folders.remove,
      async [Symbol.asyncDispose]() {
        await folders[Symbol.asyncDispose]()
        await blobs[Symbol.asyncDispose]()
      },
    }
  },
  cutsFrom(3),
)

objectsContract(
  'blob to folder',
  inlineEngine,
  async (t) => {
    const blobs = await blobPair(t as Test)
    if (blobs === undefined) return undefined
    const folders = folderPair()
    return {
      ...folders,
      source: blobs.source,
      write: blobs.write,
      remove: blobs.remove,
      async [Symbol.asyncDispose]() {
        await folders[Symbol.asyncDispose]()
        await blobs[Symbol.asyncDispose]()
      },
    }
  },
  cutsFrom(0),
)
