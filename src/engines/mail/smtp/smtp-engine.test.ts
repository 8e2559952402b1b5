import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import * as tls from 'node:tls'
import { SMTPServer } from 'smtp-server'
import { closedPort, openWay, watchedWay } from '#outbound/testing/ways.ts'
import { realTimers } from '#plane/testing/start.ts'
import { createAuthority, issueCertificate } from '../../../tls/certificate.ts'
import { composeMail } from '../compose.ts'
import { envelopeOf, mailEngineContract, sampleMail } from '../contract.ts'
import { MailNotSent } from '../engine.ts'
import { smtpEngine } from './smtp-engine.ts'

type Options = ConstructorParameters<typeof SMTPServer>[0]

interface Received {
  readonly from: string
  readonly to: readonly string[]
  readonly isSecure: boolean
  readonly user: unknown
  readonly message: string
}

async function openServer(options: Options = {}) {
  const received: Received[] = []
  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          isSecure: session.secure,
          user: session.user,
          message: Buffer.concat(chunks).toString('latin1'),
        })
        done()
      })
    },
    ...options,
  })
  // A client that hangs up is no fault of the test's server.
  server.on('error', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // A server that listens on a port has an address of this shape.
  const { port } = server.server.address() as AddressInfo
  return {
    port,
    received,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

const plain = { host: '127.0.0.1', isSecure: false, user: undefined, password: undefined }
const deps = { outbound: openWay, timers: realTimers, name: 'armature.test' }

mailEngineContract('mail by SMTP', async () => {
  const server = await openServer()
  return {
    engine: smtpEngine({ ...plain, port: server.port }, deps),
    received: async () => server.received.map(({ message }) => message),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
})

const message = await composeMail(sampleMail)
const two = { ...envelopeOf(sampleMail), to: ['a@adatum.example', 'nobody@adatum.example'] }

async function refusalOf(sending: Promise<unknown>): Promise<MailNotSent> {
  const error = await sending.then(
    () => new Error('it was sent'),
    (reason: unknown) => reason,
  )
  assert.ok(error instanceof MailNotSent, String(error))
  return error
}

function refusing(status: number, text: string): Options {
  return {
    onRcptTo({ address }, _, done) {
      if (!address.startsWith('nobody')) return done()
      return done(Object.assign(new Error(text), { responseCode: status }))
    },
  }
}

test('the envelope is that of the mail, and nobody else gets it', async () => {
  await using server = await openServer()
  await smtpEngine({ ...plain, port: server.port }, deps).send(two, message)
  const [{ from, to, isSecure }] = server.received as [Received]
  assert.deepEqual([from, to, isSecure], ['books@cronus.example', two.to, false])
})

test('an address that is refused beside others is named; refused alone it ends the mail', async () => {
  await using server = await openServer(refusing(550, '5.1.1 no such user'))
  const engine = smtpEngine({ ...plain, port: server.port }, deps)
  assert.deepEqual(await engine.send(two, message), { refused: ['nobody@adatum.example'] })
  const alone = { ...two, to: ['nobody@adatum.example'] }
  const { message: reason, isFinal } = await refusalOf(engine.send(alone, message))
  assert.match(reason, /^the mail server refused it: 550 5\.1\.1 no such user/)
  assert.equal(isFinal, true)
})

test('what the server defers is not final', async () => {
  await using server = await openServer(refusing(451, '4.7.1 greylisted'))
  const alone = { ...two, to: ['nobody@adatum.example'] }
  const { message: reason, isFinal } = await refusalOf(
    smtpEngine({ ...plain, port: server.port }, deps).send(alone, message),
  )
  assert.match(reason, /451/)
  assert.equal(isFinal, false)
})

test('a message the server says is too large is never sent', async () => {
  await using server = await openServer({ size: 1000 })
  const { message: reason, isFinal } = await refusalOf(
    smtpEngine({ ...plain, port: server.port }, deps).send(two, message),
  )
  assert.deepEqual([reason, isFinal], ['it is larger than the mail server takes', true])
  assert.equal(server.received.length, 0)
})

test('a server that is away, or hangs up at any moment, is asked again later', async () => {
  const away = smtpEngine({ ...plain, port: await closedPort() }, deps)
  assert.equal((await refusalOf(away.send(two, message))).isFinal, false)
  for (const lines of [0, 1, 2, 3, 4]) {
    await using server = await hangingUp(lines)
    const engine = smtpEngine({ ...plain, port: server.port }, deps)
    const { isFinal, message: reason } = await refusalOf(engine.send(two, message))
    assert.deepEqual([isFinal, /127\.0\.0\.1/.test(reason)], [false, false], `after ${lines}`)
  }
})

/** Answers this many commands, and then hangs up. */
async function hangingUp(lines: number) {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => undefined))
    let left = lines
    if (left-- === 0) return void socket.destroy()
    socket.write('220 test ESMTP\r\n')
    socket.on('data', () => (left-- > 0 ? socket.write('250 yes\r\n') : socket.destroy()))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('the policy of what goes out holds: what the operator denies is not reached', async () => {
  await using server = await openServer()
  const names = { 'mail.example': [['127.0.0.1']] }
  const engineOn = (deny: readonly string[]) => {
    const way = watchedWay({ deny }, names)
    const at = { ...plain, host: 'mail.example', port: server.port }
    return { way, engine: smtpEngine(at, { ...deps, outbound: way.outbound }) }
  }
  const denied = engineOn(['127.0.0.0/8'])
  assert.equal((await refusalOf(denied.engine.send(two, message))).isFinal, false)
  assert.match(denied.way.told.join(), /127\.0\.0\.0\/8/)
  assert.equal(server.received.length, 0)
  // The operator named it, which allows an internal address.
  const named = engineOn([])
  await named.engine.send(two, message)
  assert.deepEqual([named.way.asked, server.received.length], [['mail.example'], 1])
})

/** A server elsewhere, as far as the engine knows, with its own certificate. */
async function openElsewhere(t: TestContext, options: Options, isTrusted = true) {
  const request = { names: ['mail.example'], now: Date.now(), days: 1 }
  const authority = createAuthority('a test’s authority', request)
  const { certificate, key } = issueCertificate(authority, createPrivateKey(authority.key), request)
  const server = await openServer({ cert: certificate, key, ...options })
  t.after(() => server[Symbol.asyncDispose]())
  if (isTrusted) {
    const before = tls.getCACertificates('default')
    tls.setDefaultCACertificates([...before, authority.certificate])
    t.after(() => tls.setDefaultCACertificates(before))
  }
  const { outbound } = watchedWay({}, { 'mail.example': [['127.0.0.1']] })
  const at = { ...plain, host: 'mail.example', port: server.port }
  return { server, at, deps: { ...deps, outbound } }
}

const signingIn: Options = {
  disabledCommands: [],
  authOptional: false,
  onAuth({ username, password }, _, done) {
    if (password === 'right') return done(null, { user: username })
    return done(new Error('Invalid username or password'))
  },
}

for (const isSecure of [false, true]) {
  const way = isSecure ? 'TLS from the first byte' : 'STARTTLS'
  test(`a password goes over ${way}`, async (t) => {
    const found = await openElsewhere(t, { ...signingIn, secure: isSecure })
    const { server, at } = found
    const signed = { ...at, isSecure, user: 'books', password: 'right' }
    await smtpEngine(signed, found.deps).send(two, message)
    assert.deepEqual([server.received[0]?.isSecure, server.received[0]?.user], [true, 'books'])
    const wrong = smtpEngine({ ...signed, password: 'wrong' }, found.deps)
    const refusal = await refusalOf(wrong.send(two, message))
    assert.match(refusal.message, /does not take the password/)
    assert.equal(refusal.isFinal, false)
  })

  test(`a certificate that nobody trusts is not talked to (${way})`, async (t) => {
    const found = await openElsewhere(t, { ...signingIn, secure: isSecure }, false)
    const signed = { ...found.at, isSecure, user: 'books', password: 'right' }
    const refusal = await refusalOf(smtpEngine(signed, found.deps).send(two, message))
    assert.equal(refusal.isFinal, false)
    assert.equal(found.server.received.length, 0)
  })
}

test('without TLS no password is sent to a server elsewhere', async (t) => {
  const users: string[] = []
  const found = await openElsewhere(t, {
    ...signingIn,
    disabledCommands: ['STARTTLS'],
    allowInsecureAuth: true,
    onAuth({ username = '' }, _, done) {
      users.push(username)
      return done(null, { user: username })
    },
  })
  const signed = { ...found.at, user: 'books', password: 'right' }
  const refusal = await refusalOf(smtpEngine(signed, found.deps).send(two, message))
  assert.match(refusal.message, /TLS/)
  assert.deepEqual(users, [])
})
