/** What a program in a container writes does not make the page stand still. */

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import {
  drawInChunks,
  leaveOutGreatCounts,
} from '../../console/src/views/containers/terminal-counts.ts'

/** Its types are those of a browser. */
type Counting = Parameters<typeof leaveOutGreatCounts>[0]
interface Terminal extends Counting {
  readonly buffer: { readonly active: { readonly baseY: number; getLine(at: number): Line } }
  write(data: string | Uint8Array, drawn?: () => void): void
  dispose(): void
}
interface Line {
  translateToString(trimmed: boolean): string
}
const { Terminal } = createRequire(import.meta.url)('@xterm/xterm') as {
  readonly Terminal: new (options: object) => Terminal
}

const [rows, cols] = [4, 10]

/** The lines of the screen after this was written. */
async function screenAfter(text: string): Promise<readonly string[]> {
  const terminal = new Terminal({ rows, cols, allowProposedApi: true })
  leaveOutGreatCounts(terminal)
  await new Promise<void>((drawn) => terminal.write(text, drawn))
  const { active } = terminal.buffer
  const lines = Array.from({ length: rows }, (_, at) => active.getLine(active.baseY + at))
  terminal.dispose()
  return lines.map((line) => line.translateToString(true))
}

test('a count that is greater than the screen is left out, and one that fits is heeded', async () => {
  const begin = 'one\r\ntwo\r\nthree\r\nfour'
  const whole = ['one', 'two', 'three', 'four']
  for (const final of ['S', 'T', 'L', 'M']) {
    assert.deepEqual(await screenAfter(`${begin}\x1b[2;1H\x1b[${rows + 1}${final}`), whole, final)
    assert.notDeepEqual(await screenAfter(`${begin}\x1b[2;1H\x1b[1${final}`), whole, final)
  }
  assert.deepEqual(await screenAfter(`x\x1b[${rows * cols + 1}b`), ['x', '', '', ''])
  assert.deepEqual(await screenAfter('x\x1b[3b'), ['xxxx', '', '', ''])
  for (const final of ['I', 'Z']) {
    assert.deepEqual(await screenAfter(`x\x1b[${rows * cols + 1}${final}y`), ['xy', '', '', ''])
    assert.notDeepEqual(await screenAfter(`x\x1b[1${final}y`), ['xy', '', '', ''])
  }
})

test('what comes at once is drawn in chunks, with turns for the page between them', async () => {
  const terminal = new Terminal({ rows: 24, cols })
  let turns = 0
  const count = (): void => {
    turns += 1
    turning = setTimeout(count)
  }
  let turning = setTimeout(count)
  const bytes = new TextEncoder().encode('\x1b[24S'.repeat(2_000))
  await new Promise<void>((drawn) => drawInChunks(terminal, bytes, drawn))
  clearTimeout(turning)
  terminal.dispose()
  // In one chunk there is one before it at the most.
  assert.ok(turns > 2, `${turns} turns`)
})
