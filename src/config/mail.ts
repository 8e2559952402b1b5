/** How mail leaves the installation. */

import { join, resolve } from 'node:path'
import { isUrl, text, wholeNumber } from './setting.ts'

export interface MailConfig {
  readonly mail: {
    /** Undefined: into the folder. */
    readonly server:
      | {
          readonly host: string
          readonly port: number
          readonly isSecure: boolean
          readonly user: string | undefined
          readonly password: string | undefined
        }
      | undefined
    /** Undefined: each company's own address. */
    readonly from: string | undefined
    /** `path` is absolute. The oldest files are removed beyond `filesMax` and `bytesMax`. */
    readonly folder: { readonly path: string; readonly filesMax: number; readonly bytesMax: number }
  }
}

const none = ''
const usualPort = 587
const usualSecurePort = 465

export const mailSettings = {
  mailServer: text(
    'empty, `smtp://user:password@host:port` or `smtps://…`',
    (v) => v === none || (isUrl(v, ['smtp:', 'smtps:']) && URL.parse(v)?.search === ''),
    {
      default: none,
      description:
        'The SMTP server that mail goes to: `smtp` with STARTTLS (port 587), `smtps` with TLS from the first byte (465). To another machine a user and a password go over TLS only. Empty is none: mails become files in the folder.',
      secret: true,
    },
  ),
  mailFrom: text(
    'empty, or an address',
    (v) => v === none || /^[^\s@<>,;"]{1,64}@[^\s@<>,;"]{1,190}$/.test(v),
    {
      default: none,
      description:
        'The address that all mail comes from, where the mail server takes no other; answers go to the company. Empty is the `email` of each company.',
    },
  ),
  mailFolder: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: none,
    description:
      'Where mails are written as `.eml` files while there is no mail server. Empty is `mails` in the home.',
  }),
  mailFolderFiles: wholeNumber(10, 1_000_000, {
    default: '10000',
    description:
      'Files that the folder of mails keeps at the most. The oldest are removed; what was sent stays in the outbox of its company.',
  }),
  mailFolderMegabytes: wholeNumber(10, 1_000_000, {
    default: '1024',
    description: 'Megabytes that the folder of mails keeps at the most. The oldest are removed.',
  }),
} as const

export function arrangeMail(
  named: {
    readonly home: string
    readonly mailServer: string
    readonly mailFrom: string
    readonly mailFolder: string
    readonly mailFolderFiles: number
    readonly mailFolderMegabytes: number
  },
  directory: string,
): MailConfig {
  const url = named.mailServer === none ? null : URL.parse(named.mailServer)
  return {
    mail: {
      server: url === null ? undefined : serverOf(url),
      from: named.mailFrom === none ? undefined : named.mailFrom,
      folder: {
        path: resolve(directory, named.mailFolder || join(named.home, 'mails')),
        filesMax: named.mailFolderFiles,
        bytesMax: named.mailFolderMegabytes * 1024 * 1024,
      },
    },
  }
}

function serverOf({ protocol, hostname, port, username, password }: URL) {
  const isSecure = protocol === 'smtps:'
  const said = (part: string) => (part === '' ? undefined : decodeURIComponent(part))
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isSecure ? usualSecurePort : usualPort) : Number(port),
    isSecure,
    user: said(username),
    password: said(password),
  }
}
