/** What is filled in of a person's, and where. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { localServer } from '#outbound/testing/ways.ts'
import { UsageError } from './command.ts'
import { command } from './commands/consent/give.ts'
import { walkConsent } from './consent.ts'

/** A page that looks like a sign-in, and what was sent from it. */
async function openSignIn() {
  const sent: string[] = []
  const server = await localServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    if (request.method === 'POST') {
      sent.push(body)
      response.writeHead(303, { location: '/back?consentCode=c1' }).end()
      return
    }
    const to = new URL(request.url ?? '', 'http://host').searchParams.get('to') ?? '/'
    const form = `<form method="post" action="${to}"><input type="password" name="password"></form>`
    response.writeHead(200, { 'content-type': 'text/html' }).end(form)
  })
  return {
    sent,
    url: `http://127.0.0.1:${server.port}`,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

test('a password is filled in where it is of, and nowhere else', async () => {
  await using own = await openSignIn()
  await using foreign = await openSignIn()
  const person = { signInName: 'ada', password: 'a secret', at: [`${own.url}/prefix/`] }
  assert.equal(await walkConsent(`${own.url}/login`, person), 'c1')
  assert.deepEqual(own.sent, ['name=ada&password=a+secret'])
  const refused = { code: 'ConsentElsewhere' }
  await assert.rejects(walkConsent(`${foreign.url}/login`, person), refused)
  const toForeign = `${own.url}/login?to=${encodeURIComponent(`${foreign.url}/take`)}`
  await assert.rejects(walkConsent(toForeign, person), refused)
  assert.deepEqual(foreign.sent, [])
})

test('where a person signs in is no option of the owner, who signs in at the installation of the home', async () => {
  const owner = { signInName: 'owner', password: 'a secret' }
  // It is refused before anything else is looked at.
  const context = { home: () => ({ owner: () => owner }) } as unknown as Parameters<
    typeof command.run
  >[0]
  const values = { authorization: 'me', 'sign-in-at': 'https://other.example' }
  await assert.rejects(command.run(context, values), UsageError)
})
