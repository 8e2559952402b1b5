/**
 * Mails of documents. The PDF has the content that the document had when it was sent. The composer and the
 * transport are parameters.
 */

import { ApiError } from '#kernel/error.ts'
import { fileNameOf } from '../documents/pdf-document.ts'
import type { PdfMaker } from '../documents/pdf-maker.ts'
import { plainLook } from '../documents/printed.ts'
import { addressesIn } from './addresses.ts'
import { type Channel, NotDelivered } from './deliver.ts'
import type { MailPayload } from './entries.ts'

export interface Mailer {
  compose(mail: {
    readonly id: string
    readonly at: number
    readonly from: MailPayload['from']
    readonly to: MailPayload['to']
    readonly replyTo: MailPayload['replyTo'] | undefined
    readonly language: string
    readonly subject: string
    readonly text: string
    readonly files: readonly {
      readonly name: string
      readonly type: string
      readonly content: Uint8Array
    }[]
  }): Promise<string>
  /** Throws `NotDelivered`. */
  send(
    envelope: {
      readonly id: string
      readonly from: string
      readonly to: readonly string[]
      readonly at: number
    },
    message: string,
  ): Promise<{ readonly refused: readonly string[] }>
}

/** Mail servers accept little more. */
const fileBytesMax = 10 * 1024 * 1024

export function mailChannel(mailer: Mailer, pdfs: PdfMaker): Channel {
  return {
    places: { all: 4, each: 3 },
    owner: 'entry.company_id',
    async compose({ id, created_at: at, company_id: companyId, language, payload }) {
      // `addEntry` wrote this text.
      const { printed: kept, replyTo, ...mail } = JSON.parse(payload) as MailPayload
      const printed = { ...kept, look: kept.look ?? plainLook }
      const content = await pdfs.make(companyId, printed).catch((error: unknown) => {
        throw error instanceof ApiError ? new NotDelivered(error.message, true) : error
      })
      if (content.length > fileBytesMax) {
        throw new NotDelivered(`its PDF has more than ${fileBytesMax / 1024 / 1024} MB`, true)
      }
      const name = `${fileNameOf(`${printed.title} ${printed.number}`)}.pdf`
      return await mailer.compose({
        id,
        at,
        language,
        ...mail,
        replyTo: replyTo.address === '' ? undefined : replyTo,
        files: [{ name, type: 'application/pdf', content }],
      })
    },
    async send({ id, created_at: at, sender: from, recipient }, message) {
      const to = addressesIn(recipient) ?? []
      const { refused } = await mailer.send({ id, from, to, at }, message)
      return refused.length === 0 ? '' : `refused: ${refused.join(', ')}`
    },
  }
}
