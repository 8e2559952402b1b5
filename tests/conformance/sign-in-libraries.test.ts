/**
 * Published sign-in libraries, unmodified, against a started installation: those of the family, and the standard's. They
 * insist on TLS, which the installation has by a certificate of its own.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'

const modules = join(import.meta.dirname, 'node_modules')
const howToGet = 'the sign-in libraries are not installed: run `npm --prefix tests/conformance ci`'

interface Running {
  readonly httpsUrl: string
  readonly authorityFile: string
}

/** Runs a program of ours that prints a line for each case, and tells each as a test. */
async function runCases(t: TestContext, program: string, environment: NodeJS.ProcessEnv) {
  const path = join(import.meta.dirname, 'programs', program)
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', path], {
    env: { ...process.env, ...environment },
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
  assert.ok(lines.length >= 4, output)
  for (const line of lines) {
    // Printed by our own program.
    const { name, error } = JSON.parse(line) as { name: string; error?: string }
    await t.test(name, () => assert.equal(error, undefined, error))
  }
}

test('published sign-in libraries sign in', async (t) => {
  const libraries = ['@azure/identity', '@azure/msal-node', 'openid-client', 'oauth4webapi']
  const installed = libraries.every((name) => existsSync(join(modules, name)))
  if (!requireOrSkip(t, installed, howToGet)) return
  const started = await startInstallation({
    environment: { ARMATURE_TLS: 'auto', ARMATURE_TLS_PORT: '0' },
  })
  t.after(() => started[Symbol.asyncDispose]())
  // The server's own note.
  const { httpsUrl: url, authorityFile } = JSON.parse(
    readFileSync(join(started.home, 'running.json'), 'utf8'),
  ) as Running
  // The id that the family's credentials use when they are given none.
  const published = '04b07795-8ddb-461a-bbee-02f9e1bf7b46'
  const words = ['application', 'create', '--public', '--name', 'Published command line']
  const registered = await started.cli([...words, '--client-id', published])
  assert.equal(registered.code, 0, registered.error)
  const environment = {
    NODE_EXTRA_CA_CERTS: authorityFile,
    GIVEN: JSON.stringify({
      url,
      plainUrl: started.url,
      tenantId: started.tenantId,
      ...started.owner,
      localSecret: readFileSync(join(started.home, 'local-token.secret'), 'utf8').trim(),
    }),
  }
  await runCases(t, 'sign-in.mjs', environment)
  await runCases(t, 'openid.mjs', environment)
})
