/**
 * Guides as scripts: the `sh` blocks of a guide go into one shell, one after the other. Every line of a `sh
 * refused` block must end with an exit code other than 0. A `sh az` block is for the published command line, a `sh
 * typed` block for published packages. Blocks without a language are only read.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { launcher } from '../launcher.ts'
import { isLong } from '../long.ts'
import { requireOrSkip } from '../require.ts'
import { type Installation, startInstallation } from './installation.ts'
import { keepCommandLine } from './resident-command-line.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

export interface Block {
  readonly word: string | undefined
  readonly text: string
}

export function blocksOf(guide: string): readonly Block[] {
  const text = readFileSync(join(root, 'docs', guide), 'utf8')
  return [...text.matchAll(/^```sh(?: (refused|az|typed))?\n([\s\S]*?)^```$/gm)].map(
    ([, word, block = '']) => ({ word, text: block }),
  )
}

/** Inverts every line of a refused block. */
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

export interface Pasted {
  /** What the output must contain. */
  readonly tells: readonly RegExp[]
  /** Variables of the environment that the reader is told to have. */
  readonly environment?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
  /** Folders that the reader is told to have, by their names in the guide. */
  readonly folders?: Readonly<Record<string, string>>
}

/** A reader's working folder, in which `npx` runs this checkout. */
interface Desk extends Disposable {
  readonly folder: string
  /** Where a shell looks for programs: first for that `npx`. */
  readonly path: string
  /** Pastes the blocks of one guide, with the installation of a home. */
  paste(home: string, blocks: readonly Block[], pasted: Pasted): Promise<void>
}

/** Each command is a program of its own. */
export function openDesk(): Desk {
  const place = placeOf()
  const program = `#!/bin/sh\nshift\nexec '${process.execPath}' '${launcher}' "$@"\n`
  writeFileSync(join(place, 'bin', 'npx'), program, { mode: 0o755 })
  return deskAt(place)
}

/** Commands run in this process. */
export async function openResidentDesk(): Promise<Desk> {
  const place = placeOf()
  const commands = join(place, 'commands')
  mkdirSync(commands)
  const line = await keepCommandLine(commands, join(place, 'bin', 'npx'))
  const desk = deskAt(place)
  return {
    ...desk,
    [Symbol.dispose]() {
      line[Symbol.dispose]()
      desk[Symbol.dispose]()
    },
  }
}

function placeOf(): string {
  const place = mkdtempSync(join(tmpdir(), 'armature-guides-'))
  for (const name of ['bin', 'desk']) mkdirSync(join(place, name))
  symlinkSync(process.execPath, join(place, 'bin', 'node'))
  return place
}

function deskAt(place: string): Desk {
  const folder = join(place, 'desk')
  const path = `${join(place, 'bin')}${delimiter}${process.env['PATH'] ?? ''}`
  return {
    folder,
    path,
    async paste(home, blocks, { tells, environment, files = {}, folders = {} }) {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
      for (const [name, path] of Object.entries(folders)) symlinkSync(path, join(folder, name))
      const env = {
        ...process.env,
        PATH: path,
        ARMATURE_HOME: home,
        ...environment,
      }
      const { code, out, error } = await ran(scriptOf(blocks), { env, cwd: folder })
      assert.equal(code, 0, `${out}\n${error}`)
      for (const one of tells) assert.match(out, one)
      for (const name of [...Object.keys(files), ...Object.keys(folders)]) {
        rmSync(join(folder, name))
      }
    },
    [Symbol.dispose]: () => rmSync(place, { recursive: true, force: true }),
  }
}

function ran(
  script: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
): Promise<{ readonly code: unknown; readonly out: string; readonly error: string }> {
  return new Promise((done) => {
    const ended = (problem: { code?: unknown } | null, out: string, error: string): void =>
      done({ code: problem?.code ?? 0, out, error })
    execFile('bash', ['-c', script], { ...options, timeout: 550_000 }, ended)
  })
}

export function isThere(program: string): boolean {
  return (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => existsSync(join(folder, program)))
}

/** Guides that need only a server, with the output of each. */
export const guides: Readonly<Record<string, Pasted>> = {
  'start.md': { tells: [/team-a/] },
  'guides/audit.md': { tells: [/resourceGroups\/write/, /users\/write/] },
  'guides/billing.md': { tells: [/^G000000001/m, /Support/, /Refund/] },
  'guides/business.md': {
    tells: [/"remainingAmount":0,"status":"Paid"/, /"status":"Sent"/, /together [\d.]+ [\d.]+/],
  },
  'guides/consent.md': { tells: [/accessToken/] },
  'guides/containers.md': {
    tells: [/Running/, /armature:\/\/shop\/secrets\/db-password/],
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

/** Those that the ordinary suite pastes. */
export const usualGuides: readonly string[] = [
  'start.md',
  'guides/containers.md',
  'guides/delegate-role-assignment.md',
]

export type Start = (environment: Readonly<Record<string, string>>) => Promise<Installation>

export const alone: Start = (environment) => startInstallation({ environment })

/** Commands run in this process, which costs half as much; those of the long suite, and by TLS, are programs. */
export const openUsual = isLong ? openDesk : openResidentDesk

export async function paste(
  start: Start,
  blocks: readonly Block[],
  pasted: Pasted,
  open: typeof openUsual = openDesk,
): Promise<void> {
  await using installation = await start({ ARMATURE_CONTAINERS: 'simulated' })
  using desk = await open()
  await desk.paste(installation.home, blocks, pasted)
}

/** Against a server of its own. */
export async function pasteGuide(t: TestContext, start: Start, guide: string): Promise<void> {
  const pasted = guides[guide]
  assert.ok(pasted !== undefined, guide)
  const blocks = blocksOf(guide)
  const needsCurl = blocks.some(({ text }) => /^curl /m.test(text))
  const hasCurl = !needsCurl || isThere('curl')
  if (!requireOrSkip(t, hasCurl, 'no curl: `apt-get install curl`')) return
  // The first is what a newcomer sees: its programs start.
  await paste(start, blocks, pasted, guide === 'start.md' ? openDesk : openUsual)
}
