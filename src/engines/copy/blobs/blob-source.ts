/** Reads blobs, each only in exactly the listed state. */

import { hash } from 'node:crypto'
import type { Readable } from 'node:stream'
import type { BlobDownloadResponseParsed, BlobItem, ContainerClient } from '@azure/storage-blob'
import { receiveAll } from '#kernel/received-bytes.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { elapsedMilliseconds } from '../elapsed.ts'
import { type BlobLocation, batchItems, CopyFailure } from '../engine.ts'
import { ItemChanged, type ListedItem, type ObjectSource } from '../objects.ts'
import {
  bareEtag,
  blobsAtOnce,
  callBlobService,
  containerOf,
  nameOf,
  prefixOf,
  statusOf,
} from './blob-service.ts'

/** The largest page of services. */
const pageItems = 5000
const blobWholeMax = 4 * 1024 * 1024
/** The number of items in a data set: each is a row of the manifest. */
const itemsMax = 10_000_000
/** The number of consecutive empty pages. */
const emptyPagesMax = 1000
/** The longest name that services allow, which is longer than their tags. */
const nameCharactersMax = 1024
const etagCharactersMax = 200
/** The time for a body; it grows with the number of bytes received. */
const bodyMilliseconds = 60_000
const bytesPerMillisecondMin = 16

export class BlobSource implements ObjectSource {
  readonly width = blobsAtOnce
  readonly wholeMax = blobWholeMax
  readonly #location: BlobLocation
  readonly #container: ContainerClient

  constructor(location: BlobLocation, outbound: Outbound) {
    this.#location = location
    this.#container = containerOf(location, outbound)
  }

  async *list(): AsyncGenerator<readonly ListedItem[]> {
    const shown = `${this.#location.container}/${this.#location.path}`
    if (this.#location.shape === 'file') {
      const found = await this.look(this.#location.path.split('/').at(-1) ?? '')
      if (found === undefined) throw new CopyFailure('SourceMissing', `there is no blob '${shown}'`)
      yield [found]
      return
    }
    const prefix = prefixOf(this.#location)
    const pages = this.#container
      .listBlobsFlat(prefix === '' ? {} : { prefix })
      .byPage({ maxPageSize: pageItems })
    let count = 0
    let emptyPages = 0
    let marker: string | undefined
    for (;;) {
      const page = await callBlobService('SourceRefused', shown, () => pages.next())
      if (page.done === true) return
      const { segment, continuationToken } = page.value
      const items = segment.blobItems.flatMap((blob): ListedItem[] => {
        const item = listedOf(blob, prefix)
        return item.key === '' || item.key.endsWith('/') ? [] : [item]
      })
      count += items.length
      emptyPages = items.length === 0 ? emptyPages + 1 : 0
      const isSame = marker !== undefined && continuationToken === marker
      if (isSame || emptyPages > emptyPagesMax || count > itemsMax) {
        throw new CopyFailure('Unsupported', `the list of '${shown}' has no end`)
      }
      marker = continuationToken
      for (let at = 0; at < items.length; at += batchItems) yield items.slice(at, at + batchItems)
    }
  }

  async look(key: string): Promise<ListedItem | undefined> {
    const blob = this.#container.getBlobClient(nameOf(this.#location, key))
    try {
      const found = await blob.getProperties()
      const { contentLength: size = 0, lastModified } = found
      const etag = bareEtag(found.etag)
      if (!isSoundState(etag, size)) throw new CopyFailure('Unsupported', noBlob)
      return { key, size, etag, modified: lastModified?.getTime() ?? 0 }
    } catch (error) {
      // A missing blob is a result; anything else is a failure.
      if (statusOf(error) === 404) return undefined
      return callBlobService('SourceRefused', key, () => Promise.reject(error))
    }
  }

  async whole(item: ListedItem): Promise<Uint8Array> {
    const answer = await this.#download(item, 0)
    const bytes = await receiveAll(bodyOf(answer, item), item.size)
    if (bytes?.length !== item.size) throw new ItemChanged(item.key)
    const expected = answer.blobContentMD5 ?? answer.contentMD5
    if (
      expected !== undefined &&
      hash('md5', bytes, 'hex') !== Buffer.from(expected).toString('hex')
    ) {
      throw new CopyFailure('Damaged', `'${item.key}' arrived with another checksum`, 'later')
    }
    return bytes
  }

  async *open(item: ListedItem, offset: number): AsyncGenerator<Uint8Array> {
    if (offset >= item.size) return
    const answer = await this.#download(item, offset)
    let at = offset
    for await (const chunk of bodyOf(answer, item)) {
      at += chunk.length
      yield chunk
    }
    if (at !== item.size) throw new ItemChanged(item.key)
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async #download(item: ListedItem, offset: number): Promise<BlobDownloadResponseParsed> {
    const blob = this.#container.getBlobClient(nameOf(this.#location, item.key))
    const conditions = { ifMatch: `"${item.etag}"` }
    try {
      // The range bounds the answer, whatever the service says; an empty blob has no range.
      const count = item.size === 0 ? undefined : item.size - offset
      return await blob.download(offset, count, { conditions, maxRetryRequests: 3 })
    } catch (error) {
      // The blob is gone or has changed since it was listed.
      if (statusOf(error) === 412 || statusOf(error) === 404) throw new ItemChanged(item.key)
      return callBlobService('SourceRefused', item.key, () => Promise.reject(error))
    }
  }
}

/** Throws `CopyFailure` for an impossible blob: its values would go into file names and rows. */
function listedOf({ name, properties }: Partial<BlobItem>, prefix: string): ListedItem {
  const { contentLength: size = 0, lastModified } = properties ?? {}
  const etag = bareEtag(properties?.etag)
  const modified = lastModified instanceof Date ? lastModified.getTime() : Number.NaN
  const isSound =
    typeof name === 'string' &&
    name.startsWith(prefix) &&
    name.length <= nameCharactersMax &&
    name.isWellFormed() &&
    !name.includes('\u0000') &&
    isSoundState(etag, size) &&
    Number.isFinite(modified)
  if (isSound) return { key: name.slice(prefix.length), size, etag, modified }
  throw new CopyFailure('Unsupported', noBlob)
}

const noBlob = 'the blob service tells of what is no blob'

function isSoundState(etag: string, size: number): boolean {
  return etag.length <= etagCharactersMax && Number.isSafeInteger(size) && size >= 0
}

/** A service that sends a byte now and then would hold a run for ever. */
export async function* bodyOf(
  answer: BlobDownloadResponseParsed,
  { key }: Pick<ListedItem, 'key'>,
): AsyncGenerator<Uint8Array> {
  const body = answer.readableStreamBody as Readable | undefined
  if (body === undefined) return
  const chunks = body.iterator({ destroyOnReturn: true })
  let waited = 0
  let bytes = 0
  try {
    for (;;) {
      const began = elapsedMilliseconds()
      const timer = setTimeout(() => body.destroy(new Error('it is silent')), bodyMilliseconds)
      const next = await callBlobService('SourceRefused', key, () => chunks.next()).finally(() =>
        clearTimeout(timer),
      )
      if (next.done === true) return
      // A Node stream yields buffers unless an encoding is set.
      const chunk = next.value as Buffer
      // Only the service's time counts: the consumer of a chunk may take long as well.
      waited += elapsedMilliseconds() - began
      bytes += chunk.length
      if (waited > bodyMilliseconds && bytes / waited < bytesPerMillisecondMin) {
        throw new CopyFailure('Unreachable', `'${key}' comes too slowly`, 'later')
      }
      yield chunk
    }
  } finally {
    body.destroy()
  }
}
