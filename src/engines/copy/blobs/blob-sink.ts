/**
 * Writes blobs. A full copy sends every blob's blocks first, which no reader sees, and commits them at the end; an
 * incremental one replaces blob by blob. Every block carries its checksum, every blob the one of the whole. Within
 * one service nothing is sent: the service is asked to copy each blob when it is to be seen.
 */

import { createHash } from 'node:crypto'
import type { BlockBlobClient, ContainerClient } from '@azure/storage-blob'
import {
  type BlobLocation,
  batchItems,
  CopyFailure,
  type CopyJournal,
  type CopyTask,
  type DoneItem,
} from '../engine.ts'
import type { ListedItem, ObjectSink, Upload } from '../objects.ts'
import type { RoutedTask } from '../routed-task.ts'
import { BlobPuller } from './blob-puller.ts'
import { blobsAtOnce, callBlobService, containerOf, nameOf, prefixOf } from './blob-service.ts'

const blockBytes = 8 * 1024 * 1024

export class BlobSink implements ObjectSink {
  readonly hash = 'md5'
  readonly width = blobsAtOnce
  readonly #location: BlobLocation
  readonly #task: CopyTask
  readonly #container: ContainerClient
  readonly #staged: boolean
  readonly #puller: BlobPuller | undefined
  /** True when the target was empty at the start: no foreign items need to be looked for at the end. */
  #isFresh = false

  constructor(location: BlobLocation, task: RoutedTask) {
    const { source } = task
    this.#location = location
    this.#task = task
    this.#puller =
      source.kind === 'blobs' && isOneService(source, location)
        ? new BlobPuller(source, location, task.outbound)
        : undefined
    this.#container = containerOf(location, task.outbound)
    this.#staged = task.mode === 'full' || !task.owned
  }

