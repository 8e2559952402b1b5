/**
 * Https beside http, as an operator starts it: both are printed, both answer, and links lead where the caller came
 * from.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { connect as connectPlain } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import { type Installation, startInstallation } from './installation.ts'

const run = promisify(execFile)
const environment = { ARMATURE_TLS: 'auto', ARMATURE_TLS_PORT: '0' }

interface Status {
  readonly url: string
  readonly httpUrl: string
  readonly httpsUrl: string
  readonly authorityFile: string
}

async function start(t: TestContext, more: Readonly<Record<string, string>> = {}) {
  const installation = await startInstallation({ environment: { ...environment, ...more } })
  t.after(() => installation[Symbol.asyncDispose]())
  const { out } = await installation.cli(['status', '--json'])
  return { installation, status: JSON.parse(out) as Status }
}

interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly text: string
}

function ask(
  { installation, status }: { installation: Installation; status: Status },
  path: string,
  { host, agent }: { readonly host?: string; readonly agent?: Agent } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${installation.ownerToken}`,
      ...(host === undefined ? {} : { host }),
    }
    const ca = readFileSync(status.authorityFile)
    const sent = request(
      status.httpsUrl + path,
      { headers, ca, servername: 'localhost', ...(agent === undefined ? {} : { agent }) },
      (response) => {
        let text = ''
        response.on('data', (chunk: Buffer) => {
          text += chunk
        })
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      },
    )
    sent.on('error', reject)
    sent.end()
  })
}

test('https and http side by side, by a certificate that is made at the first start', async (t) => {
  const started = await start(t)
  const { installation, status } = started
  assert.match(status.httpsUrl, /^https:\/\/localhost:\d+$/)
  assert.equal(status.url, status.httpsUrl)
  assert.equal(status.httpUrl, installation.url)
  const path = '/subscriptions?api-version=2022-12-01'
  assert.equal((await ask(started, path)).status, 200)
  assert.equal((await installation.request('GET', path)).status, 200)
  const modeOf = (name: string) => statSync(join(installation.home, 'tls', name)).mode & 0o077
  assert.equal(modeOf('ca.key'), 0)
  assert.equal(modeOf('certificate.key'), 0)

  // The command line trusts the authority of its home by itself.
  const byName = await installation.cli(['subscription', 'list', '--url', status.httpsUrl])
  assert.equal(byName.code, 0, byName.error)
  const trust = await installation.cli(['trust'])
  assert.match(trust.out, /SHA-256 ([0-9A-F]{2}:){31}/)
  assert.match(trust.out, /update-ca-certificates/)

  // A shell with the output of `env` reaches it by a client that knows nothing of us.
  const words = await installation.cli(['env', '--credentials'])
  const script = `${words.out}\ncurl -sf "$AZURE_AUTHORITY_HOST/$AZURE_TENANT_ID/oauth2/v2.0/token" -d grant_type=client_credentials -d client_id=$AZURE_CLIENT_ID -d client_secret=$AZURE_CLIENT_SECRET -d scope=$ARMATURE_URL/.default`
  const { stdout } = await run('sh', ['-c', script])
  assert.match(stdout, /"access_token"/)

  // The printed line works as pasted, except for the program that it names.
  const offered = /curl (--cacert '[^']+') -H .* "(https:[^"]+)"/.exec(installation.output())
  assert.ok(offered !== null, installation.output())
  const answer = `curl -sf ${offered[1]} -H 'Authorization: Bearer ${installation.ownerToken}' '${offered[2]}'`
  assert.match((await run('sh', ['-c', answer])).stdout, /"value"/)

  assert.doesNotMatch(installation.log(), /PRIVATE KEY/)
})

test('links lead where the caller came from, and a made-up host comes back to its writer alone', async (t) => {
  const started = await start(t)
  const { installation, status } = started
  for (const name of ['a', 'b', 'c']) {
    const path = `/subscriptions/${installation.subscriptionId}/resourcegroups/${name}?api-version=2021-04-01`
    await installation.request('PUT', path, { body: { location: 'local' } })
  }
  const path = `/subscriptions/${installation.subscriptionId}/resourcegroups?api-version=2021-04-01&$top=1`
  const linkOf = async (host?: string) => {
    const { text } = await ask(started, path, host === undefined ? {} : { host })
    return new URL((JSON.parse(text) as { nextLink: string }).nextLink).origin
  }
  assert.equal(await linkOf(), status.httpsUrl)
  assert.equal(await linkOf('evil.example'), 'https://evil.example')
  assert.equal(await linkOf(), status.httpsUrl)
  assert.equal(await linkOf('a b'), status.httpsUrl)
  const plain = await installation.request('GET', path)
  assert.equal(new URL(String(plain.at('nextLink'))).origin, installation.url)
  // The header of an untrusted proxy.
  const forged = await installation.request('GET', path, {
    headers: { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
  })
  assert.equal(new URL(String(forged.at('nextLink'))).origin, installation.url)
  const business = await ask(started, '/api/v2.0', { host: 'box.example' })
  assert.match(business.text, /https:\/\/box\.example\/api\/v2\.0\/\$metadata/)
  assert.doesNotMatch((await ask(started, '/api/v2.0')).text, /box\.example/)
})

test('who listens everywhere names itself by an address that others reach', async (t) => {
  const { status } = await start(t, { ARMATURE_HOST: '0.0.0.0', ARMATURE_TLS_NAMES: 'box.example' })
  assert.match(status.url, /^https:\/\/box\.example:\d+$/)
  assert.doesNotMatch(JSON.stringify(status), /127\.0\.0\.1|0\.0\.0\.0|localhost/)
})

test('bytes that are no handshake are dropped, and a stop ends connections of https in order', async (t) => {
  const started = await start(t)
  const { installation, status } = started
  const { port } = new URL(status.httpsUrl)
  const dropped = connectPlain({ port: Number(port), host: '127.0.0.1' })
  dropped.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await new Promise((resolve) => dropped.once('close', resolve).on('error', () => {}))
  const halfway = connectPlain({ port: Number(port), host: '127.0.0.1' })
  halfway.on('error', () => {})
  const old = connect({
    port: Number(port),
    host: '127.0.0.1',
    maxVersion: 'TLSv1.1',
    rejectUnauthorized: false,
  })
  await new Promise((resolve) => old.once('close', resolve).on('error', () => {}))
  const agent = new Agent({ keepAlive: true, ca: readFileSync(status.authorityFile) })
  t.after(() => agent.destroy())
  assert.equal((await ask(started, '/healthz', { agent })).status, 200)
  assert.equal(await installation.stop(), 0)
  halfway.destroy()
})

test('files that cannot be used stop the start', async () => {
  await assert.rejects(
    startInstallation({ environment: { ARMATURE_TLS: 'files' } }),
    /ARMATURE_TLS.*needs ARMATURE_TLS_CERTIFICATE and ARMATURE_TLS_KEY/s,
  )
})
