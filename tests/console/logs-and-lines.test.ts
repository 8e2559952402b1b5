/** Joining a log that is read part by part, how soon something is read again, and the runs of a line with gaps. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { paceOf } from '../../console/src/api/pace.ts'
import { runsOf } from '../../console/src/components/line-runs.ts'
import {
  beginLog,
  continueLog,
  drawnText,
  type FollowedLog,
  keptMax,
  readLine,
  rejoinLog,
} from '../../console/src/views/containers/log-lines.ts'
import { fc } from '../property.ts'

const stamped = (index: number): string =>
  `2026-11-25T12:00:00.${String(index).padStart(9, '0')}Z line`
const linesFrom = (first: number, end: number): string[] =>
  Array.from({ length: end - first }, (_, index) => stamped(first + index))
const contentOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')

/** A look as the card makes it: a few lines, and all that is kept where these do not reach back. */
function look(log: FollowedLog, whole: readonly string[], tail: number): FollowedLog {
  return (
    continueLog(log, contentOf(whole.slice(-tail))) ??
    rejoinLog(log, contentOf(whole.slice(-keptMax)))
  )
}

test('a line that is nearly a time is read at once, however long it is', () => {
  const line = `2026-11-25T${'1'.repeat(400_000)}`
  assert.deepEqual(readLine(line), { at: '', text: line })
  const timed = '2026-11-25T19:47:08.123456789Z'
  assert.deepEqual(readLine(`${timed} ${line}`), { at: timed, text: line })
})

test('however a log grows between looks, what is kept is its end: no line lost, none twice', () => {
  const growth = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 12 })
  fc.assert(
    fc.property(growth, fc.integer({ min: 1, max: 10 }), (steps, tail) => {
      let length = 3
      let log = beginLog(contentOf(linesFrom(0, length)))
      for (const more of steps) {
        length += more
        log = look(log, linesFrom(0, length), tail)
        assert.deepEqual(log.lines, linesFrom(0, length))
        assert.deepEqual(log.gaps, [])
      }
    }),
  )
})

test('equal lines of different times are different lines; without a change the log is the same object', () => {
  const log = beginLog(contentOf(linesFrom(0, 3)))
  assert.equal(continueLog(log, contentOf(linesFrom(1, 3))), log)
  assert.equal(continueLog(log, contentOf(linesFrom(1, 5)))?.lines.length, 5)
  assert.equal(continueLog(log, contentOf(linesFrom(3, 6))), undefined)
})

test('equal lines of the same time: as many as there can be are taken for known', () => {
  const log = beginLog('a\na\n')
  assert.deepEqual(continueLog(log, 'a\na\nb\n')?.lines, ['a', 'a', 'b'])
})

test('of long lines the end of a log is kept and drawn, each line up to a length', () => {
  const long = 'x'.repeat(100_000)
  const lines = Array.from({ length: 100 }, (_, at) => `${at} ${long}`)
  let log = beginLog(contentOf(lines.slice(0, 50)))
  assert.equal(log.leftOut, true)
  log = continueLog(log, contentOf(lines.slice(10))) ?? log
  assert.equal(log.lines.at(-1), lines.at(-1))
  assert.ok(log.lines.join('').length <= 4_000_000)
  const drawn = drawnText(log.lines)
  assert.ok(drawn.length < 400_000)
  assert.ok(drawn.split('\n').every((line) => line.length < 5_000))
  assert.ok(drawn.split('\n').at(-1)?.startsWith('99 xxx'))
  assert.ok(drawnText([`a${'\u0301'.repeat(4_000)}b`]).length < 20)
  assert.equal(drawnText(['one', 'two', '']), 'one\ntwo')
})

