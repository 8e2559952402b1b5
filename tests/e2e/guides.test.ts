/**
 * The guides, pasted as they stand: the `sh` blocks of each go into one shell, one after the other, against a server of
 * their own. Every line of a `sh refused` block has to end with another code than 0; a `sh az` block is for the published
 * command line. Blocks without a word are to be read, not to be pasted.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join } from 'node:path'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  findPostgres,
  howToGetPostgres,
  startPostgres,
} from '../../src/stores/testing/postgres-server.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { startBalanced } from './balanced.ts'
import { type Installation, startInstallation } from './installation.ts'

const hasPostgres = findPostgres() !== undefined
const root = fileURLToPath(new URL('../..', import.meta.url))

interface Block {
  readonly word: string | undefined
  readonly text: string
}

function blocksOf(guide: string): readonly Block[] {
  const text = readFileSync(join(root, 'docs', guide), 'utf8')
  return [...text.matchAll(/^```sh(?: (refused|az))?\n([\s\S]*?)^```$/gm)].map(
    ([, word, block = '']) => ({ word, text: block }),
  )
}

/** With every line of a refused block turned around. */
function scriptOf(blocks: readonly Block[]): string {
  const texts = blocks.map(({ word, text }) => {
    if (word !== 'refused') return text
    const lines = text.replaceAll('\\\n', ' ').split('\n')
    const commands = lines.filter((line) => line !== '' && !line.startsWith('#'))
    return commands
      .map((line) => `if ${line}\nthen echo "not refused: $LINENO" >&2; exit 9; fi\n`)
      .join('')
  })
  return ['set -euo pipefail', ...texts].join('\n')
}

interface Pasted {
  /** What the output has to show. */
  readonly tells: readonly RegExp[]
  /** Of the surroundings that the reader is told to have. */
  readonly environment?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  /** Folders that the reader is told to have, by their names there. */
  readonly folders?: Readonly<Record<string, string>>
}

type Start = (environment: Readonly<Record<string, string>>) => Promise<Installation>

const alone: Start = (environment) => startInstallation({ environment })

async function paste(
  start: Start,
  blocks: readonly Block[],
  { tells, environment, files = {}, folders = {} }: Pasted,
): Promise<void> {
  await using installation = await start({ ARMATURE_CONTAINERS: 'simulated' })
  const { home } = installation
  const bin = join(home, 'bin')
  mkdirSync(bin)
  // `npx` of this checkout, from whatever folder.
  const launcher = join(root, 'bin/armature.mjs')
  writeFileSync(
    join(bin, 'npx'),
    `#!/bin/sh\nshift\nexec '${process.execPath}' '${launcher}' "$@"\n`,
  )
  chmodSync(join(bin, 'npx'), 0o755)
  symlinkSync(process.execPath, join(bin, 'node'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), text)
  for (const [name, folder] of Object.entries(folders)) symlinkSync(folder, join(home, name))
  const { code, out, error } = await new Promise<{ code: unknown; out: string; error: string }>(
    (done) => {
      const env = {
        ...process.env,
        PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
        ARMATURE_HOME: home,
        ...environment,
      }
      const ended = (problem: { code?: unknown } | null, out: string, error: string): void =>
        done({ code: problem?.code ?? 0, out, error })
      execFile('bash', ['-c', scriptOf(blocks)], { env, cwd: home, timeout: 250_000 }, ended)
    },
  )
  assert.equal(code, 0, `${out}\n${error}`)
  for (const one of tells) assert.match(out, one)
}

function isThere(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)))
}

/** What is tested where its servers are: `demo-migrations.e2e.test.ts`; what starts servers itself; what is only read. */
const elsewhere = [
  'deploy.md',
  'migrations.md',
  'postgres-replicas.md',
  'hardening.md',
  'testing.md',
  'console.md',
]

const guides: Readonly<Record<string, Pasted>> = {
  'start.md': { tells: [/team-a/] },
  'guides/audit.md': { tells: [/resourceGroups\/write/, /users\/write/] },
  'guides/billing.md': { tells: [/^G000000001/m, /Support/, /Refund/] },
  'guides/business.md': {
    tells: [/"remainingAmount":0,"status":"Paid"/, /together [\d.]+ [\d.]+/],
  },
  'guides/consent.md': { tells: [/accessToken/] },
  'guides/containers.md': {
    tells: [/Running/, /armature:\/\/shop\/secrets\/db-password/],
    files: { password: 'correct horse' },
  },
  'guides/delegate-role-assignment.md': { tells: [/Conditional/] },
  'guides/management-groups.md': { tells: [/sandbox/, /landing/] },
  'guides/operate.md': {
    tells: [/^armature_check_ok\{check="store"\} 1$/m, /^armature_work_late_seconds 0$/m],
  },
  'guides/service-health.md': { tells: [/DRILL-1/, /DRILL-2/, /Why, and which/] },
  'guides/sign-in.md': { tells: [/access_token/] },
  'guides/stacks.md': { tells: [/denyWriteAndDelete/, /1 to delete/] },
  'guides/templates.md': { tells: [/One pet, by its number/] },
}

/** Their containers are simulated, and live in the process that made them. */
const inOneProcess = ['guides/billing.md', 'guides/containers.md']

