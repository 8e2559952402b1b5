/** The outbox of an installation, with the engine that takes its mail. Engine and library are loaded by the first mail. */

import { hostname } from 'node:os'
import { type Channel, NotDelivered, type Outbox, openOutbox } from '#business/outbox/deliver.ts'
import { type Mailer, mailChannel } from '#business/outbox/mail-channel.ts'
import { type MailEngine, MailNotSent } from '#engines/mail/engine.ts'
import type { Foundation } from './foundation.ts'

type Base = Pick<
  Foundation,
  'config' | 'store' | 'clock' | 'timers' | 'machineTimers' | 'outbound' | 'log'
>

export interface InstallationOutbox extends Outbox {
  /** The address that mail of a company comes from; empty: there is none. */
  mailSender(companyAddress: string): string
}

export function openInstallationOutbox(base: Base): InstallationOutbox {
  const { config, store, clock, timers, log } = base
  const channels: Record<string, Channel> = { Mail: mailChannel(openMailer(base)) }
  const { server, from } = config.mail
  return {
    ...openOutbox({ sql: store.sql, clock, timers, log, channels }),
    mailSender(companyAddress) {
      // A file needs no address that anybody could answer.
      return (from ?? companyAddress) || (server === undefined ? 'nobody@localhost' : '')
    },
  }
}

function openMailer(base: Base): Mailer {
  let engine: Promise<MailEngine> | undefined
  return {
    async compose(mail) {
      const { composeMail } = await import('#engines/mail/compose.ts')
      return await composeMail(mail)
    },
    async send(envelope, message) {
      engine ??= openMailEngine(base)
      try {
        return await (await engine).send(envelope, message)
      } catch (error) {
        if (!(error instanceof MailNotSent)) throw error
        throw new NotDelivered(error.message, error.isFinal, { cause: error })
      }
    },
  }
}

async function openMailEngine({
  config,
  machineTimers: timers,
  outbound,
  log,
}: Base): Promise<MailEngine> {
  const { server, folder } = config.mail
  const open = async (): Promise<MailEngine> => {
    if (server === undefined) {
      return (await import('#engines/mail/folder/folder-engine.ts')).folderEngine(folder)
    }
    const { smtpEngine } = await import('#engines/mail/smtp/smtp-engine.ts')
    return smtpEngine(server, { outbound, timers, name: hostname() })
  }
  const engine = await open()
  log.info({ mail: engine.title }, 'where mail goes')
  return engine
}
