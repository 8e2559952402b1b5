/** The type of a hostile request, and helpers for `requests.ts`. */

export interface Hostile {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** Below the origin. */
  readonly path: string
  readonly type?: string
  /** A function gives another body each time, where the server remembers earlier ones. */
  readonly body?: string | ((time: number) => string)
  readonly headers?: Readonly<Record<string, string>>
  /** How many are sent at once. */
  readonly atOnce?: number
  /** Sent by clients that read nothing of the answer, each on its own connection. */
  readonly isUnread?: true
  /**
   * The expected status. Another one fails the run, since the row would measure nothing. Zero: the connection is
   * cut.
   */
  readonly expects: number | readonly number[]
  /** For a JSON batch: the statuses of its parts, each once. */
  readonly expectsAnswers?: readonly number[]
}

/** What the requests refer to. */
export interface FreezeFixture {
  readonly subscriptionId: string
  readonly companyId: string
  readonly customerId: string
  readonly itemId: string
  /** An invoice with thousands of lines. */
  readonly invoiceId: string
  /** An invoice with as many lines, each two pages tall. */
  readonly tallInvoiceId: string
  /** The path of a billing profile. */
  readonly billingProfile: string
  /** The path of a list whose resources are as large as allowed. */
  readonly largeProfiles: string
}

export const bodyMax = 4 * 1024 * 1024

/** Repeats the part as often as it fits into `size` characters. */
export function filled(size: number, piece: (at: number) => string, between = ','): string {
  const pieces: string[] = []
  for (let at = 0, length = 0; length < size; at++) {
    const next = piece(at)
    length += next.length + between.length
    if (length >= size) break
    pieces.push(next)
  }
  return pieces.join(between)
}

/** A GET that is answered. */
export function get(name: string, path: string, expects = 200): Hostile {
  return { name, method: 'GET', path, expects }
}
