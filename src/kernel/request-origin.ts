/** Where a request came from, for logs, the audit trail and the slowing of sign-ins. */

export interface RequestOrigin {
  /** The caller's IP address in its canonical form; empty when the connection is already gone. */
  readonly address: string
  /** The `User-Agent` header, printable and shortened; empty when there is none. */
  readonly userAgent: string
}
