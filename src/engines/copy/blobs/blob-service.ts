/** A connection to a blob service. Its errors become errors of the port, never with the key. */

import {
  BlobServiceClient,
  type ContainerClient,
  newPipeline,
  RestError,
  StorageSharedKeyCredential,
} from '@azure/storage-blob'
import { noAnswer, type Outbound } from '#outbound/outbound.ts'
import { type BlobLocation, CopyFailure } from '../engine.ts'
import { checkedPath, checkLocation } from '../names.ts'
import { ItemChanged } from '../objects.ts'
import { boundedClient } from './bounded-client.ts'

export const blobsAtOnce = 32
const triesMax = 4
const requestMilliseconds = 60_000
const shownCharactersMax = 100
/** The shown length of the service's error code. */
const codeCharactersMax = 100

export function containerOf(location: BlobLocation, outbound: Outbound): ContainerClient {
  checkLocation(location)
  // Redirected requests use it too.
  const httpClient = boundedClient(outbound, isSecure(location))
  const pipeline = newPipeline(new StorageSharedKeyCredential(location.account, location.key), {
    httpClient,
    retryOptions: {
      maxTries: triesMax,
      tryTimeoutInMs: requestMilliseconds,
      retryDelayInMs: 200,
      maxRetryDelayInMs: 5000,
    },
    keepAliveOptions: { enable: true },
  })
  return new BlobServiceClient(location.endpoint, pipeline).getContainerClient(location.container)
}

export function isSecure({ endpoint }: BlobLocation): boolean {
  return URL.parse(endpoint)?.protocol === 'https:'
}

/** What keys are relative to: the path with a slash, or nothing. */
export function prefixOf(location: BlobLocation): string {
  const path = checkedPath(location.path).join('/')
  return path === '' || location.shape === 'file' ? '' : `${path}/`
}

/**
 * The blob of a key. A key is what a service lists, and may be any text. As part of a URL, `..` leads upwards: to another
 * container of the account, which the key opens as well.
 */
export function nameOf(location: BlobLocation, key: string): string {
  if (location.shape === 'file') return location.path
  if (key.split('/').some((segment) => segment === '.' || segment === '..')) {
    const shown = key.slice(0, shownCharactersMax)
    throw new CopyFailure('PathRefused', `the name '${shown}' holds a '.' or '..' segment`)
  }
  return prefixOf(location) + key
}

export function statusOf(error: unknown): number | undefined {
  return error instanceof RestError ? error.statusCode : undefined
}

/** Calls the service; its errors become `CopyFailure` with the service's own code. */
export async function callBlobService<T>(
  side: 'SourceRefused' | 'TargetRefused',
  what: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof CopyFailure || error instanceof ItemChanged) throw error
    // Thrown by the client when an answer is incomplete or lacks what it expects.
    if (!(error instanceof RestError)) {
      throw new CopyFailure(
        'Unreachable',
        `the blob service answered for '${what}' what cannot be read`,
        'later',
        { cause: error },
      )
    }
    const { statusCode, code } = error
    const reason =
      code?.replace(/[^\w.-]+/g, '').slice(0, codeCharactersMax) ?? `status ${statusCode ?? 'none'}`
    if (!isOfBlobService(error)) {
      throw new CopyFailure(
        'Unreachable',
        `the blob service of '${what}' is not reached: ${noAnswer}`,
        'later',
      )
    }
    if (statusCode === undefined || statusCode >= 500) {
      throw new CopyFailure(
        'Unreachable',
        `the blob service did not answer for '${what}' (${reason})`,
        'later',
      )
    }
    if (statusCode === 404 && side === 'SourceRefused') {
      throw new CopyFailure('SourceMissing', `there is no '${what}' (${reason})`)
    }
    throw new CopyFailure(side, `the blob service refused '${what}' (${reason})`)
  }
}

/** Anything else that answers at the address is reported as a service that does not answer. */
function isOfBlobService({ response }: RestError): boolean {
  return ['x-ms-request-id', 'x-ms-error-code'].some((name) => response?.headers.has(name) === true)
}

/** Some answers quote tags and others do not. */
export function bareEtag(etag: string | undefined): string {
  return (etag ?? '').replace(/^"|"$/g, '')
}
