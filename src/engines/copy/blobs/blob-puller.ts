/**
 * Asks a blob service to copy a blob within itself, in exactly the listed state. Two signatures, valid for a day,
 * allow reading the one blob and writing the target's container. The service may show the first to whoever reads the copy. Where the service cannot do it, the bytes go through this
 * process.
 */

import { type Agent, type RequestOptions, request } from 'node:http'
import { request as secureRequest } from 'node:https'
import { Readable } from 'node:stream'
import {
  BlobSASPermissions,
  type BlobSASSignatureValues,
  type BlockBlobClient,
  type ContainerClient,
  ContainerSASPermissions,
  generateBlobSASQueryParameters,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { agentOf } from '#outbound/agents.ts'
import type { Outbound } from '#outbound/outbound.ts'
import { requireFinalAnswer } from '#outbound/request.ts'
import type { BlobLocation } from '../engine.ts'
import { ItemChanged, type ListedItem } from '../objects.ts'
import { callBlobService, containerOf, isSecure, nameOf, statusOf } from './blob-service.ts'
import { bodyOf } from './blob-source.ts'

/** The size that services copy within one request. */
const pullBytesMax = 256 * 1024 * 1024
const signatureMilliseconds = 24 * 3600 * 1000
const blockBytes = 8 * 1024 * 1024
const blocksAtOnce = 2
/** After this many refusals without a success, the service is not asked again. */
const refusalsMax = 3
const mark = 'service:'
const md5Bytes = 16
const protocolVersion = '2021-12-02'
const accepted = 202
const answerMilliseconds = 60_000
const answerBytesMax = 64 * 1024

export class BlobPuller {
  readonly #location: BlobLocation
  readonly #container: ContainerClient
  readonly #target: BlobLocation
  readonly #agent: Agent
  #signatures: Promise<Signatures> | undefined
  #refusals = 0
  #hasWorked = false

  constructor(source: BlobLocation, target: BlobLocation, outbound: Outbound) {
    this.#location = source
    this.#container = containerOf(source, outbound)
    this.#target = target
    this.#agent = agentOf(outbound, isSecure(target))
  }

  static isOfPulled(digest: string): boolean {
    return digest.startsWith(mark)
  }

  takes(item: ListedItem): boolean {
    return item.size <= pullBytesMax
  }

  /** The digest is the service's own checksum, if it reports one. */
  async pull(item: ListedItem, target: BlockBlobClient): Promise<string> {
    const name = nameOf(this.#location, item.key)
    const source = this.#container.getBlobClient(name)
    if (this.#hasWorked || this.#refusals < refusalsMax) {
      this.#signatures ??= this.#sign()
      const signatures = await this.#signatures
      const url = `${source.url}?${signatures.source(name)}`
      const sourceConditions = { ifMatch: `"${item.etag}"` }
      const quick = await this.#askedQuickly(url, item, `${target.url}?${signatures.target}`)
      if (quick !== undefined) {
        this.#hasWorked = true
        return quick
      }
      try {
        const { contentMD5 } = await target.syncCopyFromURL(url, { sourceConditions })
        this.#hasWorked = true
        return digestOf(contentMD5)
      } catch (error) {
        const status = statusOf(error)
        if (status === 412) throw new ItemChanged(item.key)
        const isRefusal = status !== undefined && (status < 500 || status === 501)
        if (!isRefusal)
          return callBlobService('TargetRefused', item.key, () => Promise.reject(error))
        this.#refusals++
      }
    }
    return this.#carry(item, target)
  }

  /** Copies through this process; the blob becomes visible when it is complete. */
  async #carry(item: ListedItem, target: BlockBlobClient): Promise<string> {
    const source = this.#container.getBlobClient(nameOf(this.#location, item.key))
    try {
      const conditions = { ifMatch: `"${item.etag}"` }
      const answer = await source.download(0, item.size === 0 ? undefined : item.size, {
        conditions,
      })
      const stream = Readable.from(bodyOf(answer, item))
      await callBlobService('TargetRefused', item.key, () =>
        target.uploadStream(stream, blockBytes, blocksAtOnce),
      )
      return mark
    } catch (error) {
      // The blob is gone or has changed since it was listed.
      if (statusOf(error) === 412 || statusOf(error) === 404) throw new ItemChanged(item.key)
      return callBlobService('SourceRefused', item.key, () => Promise.reject(error))
    }
  }

  /**
   * One plain request, as there are many of them; undefined for anything but a plain success, which is then asked
   * again in full.
   */
  #askedQuickly(source: string, { etag }: ListedItem, target: string): Promise<string | undefined> {
    const options: RequestOptions = {
      method: 'PUT',
      agent: this.#agent,
      headers: {
        'x-ms-version': protocolVersion,
        'x-ms-copy-source': source,
        'x-ms-requires-sync': 'true',
        'x-ms-source-if-match': `"${etag}"`,
        'content-length': 0,
      },
    }
    return new Promise((done) => {
      const send = target.startsWith('https:') ? secureRequest : request
      let bytes = 0
      const call = send(target, options, (answer) => {
        const md5 = answer.headers['content-md5']
        answer.on('error', () => done(undefined))
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > answerBytesMax) call.destroy()
        })
        answer.on('end', () => {
          const digest = digestOf(typeof md5 === 'string' ? Buffer.from(md5, 'base64') : undefined)
          done(answer.statusCode === accepted ? digest : undefined)
        })
      })
      // The deadline of the whole call: a server that sends a byte now and then would never time out otherwise.
      const timer = setTimeout(() => call.destroy(), answerMilliseconds)
      call.on('error', () => done(undefined))
      requireFinalAnswer(call)
      // Also when it broke off after the head.
      call.on('close', () => {
        clearTimeout(timer)
        done(undefined)
      })
      call.end()
    })
  }

  /** Times are by the service's own clock, which judges them. */
  async #sign(): Promise<Signatures> {
    const { container } = this.#location
    const { date } = await callBlobService('SourceRefused', container, () =>
      this.#container.getProperties(),
    )
    const now = date === undefined ? 0 : new Date(date).getTime()
    const expiresOn = new Date(now + signatureMilliseconds)
    const signed = (
      { container: containerName, account, key }: BlobLocation,
      what: Pick<BlobSASSignatureValues, 'blobName' | 'permissions'>,
    ): string =>
      generateBlobSASQueryParameters(
        { containerName, ...what, expiresOn },
        new StorageSharedKeyCredential(account, key),
      ).toString()
    const reads = BlobSASPermissions.parse('r')
    return {
      source: (blobName) => signed(this.#location, { blobName, permissions: reads }),
      target: signed(this.#target, { permissions: ContainerSASPermissions.parse('cw') }),
    }
  }
}

/** A row keeps it: what has another length is no checksum. */
function digestOf(md5: Uint8Array | undefined): string {
  return md5?.length === md5Bytes ? mark + Buffer.from(md5).toString('hex') : mark
}

interface Signatures {
  /** Good for reading the blob of that name. */
  source(blobName: string): string
  /** Good for creating and writing. */
  readonly target: string
}
