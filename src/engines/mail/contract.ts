/** The contract of `engine.ts` as tests for every engine. */

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { composeMail, type Mail } from './compose.ts'
import type { Envelope, MailEngine } from './engine.ts'

interface Backend extends AsyncDisposable {
  readonly engine: MailEngine
  /** The received messages, the oldest first. */
  received(): Promise<readonly string[]>
}

export const sampleMail: Mail = {
  id: '5d115c9c-44e3-ea11-bb43-000d3a2feca1',
  at: Date.UTC(2026, 10, 25, 7, 56),
  from: { name: 'Möbel & Söhne, "Cronus"', address: 'books@cronus.example' },
  to: [{ name: 'Adatum', address: 'a@adatum.example' }],
  replyTo: { name: '', address: 'sales@cronus.example' },
  language: 'de',
  subject: 'Rechnung 103001 über 57,65 €',
  text: 'Guten Tag,\n\n.eine Zeile, die mit einem Punkt beginnt\n',
  files: [{ name: 'Rechnung 103001.pdf', type: 'application/pdf', content: everyByte() }],
}

function everyByte(): Uint8Array {
  return Uint8Array.from({ length: 4096 }, (_, at) => at % 256)
}

export function envelopeOf(mail: Mail): Envelope {
  const to = mail.to.map(({ address }) => address)
  return { id: mail.id, from: mail.from.address, to, at: mail.at }
}

export function mailEngineContract(name: string, open: () => Promise<Backend>): void {
  describe(name, () => {
    test('a message arrives as it was given', async () => {
      await using backend = await open()
      const message = await composeMail(sampleMail)
      const { refused } = await backend.engine.send(envelopeOf(sampleMail), message)
      assert.deepEqual(refused, [])
      assert.deepEqual((await backend.received()).map(withoutTrace), [message])
    })

    test('a message is handed over again as itself, and others beside it', async () => {
      await using backend = await open()
      const message = await composeMail(sampleMail)
      const other = { ...sampleMail, id: 'another', at: sampleMail.at + 1000 }
      await backend.engine.send(envelopeOf(sampleMail), message)
      await backend.engine.send(envelopeOf(sampleMail), message)
      await backend.engine.send(envelopeOf(other), await composeMail(other))
      const ids = (await backend.received()).map((one) => /^Message-ID: <(.+)@/m.exec(one)?.[1])
      assert.deepEqual([...new Set(ids)], [sampleMail.id, 'another'])
    })

    test('one of 3 MB arrives', async () => {
      await using backend = await open()
      const file = { name: 'a.bin', type: 'application/octet-stream' }
      const large = { ...sampleMail, files: [{ ...file, content: new Uint8Array(3_000_000) }] }
      const message = await composeMail(large)
      await backend.engine.send(envelopeOf(large), message)
      const [received = ''] = await backend.received()
      // A failed test must not print megabytes.
      assert.ok(withoutTrace(received) === message, `${received.length} characters arrived`)
    })
  })
}

/** The message without the headers that a server adds, and with its original line ends. */
function withoutTrace(message: string): string {
  return message.replace(/^(?:Received|Return-Path|X-Envelope-\w+):.*\r?\n(?:[ \t].*\r?\n)*/gm, '')
}
