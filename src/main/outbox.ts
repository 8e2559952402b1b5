/** The outbox of an installation, with the engine that takes its mail. Engine and library are loaded by the first mail. */

import { hostname } from 'node:os'
import { type CallOut, webhookChannel } from '#business/notifications/webhook-channel.ts'
import { type Channel, NotDelivered, type Outbox, openOutbox } from '#business/outbox/deliver.ts'
import { type Mailer, mailChannel } from '#business/outbox/mail-channel.ts'
import { type MailEngine, MailNotSent } from '#engines/mail/engine.ts'
import type { DirectoryCache } from '#identity/directory-cache.ts'
import type { Timers } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { isLoopback } from '#outbound/address.ts'
import { destinationOf, type Outbound } from '#outbound/outbound.ts'
import { answerOf, TooLarge, textOf } from '#outbound/request.ts'
import type { Foundation } from './foundation.ts'

type Base = Pick<
  Foundation,
  'config' | 'store' | 'ids' | 'clock' | 'timers' | 'machineTimers' | 'outbound' | 'log' | 'pdfs'
>

export interface InstallationOutbox extends Outbox {
  readonly callOut: CallOut
  /** The address that mail of a company comes from; empty: there is none. */
  mailSender(companyAddress: string): string
}

export function openInstallationOutbox(
  base: Base,
  {
    directory,
    administers,
  }: {
    readonly directory: Pick<DirectoryCache, 'groupsOf' | 'isActive'>
    readonly administers: (principal: Principal) => Promise<boolean>
  },
): InstallationOutbox {
  const { config, store, clock, timers, log, ids } = base
  const { sql } = store
  const callOut = openCallOut(base.outbound, base.machineTimers)
  const newId = (): string => ids.uuid()
  const channels: Record<string, Channel> = {
    Mail: mailChannel(openMailer(base), base.pdfs),
    Notification: webhookChannel({
      sql,
      clock,
      newId,
      callOut,
      groupsOf: (id) => directory.groupsOf(id),
      isActive: (principal) => directory.isActive(principal),
      administers,
    }),
  }
  const { server, from } = config.mail
  return {
    ...openOutbox({ sql, clock, timers, log, channels }),
    callOut,
    mailSender(companyAddress) {
      // A file needs no address that anybody could answer.
      return (from ?? companyAddress) || (server === undefined ? 'nobody@localhost' : '')
    },
  }
}

const callMilliseconds = 15_000
const answerBytesMax = 16 * 1024

/** The way to who subscribed: https, or http on this machine, as the policy of what goes out allows. */
export function openCallOut(outbound: Outbound, timers: Timers): CallOut {
  return async (address, body, owner) => {
    const url = new URL(address)
    if (url.protocol !== 'https:' && !isLoopback(url.hostname)) {
      return { reason: 'https was expected' }
    }
    const ended = new AbortController()
    const timer = timers.after(callMilliseconds, () => ended.abort())
    try {
      const headers = { 'content-type': body === '' ? 'text/plain' : 'application/json' }
      const request = { url, headers, body, signal: ended.signal, owner }
      const answer = await answerOf(outbound, request)
      return { status: answer.statusCode ?? 0, text: await textOf(answer, answerBytesMax) }
    } catch (error) {
      if (error instanceof TooLarge) return { reason: 'its answer is too long' }
      return { reason: outbound.failed(destinationOf(url), error).message }
    } finally {
      timer.cancel()
    }
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
