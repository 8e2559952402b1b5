import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fc } from '../../tests/property.ts'
import { fromMembers, holesIn } from './named-members.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heap(): number {
  // What the first one found is swept by the second.
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

test('members named by numbers take no more than what was parsed', () => {
  const text = `[${Array.from({ length: 10_000 }, () => '{"1000":0,"2500":0}').join(',')}]`
  const before = heap()
  const parsed: readonly Record<string, number>[] = JSON.parse(text)
  const between = heap()
  const copied = parsed.map((one) => fromMembers(Object.entries(one)))
  const after = heap()
  assert.ok(after - between < 3 * (between - before), `${after - between} bytes`)
  assert.deepEqual(copied, parsed)
})

function bytesWhenCopied(list: readonly object[]): number {
  const before = heap()
  const copied = structuredClone(list)
  const after = heap()
  return (after - before) / copied.length
}

test('what comes from another thread takes no more than its holes say', () => {
  for (const name of ['7', '200', '1000', '2024', '20241130', 'x', '007', '1e3']) {
    for (const other of ['y', '2500', '40']) {
      const list = Array.from({ length: 2000 }, () => ({ [name]: 0, [other]: 0 }))
      const bytes = bytesWhenCopied(list)
      const holes = holesIn(list) / list.length
      const message = `${name}, ${other}: ${bytes} bytes, ${holes} holes`
      assert.ok(bytes < 12 * holes + 1000, message)
    }
  }
  assert.equal(holesIn([{ 2024: 0 }, { '2024-01-01': 0 }, [0, 1], { 0: 0, 1: { 2: 0 } }]), 2)
})

test('is what the runtime makes of the same members', () => {
  const name = fc.oneof(
    fc.string(),
    fc.nat().map(String),
    fc.constantFrom('__proto__', 'constructor', '4294967294', '4294967295', '00', '0', '-1'),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(name, fc.integer())), (entries) => {
      const made = fromMembers(entries)
      assert.deepEqual(made, Object.fromEntries(entries))
      assert.deepEqual(Object.entries(made), Object.entries(Object.fromEntries(entries)))
    }),
  )
})
