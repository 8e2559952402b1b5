/**
 * Composes a mail as the message to send: headers, a text and files. The same mail gives the same message, in
 * ASCII. Texts of callers cannot add a header. The first mail loads the library.
 */

interface MailAddress {
  /** Empty if there is none. */
  readonly name: string
  readonly address: string
}

export interface Mail {
  /** The part of `Message-ID` before the domain. The domain is the sender's. */
  readonly id: string
  readonly at: number
  readonly from: MailAddress
  readonly to: readonly MailAddress[]
  /** The address for answers, if it is not the sender's. */
  readonly replyTo: MailAddress | undefined
  readonly language: string
  readonly subject: string
  readonly text: string
  readonly files: readonly MailFile[]
}

interface MailFile {
  readonly name: string
  readonly type: string
  readonly content: Uint8Array
}

export async function composeMail(mail: Mail): Promise<string> {
  const { default: Composer } = await import('nodemailer/lib/mail-composer')
  const { id, from, to, replyTo, language, subject, text, files } = mail
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  const composer = new Composer({
    messageId: `<${id}@${domain}>`,
    baseBoundary: id,
    date: new Date(mail.at),
    from,
    to: [...to],
    ...(replyTo === undefined ? {} : { replyTo }),
    subject: subject.replace(/\s+/g, ' '),
    text: text.replace(/\r?\n|\r/g, '\r\n'),
    headers: { 'Content-Language': language },
    attachments: files.map(({ name, type, content }) => ({
      filename: name,
      contentType: type,
      content: Buffer.from(content),
    })),
    // Addresses and paths in names and texts are never fetched.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return (await composer.compile().build()).toString('latin1')
}
