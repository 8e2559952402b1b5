import assert from 'node:assert/strict'
import { test } from 'node:test'
import { composeMail } from './compose.ts'
import { sampleMail } from './contract.ts'

const headOf = (message: string): string => message.slice(0, message.indexOf('\r\n\r\n'))
const headersOf = (message: string): string[] =>
  headOf(message)
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')

test('the same mail gives the same ASCII', async () => {
  const message = await composeMail(sampleMail)
  assert.equal(message, await composeMail(sampleMail))
  assert.match(message, /^[\x20-\x7e\r\n\t]+$/)
  const headers = headersOf(message)
  assert.ok(headers.includes('Message-ID: <5d115c9c-44e3-ea11-bb43-000d3a2feca1@cronus.example>'))
  assert.ok(headers.includes('Date: Wed, 25 Nov 2026 07:56:00 +0000'))
  assert.ok(headers.includes('Content-Language: de'))
  assert.ok(headers.includes('To: Adatum <a@adatum.example>'))
  assert.ok(headers.includes('Reply-To: sales@cronus.example'))
  assert.match(message, /filename="?Rechnung 103001\.pdf"?/)
})

test('no text of a document adds a header or an address, or fetches a file', async () => {
  const evil = 'x\r\nBcc: all@evil.example\r\n\r\nbody'
  const message = await composeMail({
    ...sampleMail,
    subject: evil,
    from: { name: evil, address: 'books@cronus.example' },
    to: [{ name: `${evil}" <c@evil.example>, "`, address: 'a@adatum.example' }],
    files: [{ name: evil, type: 'application/pdf', content: new Uint8Array(1) }],
  })
  assert.ok(headersOf(message).every((line) => !/^Bcc:/i.test(line)))
  const bodies = message.split('\r\n\r\n').slice(1)
  assert.ok(bodies.every((part) => !/^Bcc:/im.test(part)))
  const { default: parse } = await import('nodemailer/lib/addressparser')
  const to = headersOf(message).find((line) => line.startsWith('To: ')) ?? ''
  assert.deepEqual(
    parse(to.slice(4)).map((one) => ('address' in one ? one.address : one)),
    ['a@adatum.example'],
  )
})
