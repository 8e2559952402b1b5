/** Reads blobs, each only in the very state that was listed. */

import { hash } from 'node:crypto'
import type { BlobDownloadResponseParsed, ContainerClient } from '@azure/storage-blob'
import type { Outbound } from '#outbound/outbound.ts'
import { type BlobLocation, batchItems, CopyFailure } from '../engine.ts'
import { ItemChanged, type ListedItem, type ObjectSource } from '../objects.ts'
import {
  asked,
  bareEtag,
  blobsAtOnce,
  containerOf,
  nameOf,
  prefixOf,
  statusOf,
} from './blob-service.ts'

/** As many as services list at once. */
const pageItems = 5000
const blobWholeMax = 4 * 1024 * 1024

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
    for (;;) {
      const page = await asked('SourceRefused', shown, () => pages.next())
      if (page.done === true) return
      const items = page.value.segment.blobItems.flatMap((blob): ListedItem[] => {
        const key = blob.name.slice(prefix.length)
        if (key === '' || key.endsWith('/')) return []
        return [
          {
            key,
            size: blob.properties.contentLength ?? 0,
            etag: bareEtag(blob.properties.etag),
            modified: blob.properties.lastModified.getTime(),
          },
        ]
      })
      for (let at = 0; at < items.length; at += batchItems) yield items.slice(at, at + batchItems)
    }
  }

  async look(key: string): Promise<ListedItem | undefined> {
    const blob = this.#container.getBlobClient(nameOf(this.#location, key))
    try {
      const found = await blob.getProperties()
      return {
        key,
        size: found.contentLength ?? 0,
        etag: bareEtag(found.etag),
        modified: found.lastModified?.getTime() ?? 0,
      }
    } catch (error) {
      // Nothing there is an answer; all else is told as a failure.
      if (statusOf(error) === 404) return undefined
      return asked('SourceRefused', key, () => Promise.reject(error))
    }
  }

  async whole(item: ListedItem): Promise<Uint8Array> {
    const answer = await this.#download(item, 0)
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of bodyOf(answer)) {
      chunks.push(chunk)
      length += chunk.length
    }
    if (length !== item.size) throw new ItemChanged(item.key)
    const bytes = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
    const told = answer.contentMD5
    if (told !== undefined && hash('md5', bytes, 'hex') !== Buffer.from(told).toString('hex')) {
      throw new CopyFailure('Damaged', `'${item.key}' arrived with another checksum`, 'later')
    }
    return bytes
  }

  async *open(item: ListedItem, offset: number): AsyncGenerator<Uint8Array> {
    if (offset >= item.size) return
    const answer = await this.#download(item, offset)
    let at = offset
    for await (const chunk of bodyOf(answer)) {
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
      return await blob.download(offset, undefined, { conditions, maxRetryRequests: 3 })
    } catch (error) {
      // Gone or another one: the source moved on since it was listed.
      if (statusOf(error) === 412 || statusOf(error) === 404) throw new ItemChanged(item.key)
      return asked('SourceRefused', item.key, () => Promise.reject(error))
    }
  }
}

async function* bodyOf(answer: BlobDownloadResponseParsed): AsyncGenerator<Uint8Array> {
  const body = answer.readableStreamBody
  if (body === undefined) return
  // A Node stream gives buffers unless an encoding is set, and none is.
  for await (const chunk of body) yield chunk as unknown as Buffer
}
