/** What a connector of objects offers: listing and reading on one side, staging and publishing on the other. */

import type { CopyJournal, Item } from './engine.ts'

/** Thrown by reads when the item is not what was listed. */
export class ItemChanged extends Error {
  constructor(key: string) {
    super(`'${key}' changed while it was read`)
    this.name = 'ItemChanged'
  }
}

/** An item with what its source needs to find it again. */
export interface ListedItem extends Item {
  /** Milliseconds since 1970, kept where the target can keep it. */
  readonly modified: number
}

export interface ObjectSource extends AsyncDisposable {
  /** In batches of at most `batchItems`; every key once. */
  list(): AsyncIterable<readonly ListedItem[]> | Iterable<readonly ListedItem[]>
  /** As it is now; undefined when it is gone. */
  look(key: string): Promise<ListedItem | undefined>
  /** How many items at once are worth it; those of a pair are the larger of both. */
  readonly width: number
  /** Items up to this size are read with `whole`. */
  readonly wholeMax: number
  /** Throws `ItemChanged` unless it is the very item listed. Not given as a promise, the bytes are good until the next call. */
  whole(item: ListedItem): Uint8Array | Promise<Uint8Array>
  /** The bytes from `offset`. Throws `ItemChanged`, at the latest after the last chunk. */
  open(item: ListedItem, offset: number): AsyncIterable<Uint8Array>
}

/** A large object on its way into the stage. */
export interface Upload {
  /** How many of the bytes that were there are kept; reading goes on there. */
  readonly offset: number
  /** The bytes that are kept, to be taken into the digest; left out, they are read from the source again. */
  kept?(): AsyncIterable<Uint8Array>
  write(chunk: Uint8Array): Promise<void>
  /** Makes safe what was written before the call, while more is written; how many bytes that is. */
  checkpoint(): Promise<number>
  finish(digest: string): Promise<void>
  /** Lets go; what is safe stays for a later run. */
  close(): Promise<void>
}

export interface ObjectSink extends AsyncDisposable {
  /** By which digest is written and compared. */
  readonly hash: 'md5' | 'sha256'
  /** How many items at once are worth it. */
  readonly width: number
  /**
   * Throws `CopyFailure` when the target may not be written. `published`: this run has done so before it was cut
   * off, and nothing is left to do.
   */
  prepare(): Promise<'ready' | 'published'>
  /** Does the stage hold this very item, from before a cut? */
  has(item: ListedItem): boolean
  /** What is done with the bytes after it has returned is done with a copy of them. */
  putWhole(item: ListedItem, bytes: Uint8Array, digest: string): void | Promise<void>
  begin(item: ListedItem, offset: number): Promise<Upload>
  /**
   * Can the service that both sides are of copy the item by itself? Nothing of it is staged then: it is pulled while
   * publishing, in one request, or where a copy is not staged, in its turn.
   */
  pulls?(item: ListedItem): boolean
  /** Makes the item visible in the very state listed; its digest as the service tells it. Throws `ItemChanged`. */
  pull?(item: ListedItem): Promise<string>
  /** Makes the stage visible. May be called again after a cut. */
  publish(journal: CopyJournal): Promise<void>
  /** Removes what is there of earlier runs and not of this one, where publishing has not done so. */
  tidy?(journal: CopyJournal): Promise<void>
  /** Removes what was staged and not published. */
  discard(): Promise<void>
}
