/**
 * Sums the rows of a table without a query: the server plans nothing, so it computes no expression of an index. Slower than
 * the sums of `verify.ts`, which the server makes itself.
 */

import type { Connection, Submittable } from 'pg'
import type { Verification } from '../engine.ts'
import type { SourceTable } from './catalog.ts'
import type { Session } from './connect.ts'

interface RowSum {
  readonly rows: string
  readonly checksum: string | null
}

/** Both sides must have the same encoding: their bytes are taken as they are. Generated columns are left out. */
export async function sumRows(
  session: Session,
  { name, columns }: SourceTable,
  how: Exclude<Verification, 'none'>,
): Promise<RowSum> {
  const read = how === 'counts' ? columns.slice(0, 1) : columns
  const list = read.length === 0 ? '' : ` (${read.join(', ')})`
  const sum = new CopySum(`COPY ${name}${list} TO STDOUT (FORMAT text, ENCODING 'SQL_ASCII')`)
  session.client.query(sum)
  await sum.done
  return { rows: String(sum.rows), checksum: how === 'counts' ? null : sum.checksum() }
}

/** The order of the rows is none, so their hashes are added. */
class CopySum implements Submittable {
  readonly done: Promise<void>
  rows = 0
  private readonly text: string
  private readonly hash = new Int32Array(2)
  private readonly total = new Uint32Array(2)
  private readonly settle: PromiseWithResolvers<void> = Promise.withResolvers()

  constructor(text: string) {
    this.text = text
    this.done = this.settle.promise
  }

  checksum(): string {
    return this.total.join(' ')
  }

  submit(connection: Connection): void {
    // The driver's types leave out that a statement can be sent as it is.
    ;(connection as Connection & { query(text: string): void }).query(this.text)
  }

  /** The server sends a message for each row. */
  handleCopyData({ chunk }: { readonly chunk: Buffer }): void {
    hashInto(this.hash, chunk)
    const [one = 0, other = 0] = this.hash
    this.total[0] = (this.total[0] ?? 0) + one
    this.total[1] = (this.total[1] ?? 0) + other
    this.rows++
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    this.settle.resolve()
  }

  handleError(error: Error): void {
    this.settle.reject(error)
  }
}

/** Two hashes of 32 bits that multiply by different primes, and mix each other at the end. */
function hashInto(hash: Int32Array, bytes: Buffer): void {
  let one = 0xdeadbeef
  let other = 0x41c6ce57
  for (const byte of bytes) {
    one = Math.imul(one ^ byte, 0x9e3779b1)
    other = Math.imul(other ^ byte, 0x5f356495)
  }
  const mixedOne = Math.imul(one ^ (one >>> 16), 0x85ebca6b)
  const mixedOther = Math.imul(other ^ (other >>> 16), 0xc2b2ae35)
  hash[0] = mixedOne ^ (mixedOther >>> 13)
  hash[1] = mixedOther ^ (mixedOne >>> 15)
}
