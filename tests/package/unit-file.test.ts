/** The unit for systemd, judged by systemd's own program: it has no faults, and leaves a service little of the host. */

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { requireOrSkip } from '../require.ts'

const unit = join(import.meta.dirname, '../../deploy/armature.service')

/** In tenths, from 0 to 100: a service without any restriction has 96. */
const exposureMax = 40

function analyze(...words: readonly string[]) {
  return spawnSync('systemd-analyze', [...words, unit], { encoding: 'utf8' })
}

test('the unit file has no faults, and its service may do little', (t) => {
  const isThere = spawnSync('systemd-analyze', ['--version']).status === 0
  if (!requireOrSkip(t, isThere, 'systemd-analyze, of the package systemd')) return
  const { status, stderr } = analyze('verify', '--man=no')
  assert.equal(stderr, '')
  assert.equal(status, 0)
  const threshold = `--threshold=${exposureMax}`
  const judged = analyze('security', '--offline=yes', '--no-pager', threshold)
  assert.equal(judged.status, 0, judged.stdout)
})
