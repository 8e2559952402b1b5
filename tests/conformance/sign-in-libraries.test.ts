/**
 * The family's published sign-in libraries, unmodified, against a started installation. They insist on TLS, so
 * a terminator stands in front of it, with a certificate made here.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createServer } from 'node:https'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'

const modules = join(import.meta.dirname, 'node_modules')
const program = join(import.meta.dirname, 'programs/sign-in.mjs')
const howToGet = 'the sign-in libraries are not installed: run `npm --prefix tests/conformance ci`'

/** https in front of `target()`; answers its own address, and the file of the certificate to trust. */
async function terminateTls(t: TestContext, target: () => URL) {
  const { generate } = createRequire(join(modules, 'index.js'))('selfsigned')
  const extensions = [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] }]
  const pems = await generate([{ name: 'commonName', value: 'localhost' }], { extensions })
  const folder = await mkdtemp(join(tmpdir(), 'armature-tls-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const certificate = join(folder, 'certificate.pem')
  await writeFile(certificate, pems.cert)
  const server = createServer({ key: pems.private, cert: pems.cert }, (incoming, answer) => {
    const { hostname, port } = target()
    const { method, url: path, headers } = incoming
    const onward = request({ hostname, port, method, path, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.rawHeaders)
      response.pipe(answer)
    })
    onward.on('error', () => answer.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  // A server that listens on a port has an address of this kind.
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, certificate }
}

test('the family’s sign-in libraries sign in', async (t) => {
  const installed = ['@azure/identity', '@azure/msal-node', 'selfsigned'].every((name) =>
    existsSync(join(modules, name)),
  )
  if (!requireOrSkip(t, installed, howToGet)) return
  let installation: Installation | undefined
  const tls = await terminateTls(t, () => new URL(installation?.url ?? 'http://localhost:9'))
  installation = await startInstallation({ environment: { ARMATURE_PUBLIC_URL: tls.url } })
  const started = installation
  t.after(() => started[Symbol.asyncDispose]())
  // The id that the family's credentials use when they are given none.
  const published = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'
  const words = ['application', 'create', '--public', '--name', 'Published command line']
  const registered = await started.cli([...words, '--client-id', published])
  assert.equal(registered.code, 0, registered.error)
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
    env: {
      ...process.env,
      NODE_EXTRA_CA_CERTS: tls.certificate,
      GIVEN: JSON.stringify({
        url: tls.url,
        plainUrl: started.url,
        tenantId: started.tenantId,
        ...started.owner,
        localSecret: readFileSync(join(started.home, 'local-token.secret'), 'utf8').trim(),
      }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.equal(code, 0, output)
  const lines = output.trim().split('\n')
  assert.ok(lines.length >= 8, output)
  for (const line of lines) {
    // Printed by our own program.
    const { name, error } = JSON.parse(line) as { name: string; error?: string }
    await t.test(name, () => assert.equal(error, undefined, error))
  }
})
