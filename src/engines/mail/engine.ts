/**
 * The mail port. An engine hands a finished message over for delivery. It does not compose, repeat or store
 * messages. The caller keeps the message until the engine reports that it is handed over.
 */

export interface Envelope {
  /** Unique to the message. A message that is handed over again has the same id. */
  readonly id: string
  /** Addresses without names. */
  readonly from: string
  readonly to: readonly string[]
  /** When the message was written, in milliseconds. */
  readonly at: number
}

export interface HandedOver {
  /** Addresses that were refused while others were accepted. */
  readonly refused: readonly string[]
}

export interface MailEngine {
  /** For the log: the destination of mails, without a password. */
  readonly title: string
  /**
   * Hands a message over, headers and body, as it is. Resolves when it is somebody else's to deliver. Throws
   * `MailNotSent` and nothing else.
   */
  send(envelope: Envelope, message: string): Promise<HandedOver>
}

/**
 * The message was not handed over. With `isFinal`, another attempt would fail too. The sender may see the message.
 */
export class MailNotSent extends Error {
  readonly isFinal: boolean
  constructor(reason: string, isFinal: boolean, options?: ErrorOptions) {
    super(reason, options)
    this.name = 'MailNotSent'
    this.isFinal = isFinal
  }
}
