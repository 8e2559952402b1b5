/**
 * Sends mails through the operator's SMTP server, with one connection per message. A password goes to another
 * machine over TLS only. TLS is used wherever it is offered, and the certificate is verified.
 */

import type { Socket } from 'node:net'
import type SMTPConnection from 'nodemailer/lib/smtp-connection'
import type { Timers } from '#kernel/ports.ts'
import { isLoopback } from '#outbound/address.ts'
import { NotReached, type Outbound, socketOf } from '#outbound/outbound.ts'
import { tlsOutward } from '#outbound/tls.ts'
import { type Envelope, type HandedOver, type MailEngine, MailNotSent } from '../engine.ts'

interface SmtpServer {
  readonly host: string
  readonly port: number
  /** TLS from the first byte, otherwise STARTTLS. */
  readonly isSecure: boolean
  readonly user: string | undefined
  readonly password: string | undefined
}

interface SmtpDependencies {
  readonly outbound: Outbound
  /** The real clock, since the other side uses it. */
  readonly timers: Timers
  /** The name this server greets with. */
  readonly name: string
}

const connectMilliseconds = 20_000
const silentMilliseconds = 60_000
/** The time limit of one message. */
const sendMilliseconds = 10 * 60_000
const answerBytesMax = 64 * 1024
const reasonMax = 200

export function smtpEngine(
  server: SmtpServer,
  { timers, name, ...deps }: SmtpDependencies,
): MailEngine {
  const { host, port, isSecure } = server
  const scheme = isSecure ? 'smtps' : 'smtp'
  const destination = { scheme, host, port }
  const outbound = deps.outbound.allowing([new URL(`${scheme}://${host}:${port}`)])
  return {
    title: `${scheme}://${host}:${port}`,
    async send(envelope, message) {
      try {
        return await inTime(timers, async (started) => {
          const socket = started(await connected({ outbound, timers }, destination))
          return await handOver(server, name, { socket, envelope, message })
        })
      } catch (error) {
        throw notSent(error, (cause) => outbound.failed(destination, cause))
      }
    },
  }
}

/** Closes the connection when the time is over, and in any case at the end. */
async function inTime(
  timers: Timers,
  work: (started: (socket: Socket) => Socket) => Promise<HandedOver>,
): Promise<HandedOver> {
  let open: Socket | undefined
  const timer = timers.after(sendMilliseconds, () =>
    open?.destroy(new Error('it took too long over one message')),
  )
  try {
    return await work((socket) => {
      open = socket
      return socket
    })
  } finally {
    timer.cancel()
    open?.destroy()
  }
}

async function connected(
  { outbound, timers }: Pick<SmtpDependencies, 'outbound' | 'timers'>,
  destination: Parameters<Outbound['route']>[0],
): Promise<Socket> {
  const route = await outbound.route(destination)
  const socket = socketOf(route)
  const timer = timers.after(connectMilliseconds, () =>
    socket.destroy(new Error('connecting timed out')),
  )
  try {
    return await new Promise((resolve, reject) => {
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(socket)
      })
      socket.connect(route.port, route.host)
    })
  } finally {
    timer.cancel()
  }
}

interface Handing {
  readonly socket: Socket
  readonly envelope: Envelope
  readonly message: string
}

async function handOver(
  { host, isSecure, user, password }: SmtpServer,
  name: string,
  { socket, envelope, message }: Handing,
): Promise<HandedOver> {
  const { default: Connection } = await import('nodemailer/lib/smtp-connection')
  const connection = new Connection({
    host,
    name,
    connection: socket,
    secure: isSecure,
    // Traffic stays on this machine, and certificates rarely have the name `localhost`.
    ignoreTLS: isLoopback(host),
    requireTLS: password !== undefined && !isLoopback(host),
    greetingTimeout: silentMilliseconds,
    socketTimeout: silentMilliseconds,
    maxResponseSize: answerBytesMax,
    tls: { ...tlsOutward, minVersion: 'TLSv1.2' },
  })
  try {
    return await talk(connection, async () => {
      if (user !== undefined && password !== undefined) {
        await called((done) => connection.login({ credentials: { user, pass: password } }, done))
      }
      const { rejected = [] } = await called<{ readonly rejected?: readonly string[] }>((done) =>
        connection.send(
          { from: envelope.from, to: [...envelope.to], size: message.length },
          Buffer.from(message, 'latin1'),
          done,
        ),
      )
      connection.quit()
      return { refused: rejected }
    })
  } finally {
    connection.close()
  }
}

/** An error of the connection rejects every call that waits. */
async function talk<T>(connection: SMTPConnection, work: () => Promise<T>): Promise<T> {
  const broken = new Promise<never>((_, reject) => {
    connection.on('error', reject)
    connection.once('end', () => reject(new Error('the connection was closed')))
  })
  broken.catch(() => undefined)
  const connecting = new Promise<void>((resolve) => connection.connect(() => resolve()))
  return await Promise.race([connecting.then(work), broken])
}

function called<T>(call: (done: (error?: Error | null, value?: T) => void) => void): Promise<T> {
  return new Promise((resolve, reject) => {
    // A call without an error has its value.
    call((error, value) => (error ? reject(error) : resolve(value as T)))
  })
}

/**
 * A refusal of the message or its addresses is final (RFC 5321: 5xx). The operator can correct a refused password,
 * so the message waits.
 */
function notSent(error: unknown, failed: (cause: unknown) => NotReached): MailNotSent {
  if (error instanceof NotReached) return new MailNotSent(error.message, false, { cause: error })
  const { code, responseCode, response } = error as {
    readonly code?: string
    readonly responseCode?: number
    readonly response?: string
  }
  if (code === 'EAUTH') {
    const reason = 'the mail server does not take the password of this installation'
    return new MailNotSent(reason, false, { cause: failed(error) })
  }
  const isOfMessage = code === 'EENVELOPE' || code === 'EMESSAGE'
  if (isOfMessage && responseCode !== undefined) {
    const said = String(response)
      .replace(/[^\x20-\x7e]+/g, ' ')
      .slice(0, reasonMax)
    const reason = `the mail server refused it: ${said}`
    return new MailNotSent(reason, responseCode >= 500, { cause: error })
  }
  if (isOfMessage) {
    const reason =
      code === 'EENVELOPE' ? 'an address is none' : 'it is larger than the mail server takes'
    return new MailNotSent(reason, true, { cause: error })
  }
  if (code === 'ETLS') {
    const reason = 'the mail server offers no TLS, or with a certificate that is not trusted'
    return new MailNotSent(reason, false, { cause: failed(error) })
  }
  return new MailNotSent(failed(error).message, false, { cause: error })
}
