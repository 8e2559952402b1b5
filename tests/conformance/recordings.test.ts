/**
 * Replays what the published service answered to published clients against an installation with the vendor words
 * set. The recordings are not part of the repository: `ARMATURE_TEST_RECORDINGS` names their folder, which contains
 * the program that replays them. The share of checks that hold may only rise: `recordings.json` has the floors.
 */

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startInstallation } from '../e2e/installation.ts'

const folder = process.env['ARMATURE_TEST_RECORDINGS'] ?? ''
const floors = JSON.parse(
  readFileSync(join(import.meta.dirname, 'recordings.json'), 'utf8'),
) as Readonly<Record<'recordings' | 'examples', number>>

interface Summary {
  readonly kind: string
  readonly at: string
  readonly n: number
  readonly level: string
  readonly method: string
  readonly type: string
}

interface Results {
  readonly recordings: readonly {
    readonly total: number
    readonly bad: number
    readonly refused: number
  }[]
  readonly summary: readonly Summary[]
}

for (const part of ['recordings', 'examples'] as const) {
  test(`${part} of the published service hold as they did`, async (t) => {
    const isThere = folder !== '' && existsSync(join(folder, 'replay.mjs'))
    // Data that a machine does not have is never required, but its absence is always reported.
    if (!isThere) {
      const how = 'name the folder of recordings in ARMATURE_TEST_RECORDINGS'
      process.stderr.write(`SKIPPED: ${t.name}: ${how}\n`)
      t.skip(how)
      return
    }
    await using installation = await startInstallation({
      environment: {
        ARMATURE_VENDOR_NAMESPACE: 'Microsoft',
        ARMATURE_VENDOR_BRAND: 'Azure',
        ARMATURE_CONTAINERS: 'simulated',
        ARMATURE_THROTTLE: 'false',
      },
    })
    // The program writes its results into its own folder.
    const copy = mkdtempSync(join(tmpdir(), 'armature-recordings-'))
    t.after(() => rmSync(copy, { recursive: true, force: true }))
    cpSync(folder, copy, { recursive: true })
    await replay(copy, part, {
      BASE_URL: installation.url,
      TOKEN: installation.ownerToken,
      SUBSCRIPTION_ID: installation.subscriptionId,
      SHARE_ROOT: join(installation.home, 'storage'),
    })
    const found = JSON.parse(readFileSync(join(copy, 'results.json'), 'utf8')) as Results
    const sum = (of: (one: Results['recordings'][number]) => number): number =>
      found.recordings.reduce((all, one) => all + of(one), 0)
    const share = 100 * (1 - sum((one) => one.bad) / sum((one) => one.total))
    t.diagnostic(`${share.toFixed(2)} % of ${sum((one) => one.total)} checks hold`)
    assert.equal(
      sum((one) => one.refused),
      0,
      'requests refused for their version',
    )
    assert.ok(
      share >= floors[part],
      `${share.toFixed(2)} % of the checks hold, ${floors[part]} % did:\n${differences(found)}`,
    )
  })
}

/** The most frequent differences first. */
function differences({ summary }: Results): string {
  return summary
    .filter(({ level }) => level === 'hard')
    .slice(0, 40)
    .map(({ n, kind, method, type, at }) => `${n} ${kind} ${method} ${type} ${at}`)
    .join('\n')
}

async function replay(
  at: string,
  part: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const child = spawn(process.execPath, [join(at, 'replay.mjs'), `${part}/`, '--quiet'], {
    cwd: at,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  assert.equal(code, 0, 'the replay ended early')
}
