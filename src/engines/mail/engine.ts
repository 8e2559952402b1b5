/**
 * The mail port. An engine hands a finished message to whoever delivers it; it composes nothing, tries nothing twice
 * and keeps nothing. Whoever calls it keeps the message until the engine says that it is handed over.
 */

export interface Envelope {
  /** Unique to the message. One that is handed over again has the same. */
  readonly id: string
  /** Addresses without names. */
  readonly from: string
  readonly to: readonly string[]
  /** When it was written, in milliseconds. */
  readonly at: number
}

export interface HandedOver {
  /** Addresses that were refused while others were taken. */
  readonly refused: readonly string[]
}

export interface MailEngine {
  /** For the log: where mail goes, without a password. */
  readonly title: string
  /**
   * Hands a message over, headers and body, as it is. Resolves when it is somebody else's to deliver. Throws
   * `MailNotSent` and nothing else.
   */
  send(envelope: Envelope, message: string): Promise<HandedOver>
}

/** The message is still the caller's. `isFinal`: another attempt ends the same. The message is fit for who sent it. */
export class MailNotSent extends Error {
  readonly isFinal: boolean
  constructor(reason: string, isFinal: boolean, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'MailNotSent'
    this.isFinal = isFinal
  }
}
