import assert from 'node:assert/strict'
import { test } from 'node:test'
import { at, type Json, listAt, numberAt, textAt } from '../json.ts'
import { narrowed } from './seccomp.ts'

/** What the runtime does with a call: by the first rule whose conditions hold. */
function isAllowed(profile: Json, name: string, given: readonly number[]): boolean {
  return listAt(profile, 'syscalls').some(
    (rule) =>
      listAt(rule, 'names').includes(name) &&
      textAt(rule, 'action') === 'SCMP_ACT_ALLOW' &&
      listAt(rule, 'args').every((arg) => {
        const value = BigInt(given[numberAt(arg, 'index')] ?? 0)
        return (value & BigInt(numberAt(arg, 'value'))) === BigInt(numberAt(arg, 'valueTwo'))
      }),
  )
}

test('of the calls that a profile allows to everybody, some are narrowed', () => {
  const refused = ['clone3', 'keyctl', 'add_key', 'request_key', 'syslog']
  const names = ['read', 'clone', 'unshare', 'fcntl', ...refused]
  const conditional = {
    names: ['unshare'],
    action: 'SCMP_ACT_ALLOW',
    includes: { caps: ['CAP_SYS_ADMIN'] },
  }
  const allow = { names, action: 'SCMP_ACT_ALLOW' }
  const found = narrowed({ defaultAction: 'SCMP_ACT_ERRNO', syscalls: [conditional, allow] })
  assert.equal(textAt(found, 'defaultAction'), 'SCMP_ACT_ERRNO')
  const [first, ...rest] = listAt(found, 'syscalls')
  assert.deepEqual(first, conditional)
  const profile = { syscalls: rest }
  assert.ok(isAllowed(profile, 'read', [0]))
  for (const name of refused) assert.equal(isAllowed(profile, name, [0]), false, name)
  for (const name of ['clone', 'unshare']) {
    assert.ok(isAllowed(profile, name, [0x20000]))
    assert.equal(isAllowed(profile, name, [0x10020000]), false)
  }
  // Leases and delegations, also with bits that the kernel does not look at.
  for (let command = 0; command < 2048; command++) {
    const isLease = command === 1024 || command === 1040
    assert.equal(isAllowed(profile, 'fcntl', [3, command]), !isLease, String(command))
    assert.equal(isAllowed(profile, 'fcntl', [3, 2 ** 32 + command]), !isLease)
  }
  assert.equal(at(narrowed({ syscalls: [conditional] }), 'syscalls', '1'), undefined)
})
