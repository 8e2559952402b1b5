/** Where a request came from, for logs, the audit trail and the throttling of sign-ins. */

export interface RequestOrigin {
  /** The caller's IP address in canonical form; empty when the connection has closed already. */
  readonly address: string
  /** The `User-Agent` header, printable and shortened; empty when there is none. */
  readonly userAgent: string
}
