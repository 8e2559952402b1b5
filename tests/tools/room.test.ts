/** When a test file of a run may begin. */

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { waitForRoom } from '../room.ts'

function folderFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'armature-room-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

const mine = String(process.pid)
const noLook = (): Promise<number> => assert.fail('nobody looks at the processors')

test('a file begins while fewer run than always may, and one that was killed does not count', async (t) => {
  const folder = folderFor(t)
  // No process has this number.
  writeFileSync(join(folder, '999999999'), '')
  await waitForRoom(folder, 1, noLook)
  assert.ok(readdirSync(folder).includes(mine))
})

test('more begin while processors are idle', async (t) => {
  const folder = folderFor(t)
  writeFileSync(join(folder, String(process.ppid)), '')
  const shares = [0.1, 0.2, 0.5]
  await waitForRoom(folder, 1, async () => {
    assert.ok(!existsSync(join(folder, mine)))
    return shares.shift() ?? assert.fail('it may have begun')
  })
  assert.deepEqual(shares, [])
  assert.ok(existsSync(join(folder, mine)))
})

test('while processors are busy, a file begins when another one has ended', async (t) => {
  const folder = folderFor(t)
  const other = join(folder, String(process.ppid))
  writeFileSync(other, '')
  let looks = 0
  await waitForRoom(folder, 1, async () => {
    if (++looks === 3) rmSync(other)
    return 0
  })
  assert.equal(looks, 3)
})