  async prepare(): Promise<'ready'> {
    const { container, path, shape } = this.#location
    await callBlobService('TargetRefused', container, () => this.#container.createIfNotExists())
    if (this.#task.owned) return 'ready'
    const shown = `${container}/${path}`
    const prefix = shape === 'file' ? path : prefixOf(this.#location)
    const pages = this.#container.listBlobsFlat(prefix === '' ? {} : { prefix })
    const first = await callBlobService('TargetRefused', shown, () => pages.next())
    const isTaken = shape === 'file' ? first.value?.name === path : first.done !== true
    if (isTaken) {
      throw new CopyFailure(
        'TargetNotEmpty',
        `'${shown}' holds blobs that this mapping did not write: remove them, or map elsewhere`,
      )
    }
    this.#isFresh = true
    return 'ready'
  }

  has(): boolean {
    return false
  }

  pulls(item: ListedItem): boolean {
    return this.#puller?.takes(item) === true
  }

  async pull(item: ListedItem): Promise<string> {
    return (await this.#puller?.pull(item, this.#blob(item.key))) ?? ''
  }

  async putWhole(item: ListedItem, given: Uint8Array, digest: string): Promise<void> {
    const bytes = Buffer.from(given)
    const blob = this.#blob(item.key)
    const md5 = md5Of(digest)
    await callBlobService('TargetRefused', item.key, async () => {
      if (!this.#staged) {
        await blob.upload(bytes, bytes.length, {
          blobHTTPHeaders: { blobContentMD5: md5 },
        })
      } else if (bytes.length > 0) {
        await blob.stageBlock(this.#block(item, 0), bytes, bytes.length, {
          transactionalContentMD5: md5,
        })
      }
    })
  }

  async begin(item: ListedItem, wished: number): Promise<Upload> {
    const blob = this.#blob(item.key)
    const offset = await this.#kept(blob, item, wished)
    let index = offset / blockBytes
    let pending: Uint8Array[] = []
    let length = 0
    const send = async (): Promise<void> => {
      const block = Buffer.concat(pending, length)
      pending = []
      length = 0
      const transactionalContentMD5 = createHash('md5').update(block).digest()
      const id = this.#block(item, index++)
      await callBlobService('TargetRefused', item.key, () =>
        blob.stageBlock(id, block, block.length, { transactionalContentMD5 }),
      )
    }
    return {
      offset,
      async write(chunk) {
        let rest = chunk
        while (rest.length > 0) {
          const room = rest.subarray(0, blockBytes - length)
          // A copy, because the source reuses its buffers.
          pending.push(Buffer.from(room))
          length += room.length
          rest = rest.subarray(room.length)
          if (length === blockBytes) await send()
        }
      },
      async checkpoint() {
        return index * blockBytes
      },
      finish: async (digest) => {
        if (length > 0) await send()
        if (!this.#staged) await this.#commit({ ...item, digest })
      },
      async close() {},
    }
  }

  /** It always completes: stopped half-way it would leave old and new blobs side by side. */
  async publish(journal: CopyJournal): Promise<void> {
    if (!this.#staged) return
    let after: string | undefined
    for (;;) {
      const items = await journal.done(after, batchItems)
      // Blobs that were pulled before a cut are in place already.
      const staged = items.filter(({ digest }) => !BlobPuller.isOfPulled(digest))
      await side(staged, (item) => this.#commit(item))
      after = items.at(-1)?.key
      if (items.length < batchItems) break
    }
  }

  async tidy(journal: CopyJournal): Promise<void> {
    if (this.#location.shape === 'tree' && !this.#isFresh) await this.#removeOthers(journal)
  }

  /** Uncommitted blocks vanish by themselves, and no reader sees them. */
  async discard(): Promise<void> {}

  async [Symbol.asyncDispose](): Promise<void> {}

  async #removeOthers(journal: CopyJournal): Promise<void> {
    const prefix = prefixOf(this.#location)
    const pages = this.#container
      .listBlobsFlat(prefix === '' ? {} : { prefix })
      .byPage({ maxPageSize: batchItems })
    for (;;) {
      const page = await callBlobService('TargetRefused', this.#location.container, () =>
        pages.next(),
      )
      if (page.done === true) return
      const keys = page.value.segment.blobItems.map(({ name }) => name.slice(prefix.length))
      for (let at = 0; at < keys.length; at += batchItems) {
        const some = keys.slice(at, at + batchItems)
        const held = await journal.holds(some)
        const gone = some.filter((_, index) => held[index] !== true)
        await side(gone, (key) =>
          callBlobService('TargetRefused', key, async () => {
            await this.#blob(key).deleteIfExists()
          }),
        )
      }
    }
  }

  async #commit(item: DoneItem): Promise<void> {
    const count = Math.ceil(item.size / blockBytes)
    const blocks = Array.from({ length: count }, (_, index) => this.#block(item, index))
    await callBlobService('TargetRefused', item.key, () =>
      this.#blob(item.key).commitBlockList(blocks, {
        blobHTTPHeaders: { blobContentMD5: md5Of(item.digest) },
      }),
    )
  }

  /** As much of the promised blocks as the service still has. */
  async #kept(blob: BlockBlobClient, item: ListedItem, wished: number): Promise<number> {
    if (wished === 0) return 0
    const list = await callBlobService('TargetRefused', item.key, () =>
      blob.getBlockList('uncommitted'),
    )
    const there = new Set(list.uncommittedBlocks?.map(({ name }) => name))
    let index = 0
    while (index * blockBytes < wished && there.has(this.#block(item, index))) index++
    return index * blockBytes
  }

  #blob(key: string): BlockBlobClient {
    return this.#container.getBlockBlobClient(nameOf(this.#location, key))
  }

  /**
   * All block ids of a blob must have the same length. The id contains the item's state, so that blocks of two
   * states are never mixed.
   */
  #block(item: Pick<DoneItem, 'etag'>, index: number): string {
    const state = createHash('md5').update(`${this.#task.run}\n${item.etag}`).digest('hex')
    return Buffer.from(`${state.slice(0, 16)}${String(index).padStart(6, '0')}`).toString('base64')
  }
}

/** The same host and port: the service can copy within itself. */
function isOneService(source: BlobLocation, target: BlobLocation): boolean {
  return new URL(source.endpoint).origin === new URL(target.endpoint).origin
}

function md5Of(digest: string): Uint8Array {
  return Buffer.from(digest.slice(digest.indexOf(':') + 1), 'hex')
}

/** A bounded number at once. */
async function side<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) {
      const item = items[at]
      if (item !== undefined) await work(item)
    }
  }
  await Promise.all(Array.from({ length: Math.min(blobsAtOnce, items.length) }, lane))
}
