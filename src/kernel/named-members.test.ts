import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { fc } from '../../tests/property.ts'
import { fromMembers } from './named-members.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

function heap(): number {
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
