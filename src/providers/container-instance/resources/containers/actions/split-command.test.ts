/** How a command line is split into words. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fc } from '../../../../../../tests/property.ts'
import { splitCommand } from './split-command.ts'

test('words, quotes, backslashes', () => {
  for (const [text, words] of [
    ['/bin/sh', ['/bin/sh']],
    ['  ls   -l\t/tmp ', ['ls', '-l', '/tmp']],
    [`sh -c 'echo "a  b" \\ $x'`, ['sh', '-c', 'echo "a  b" \\ $x']],
    ['a"b c"d', ['ab cd']],
    ['"\\"" "\\n" a\\ b', ['"', '\\n', 'a b']],
    [`'' ""`, ['', '']],
  ] as const) {
    assert.deepEqual(splitCommand(text), words, text)
  }
  for (const text of ['', '  ', "'open", '"open', 'a\\', 'a\0']) {
    assert.equal(typeof splitCommand(text), 'string', JSON.stringify(text))
  }
})

test('words in single quotes come back as they were', () => {
  const word = fc.string().filter((one) => !one.includes("'") && !one.includes('\0'))
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), (words) => {
      assert.deepEqual(splitCommand(words.map((one) => `'${one}'`).join(' ')), words)
    }),
  )
})
