/** `serve --seed`: what the first start creates, and the refusals of a wrong seed. */

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { StartRefused, startInstallation } from './installation.ts'

/** As the guide shows it. */
const guide = readFileSync(join(import.meta.dirname, '../../docs/guides/deploy.md'), 'utf8')
const seed = /^```yaml\n([\s\S]*?)^```$/m.exec(guide)?.[1] ?? ''

test('the first start makes what the seed says, the second leaves it alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'armature-seed-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'seed.yaml')
  writeFileSync(file, seed)
  const words = ['--seed', file]
  const home = join(folder, 'home')
  mkdirSync(home)
  const environment = { ARMATURE_CONTROL: 'local' }
  const group = (subscriptionId: string) =>
    `/subscriptions/${subscriptionId}/resourceGroups/web?api-version=2021-04-01`
  {
    await using first = await startInstallation({ home, words, environment })
    const path = group(first.subscriptionId)
    assert.equal((await first.request('GET', path)).status, 200)
    const listed = await first.cli(['role', 'assignment', 'list', '--json'])
    assert.match(listed.out, /5eed0000-0000-4000-8000-000000000001/)
    assert.equal((await first.request('DELETE', path)).status, 202)
    assert.equal((await first.cli(['reset'])).code, 0)
    assert.equal((await first.request('GET', path)).status, 200, 'reset goes back to the seed')
    await first.stop()
  }
  await using second = await startInstallation({ home, words, environment })
  assert.equal((await second.request('GET', group(second.subscriptionId))).status, 200)
  const users = await second.request('GET', '/directory/users')
  assert.equal(users.items().filter((one) => one['displayName'] === 'lena').length, 1)
})

for (const [title, text, expected] of [
  [
    'a transaction that is none',
    'transactions: [{ properties: { date: never } }]',
    /transaction 1 of the seed is refused/,
  ],
  ['a list that is none', 'people: []', /'people' is none of principals/],
  ['a file that is no YAML', 'a: [', /The seed cannot be read/],
  [
    'what the server refuses',
    "resources: [{ path: '/subscriptions/{subscription}/resourceGroups/web?api-version=1', body: {} }]",
    /The seed was not taken/,
  ],
  ['an unknown principal', 'roleAssignments: [{ principal: x, role: Reader }]', /names 'x'/],
] as const) {
  test(`a seed is refused with its reason: ${title}`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'armature-seed-'))
    t.after(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'seed.yaml')
    writeFileSync(file, text)
    await assert.rejects(
      startInstallation({ words: ['--seed', file] }),
      (error: unknown) => error instanceof StartRefused && expected.test(error.output),
    )
  })
}
