/** What a hostile request is, and how those of `requests.ts` are written. */

export interface Hostile {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** Below the origin. */
  readonly path: string
  readonly type?: string
  /** Another one for each time it is sent, where the server remembers. */
  readonly body?: string | ((time: number) => string)
  readonly headers?: Readonly<Record<string, string>>
  /** Sent so many times at once. */
  readonly atOnce?: number
  /** Sent by clients that read nothing of the answer, each on a connection of its own. */
  readonly isUnread?: true
  /** What it is answered with; anything else fails the run, since the row would measure nothing. Zero: cut off. */
  readonly expects: number | readonly number[]
  /** Of a batch in JSON: the statuses of its parts, each once. */
  readonly expectsAnswers?: readonly number[]
}

/** What the requests are about. */
export interface FreezeFixture {
  readonly subscriptionId: string
  readonly companyId: string
  readonly customerId: string
  readonly itemId: string
  /** An invoice with thousands of lines. */
  readonly invoiceId: string
  /** One of as many lines, each two pages long. */
  readonly tallInvoiceId: string
  /** The path of a billing profile. */
  readonly billingProfile: string
  /** The path of a list of resources that are as large as may be. */
  readonly largeProfiles: string
}

export const bodyMax = 4 * 1024 * 1024

/** As often as it fits into so many characters. */
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

/** A request that is answered. */
export function get(name: string, path: string, expects = 200): Hostile {
  return { name, method: 'GET', path, expects }
}
