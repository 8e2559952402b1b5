/** Blobs to blobs and blobs to a folder, against azurite, under the contract of objects. */

import { randomUUID } from 'node:crypto'
import { after } from 'node:test'
import { BlobServiceClient, StorageSharedKeyCredential } from '@azure/storage-blob'
import { requireOrSkip } from '../../../tests/require.ts'
import { type ObjectsPair, objectsContract } from './contract.ts'
import type { BlobPlace } from './engine.ts'
import {
  type BlobServer,
  emulator,
  hasAzurite,
  howToGetAzurite,
  startAzurite,
} from './testing/azurite.ts'
import { folderPair } from './testing/folder-pair.ts'
import { inlineEngine } from './testing/inline-engine.ts'

let server: Promise<BlobServer> | undefined
after(async () => (await server)?.[Symbol.asyncDispose]())

type Test = Parameters<typeof requireOrSkip>[0]

async function place(t: Test): Promise<BlobPlace | undefined> {
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

function containerOf({ endpoint, account, key, container }: BlobPlace) {
  return new BlobServiceClient(
    endpoint,
    new StorageSharedKeyCredential(account, key),
  ).getContainerClient(container)
}

async function put(at: BlobPlace, key: string, bytes: Uint8Array): Promise<void> {
  const container = containerOf(at)
  await container.createIfNotExists()
  await container.getBlockBlobClient(`x/${key}`).uploadData(bytes)
}

async function blobPair(t: Test): Promise<ObjectsPair | undefined> {
  const source = await place(t)
  const target = await place(t)
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

objectsContract('blob to blob', inlineEngine, (t) => blobPair(t as Test))

objectsContract('blob to folder', inlineEngine, async (t) => {
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
})