test('a line whose end is not written yet is shown once, also when it grows', () => {
  const begun = beginLog(`${contentOf(linesFrom(0, 2))}2026-11-25T12:00:01Z beg`)
  assert.equal(begun.unfinished, '2026-11-25T12:00:01Z beg')
  const ended = continueLog(begun, `${contentOf(linesFrom(0, 2))}2026-11-25T12:00:01Z begun\n`)
  assert.deepEqual(ended?.lines, [...linesFrom(0, 2), '2026-11-25T12:00:01Z begun'])
  assert.equal(ended?.unfinished, '')
})

test('the first line of an answer may be cut', () => {
  const log = beginLog(contentOf(linesFrom(0, 4)))
  const cut = contentOf([stamped(1).slice(9), ...linesFrom(2, 6)])
  assert.deepEqual(continueLog(log, cut)?.lines, linesFrom(0, 6))
})

test('more than is kept: the oldest lines go, and it is said; after a jump the log begins later', () => {
  const full = beginLog(contentOf(linesFrom(0, keptMax)))
  assert.equal(full.leftOut, true)
  const grown = look(full, linesFrom(0, keptMax + 7), 10)
  assert.deepEqual(grown.lines, linesFrom(7, keptMax + 7))
  const jumped = look(beginLog(contentOf(linesFrom(0, 3))), linesFrom(0, 3 * keptMax), 10)
  assert.deepEqual(jumped.lines, linesFrom(2 * keptMax, 3 * keptMax))
  assert.deepEqual([jumped.leftOut, jumped.gaps], [true, []])
})

test('a log that begins anew goes on below a mark, which moves with the lines above it', () => {
  const log = beginLog(contentOf(linesFrom(0, 3)))
  assert.equal(rejoinLog(log, ''), log, 'nothing is written yet')
  const anew = look(log, linesFrom(100, 102), 10)
  assert.deepEqual(anew.lines, [...linesFrom(0, 3), ...linesFrom(100, 102)])
  assert.deepEqual(anew.gaps, [3])
  const later = look(anew, linesFrom(100, 100 + keptMax - 1), keptMax)
  assert.equal(later.lines.length, keptMax)
  assert.deepEqual(later.gaps, [1])
  assert.deepEqual(look(later, linesFrom(100, 100 + keptMax), keptMax).gaps, [])
  assert.deepEqual(rejoinLog(beginLog(''), contentOf(linesFrom(0, 2))).gaps, [])
})

test('the time of a line is separated from its text', () => {
  assert.deepEqual(readLine('2026-11-25T12:00:00.000000001Z a b'), {
    at: '2026-11-25T12:00:00.000000001Z',
    text: 'a b',
  })
  assert.deepEqual(readLine('2026-11-25T12:00:00+01:00 '), {
    at: '2026-11-25T12:00:00+01:00',
    text: '',
  })
  assert.deepEqual(readLine('no time'), { at: '', text: 'no time' })
})

test('a line is drawn in runs: where nothing was measured, it stops', () => {
  const minutes = [0, 1, 2, 5, 7, 8].map((at) => [at, 1] as const)
  assert.deepEqual(
    runsOf(minutes, 1.5).map((run) => run.map(([at]) => at)),
    [[0, 1, 2], [5], [7, 8]],
  )
  assert.deepEqual(runsOf([], 1.5), [])
  assert.equal(runsOf(minutes, Number.POSITIVE_INFINITY).length, 1)
})

test('what stays the same is asked for less and less often, up to 8 seconds; what differs, at once again', () => {
  const state = { data: {}, dataUpdateCount: 1 }
  const query = { state }
  const pauses = (count: number, every: number): readonly number[] =>
    Array.from({ length: count }, () => {
      const pause = paceOf(query, every)
      state.dataUpdateCount += 1
      return pause
    })
  assert.deepEqual(pauses(6, 2_000), [2_000, 2_000, 2_000, 4_000, 8_000, 8_000])
  state.data = {}
  assert.deepEqual(pauses(4, 3_000), [3_000, 3_000, 3_000, 6_000])
  assert.equal(paceOf(query, 60_000), 60_000)
})
