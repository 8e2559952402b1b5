/**
 * An installation for published clients (https with its own certificate, and the vendor words they were built for),
 * programs that use them, and the witnesses: which client performed which operation, in which test. The witnesses
 * of a file are compared with `witnesses.json`, from which the compatibility page is generated.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Installation, startInstallation } from '../e2e/installation.ts'
import { requireOrSkip } from '../require.ts'

const modules = join(import.meta.dirname, 'node_modules')
const witnessesPath = join(import.meta.dirname, 'witnesses.json')

export interface Published extends Installation {
  readonly httpsUrl: string
  readonly authorityFile: string
}

export async function startForClients(
  t: TestContext,
  environment: Readonly<Record<string, string>> = {},
): Promise<Published> {
  const installation = await startInstallation({
    environment: {
      ARMATURE_TLS: 'auto',
      ARMATURE_TLS_PORT: '0',
      ARMATURE_CONTAINERS: 'simulated',
      ARMATURE_VENDOR_NAMESPACE: 'Microsoft',
      ARMATURE_VENDOR_BRAND: 'Azure',
      ...environment,
    },
  })
  t.after(() => installation[Symbol.asyncDispose]())
  // The server's own file.
  const { httpsUrl, authorityFile } = JSON.parse(
    readFileSync(join(installation.home, 'running.json'), 'utf8'),
  ) as Pick<Published, 'httpsUrl' | 'authorityFile'>
  return { ...installation, httpsUrl, authorityFile }
}

/** True if these packages of the folder are installed. */
function requirePackages(t: TestContext, packages: readonly string[]): boolean {
  const missing = packages.filter((name) => !existsSync(join(modules, name)))
  const how = `${missing.join(', ')} missing: run \`npm --prefix tests/conformance ci\``
  return requireOrSkip(t, missing.length === 0, how)
}

export function versionOf(name: string): string {
  const text = readFileSync(join(modules, name, 'package.json'), 'utf8')
  // Every package has a version.
  return (JSON.parse(text) as { version: string }).version
}

interface Witness {
  /** A row of the page. */
  readonly operation: string
  readonly client: string
  readonly version: string
  readonly test: string
}

type Witnesses = Readonly<Record<string, readonly Witness[]>>

interface Seen {
  add(witness: Witness): void
  /** The last test of a file: what was seen equals what the page says. */
  compare(): void
}

/** `file` is `import.meta.filename` of the test. */
export function collectWitnesses(file: string): Seen {
  const seen: Witness[] = []
  const name = basename(file)
  return {
    add: (witness) => seen.push(witness),
    compare() {
      const all = JSON.parse(readFileSync(witnessesPath, 'utf8')) as Witnesses
      if (process.env['ARMATURE_TEST_WITNESSES'] === 'write') {
        const sorted = Object.entries({ ...all, [name]: seen }).toSorted(([a], [b]) =>
          a < b ? -1 : 1,
        )
        const text = JSON.stringify(Object.fromEntries(sorted), undefined, 2)
        writeFileSync(witnessesPath, `${text}\n`)
        return
      }
      // The machine may have another version installed.
      const keys = (of: readonly Witness[]) =>
        of.map(({ operation, client, test }) => `${operation} | ${client} | ${test}`)
      const how = 'witnesses.json differs: run this file with ARMATURE_TEST_WITNESSES=write'
      assert.deepEqual(keys(seen), keys(all[name] ?? []), how)
    },
  }
}

interface Line {
  readonly operation: string
  readonly client: string
  readonly name: string
  /** For clients that are no package of this folder. */
  readonly version?: string
  readonly error?: string
}

/** Runs a program of `programs/` that prints a line for each case, and reports each as a test. */
async function runProgram(
  t: TestContext,
  { program, seen, environment }: { program: string; seen: Seen; environment: NodeJS.ProcessEnv },
): Promise<void> {
  const path = join(import.meta.dirname, 'programs', program)
  const [command, ...words] = program.endsWith('.py')
    ? ['/usr/bin/python3', path]
    : [process.execPath, '--disable-warning=ExperimentalWarning', path]
  const child = spawn(command, words, {
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
  assert.ok(lines.length >= 2, output)
  for (const line of lines) {
    // Printed by our own program.
    const { operation, client, name, error, version } = JSON.parse(line) as Line
    await t.test(name, () => {
      assert.equal(error, undefined, error)
      seen.add({ operation, client, version: version ?? versionOf(client), test: name })
    })
  }
}

/** The environment of every program, including the authority that it trusts. */
function environmentOf(installation: Published, more: object = {}): NodeJS.ProcessEnv {
  const { httpsUrl, url, tenantId, subscriptionId, owner, home } = installation
  const localSecret = readFileSync(join(home, 'local-token.secret'), 'utf8').trim()
  const given = { url: httpsUrl, plainUrl: url, tenantId, subscriptionId, ...owner, localSecret }
  return {
    NODE_EXTRA_CA_CERTS: installation.authorityFile,
    REQUESTS_CA_BUNDLE: installation.authorityFile,
    GIVEN: JSON.stringify({ ...given, ...more }),
  }
}

interface ClientTest {
  /** `import.meta.filename` of the test. */
  readonly file: string
  readonly programs: readonly string[]
  readonly packages: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Returns further variables for the programs. */
  prepare?(installation: Published): Promise<object>
}

/**
 * A whole test file: one installation, programs of published packages against it, and the comparison of their
 * witnesses.
 */
export async function runClientTest(
  t: TestContext,
  { file, programs, packages, environment, prepare }: ClientTest,
): Promise<void> {
  if (!requirePackages(t, packages)) return
  const installation = await startForClients(t, environment)
  const given = (await prepare?.(installation)) ?? {}
  const seen = collectWitnesses(file)
  for (const program of programs) {
    await runProgram(t, { program, seen, environment: environmentOf(installation, given) })
  }
  seen.compare()
}
