/** The interface of an object connector: listing and reading as a source, staging and publishing as a target. */

import type { CopyJournal, Item } from './engine.ts'

/** Thrown by reads when the item differs from the listed one. */
export class ItemChanged extends Error {
  constructor(key: string) {
    super(`'${key}' changed while it was read`)
    this.name = 'ItemChanged'
  }
}

/** An item with what its source needs to find it again. */
export interface ListedItem extends Item {
  /** Milliseconds since 1970; kept if the target can keep it. */
  readonly modified: number
}

export interface ObjectSource extends AsyncDisposable {
  /** In batches of at most `batchItems`; every key once. */
  list(): AsyncIterable<readonly ListedItem[]> | Iterable<readonly ListedItem[]>
  /** The current item; undefined when it is gone. */
  look(key: string): Promise<ListedItem | undefined>
  /** How many items to copy at once. A pair uses the larger value of both. */
  readonly width: number
  /** Items up to this size are read with `whole`. */
  readonly wholeMax: number
  /**
   * Throws `ItemChanged` unless it is the very item that was listed. Bytes that are returned without a promise are
   * valid until the next call.
   */
  whole(item: ListedItem): Uint8Array | Promise<Uint8Array>
  /** The bytes from `offset`. Throws `ItemChanged`, at the latest after the last chunk. */
  open(item: ListedItem, offset: number): AsyncIterable<Uint8Array>
}

/** A large object that is being written to the stage. */
export interface Upload {
  /** How many of the existing bytes are kept; reading continues there. */
  readonly offset: number
  /** The kept bytes, for the digest. When left out, they are read from the source again. */
  kept?(): AsyncIterable<Uint8Array>
  write(chunk: Uint8Array): Promise<void>
  /** Makes everything written before the call safe, while more is written; returns the number of safe bytes. */
  checkpoint(): Promise<number>
  finish(digest: string): Promise<void>
  /** Releases it; what is safe stays for a later run. */
  close(): Promise<void>
}

export interface ObjectSink extends AsyncDisposable {
  /** The digest by which items are written and compared. */
  readonly hash: 'md5' | 'sha256'
  /** How many items to copy at once. */
  readonly width: number
  /**
   * Throws `CopyFailure` when the target may not be written. `published`: this run published before it was cut off,
   * and nothing is left to do. Where nothing is staged, whatever was done before, `forget` comes before the stage is made: a run
   * that is cut off in between begins anew as well.
   */
  prepare(forget: () => Promise<void>): Promise<'ready' | 'published'>
  /** Whether the stage holds this very item from before a cut. */
  has(item: ListedItem): boolean
  /** The bytes are reused after it returns, so later work needs a copy of them. */
  putWhole(item: ListedItem, bytes: Uint8Array, digest: string): void | Promise<void>
  begin(item: ListedItem, offset: number): Promise<Upload>
  /**
   * Whether the service of both sides can copy the item by itself. Such an item is not staged: it is pulled while
   * publishing, in one request, or in turn when the copy is not staged.
   */
  pulls?(item: ListedItem): boolean
  /**
   * Makes the item visible in exactly the listed state; returns the digest that the service reports. Throws
   * `ItemChanged`.
   */
  pull?(item: ListedItem): Promise<string>
  /** Makes the stage visible. It may be called again after a cut. */
  publish(journal: CopyJournal): Promise<void>
  /** Removes what earlier runs left and this one did not write, where publishing has not done so. */
  tidy?(journal: CopyJournal): Promise<void>
  /** Removes what was staged and not published. */
  discard(): Promise<void>
}