/** What replicas hold beside the store (rights, sessions, events): the others are pasted there by the long suite. */
const ofReplicas = ['guides/consent.md']

const starts: Readonly<Record<string, Start>> = {
  'on SQLite': alone,
  'on two replicas, each asked in turn': startBalanced,
}

for (const [where, start] of Object.entries(starts)) {
  describe(`pasted ${where}`, () => {
    for (const [guide, pasted] of Object.entries(guides)) {
      if (start === startBalanced && inOneProcess.includes(guide)) continue
      if (start === startBalanced && !isLong && !ofReplicas.includes(guide)) continue
      test(guide, { timeout: 300_000 }, async (t) => {
        if (start === startBalanced && !requireOrSkip(t, hasPostgres, howToGetPostgres)) return
        const blocks = blocksOf(guide)
        const needsCurl = blocks.some(({ text }) => /^curl /m.test(text))
        const hasCurl = !needsCurl || isThere('curl')
        if (!requireOrSkip(t, hasCurl, 'no curl: `apt-get install curl`')) return
        await paste(start, blocks, pasted)
      })
    }

    if (start === startBalanced && !isLong) return
    test('guides/sharing.md', { timeout: 300_000 }, async (t) => {
      if (!requireOrSkip(t, hasPostgres, howToGetPostgres)) return
      if (!requireOrSkip(t, isThere('psql'), 'no psql: `apt-get install postgresql-client`')) return
      await pasteSharing(start)
    })
  })
}

const tls = { ARMATURE_TLS: 'auto', ARMATURE_TLS_PORT: '0' }
const startWith =
  (settings: Readonly<Record<string, string>>): Start =>
  (environment) =>
    startInstallation({ environment: { ...environment, ...settings } })

// Its thirty starts of an interpreter are for the long suite: `tests/conformance/command-line.test.ts` runs it besides.
const published: typeof test | undefined = isLong ? test : undefined
published?.(
  'pasted with the published command line: guides/clients.md',
  {
    timeout: 300_000,
  },
  async (t) => {
    if (!requireOrSkip(t, isThere('az'), 'no az: `apt-get install azure-cli`')) return
    const blocks = blocksOf('guides/clients.md')
    const prepare = blocks.find(({ text }) => text.includes('armature env'))
    assert.ok(prepare !== undefined)
    await paste(
      startWith({ ...tls, ARMATURE_VENDOR_NAMESPACE: 'Microsoft', ARMATURE_VENDOR_BRAND: 'Azure' }),
      [prepare, ...blocks.filter(({ word }) => word === 'az')],
      {
        // It would tell its makers of every command.
        environment: { AZURE_CONFIG_DIR: 'az', AZURE_CORE_COLLECT_TELEMETRY: 'no' },
        tells: [
          /"type": "servicePrincipal"/,
          /\+ Microsoft\.ManagedIdentity\/userAssignedIdentities\/worker/,
          /"provisioningState": "Succeeded"/,
          /simulated: 'web' started/,
          /"displayName": "Owner"/,
          /"principalType": "User"/,
          /"assignedIdentityInfo": "MSI"/,
        ],
      },
    )
  },
)

test('pasted with https: guides/clients.md', { timeout: 300_000 }, async (t) => {
  const packages = join(root, 'tests/conformance/node_modules')
  const areThere = existsSync(join(packages, '@azure/identity')) && isThere('curl')
  const howToGet = 'run `npm --prefix tests/conformance ci`, and have curl'
  if (!requireOrSkip(t, areThere, howToGet)) return
  await paste(
    startWith(tls),
    blocksOf('guides/clients.md').filter(({ word }) => word !== 'az'),
    {
      tells: [
        /EnvironmentCredential 200/,
        /ManagedIdentityCredential 200/,
        /a token for \d+ seconds/,
        /principalId/,
        /"loginEndpoint":"https:\/\/localhost:\d+\/adfs"/,
      ],
      folders: { node_modules: packages },
    },
  )
})

async function pasteSharing(start: Start): Promise<void> {
  await using server = await startPostgres({ fsync: false })
  const [where, ...rest] = blocksOf('guides/sharing.md')
  assert.match(where?.text ?? '', /^export PGHOST/, 'the first block says where PostgreSQL is')
  const url = new URL(server.url('postgres'))
  await paste(start, rest, {
    environment: {
      PGHOST: url.hostname,
      PGPORT: url.port,
      PGUSER: decodeURIComponent(url.username),
      PGPASSWORD: decodeURIComponent(url.password) || 'none',
    },
    tells: [
      ...['one', '1000', 'changed', 'shop\\.duckdb'].map((line) => new RegExp(`^${line}$`, 'm')),
      // The increment: one file and one row.
      /files +BlobFolder +Succeeded +1\b/,
    ],
  })
}

test('no guide is left out', () => {
  const there = readdirSync(join(root, 'docs/guides')).filter((name) => !elsewhere.includes(name))
  const tested = Object.keys(guides).filter((name) => name.startsWith('guides/'))
  assert.deepEqual(
    there.map((name) => `guides/${name}`).sort(),
    [...tested, 'guides/sharing.md', 'guides/clients.md'].sort(),
  )
})
