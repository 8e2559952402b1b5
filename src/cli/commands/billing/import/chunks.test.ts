/**
 * Parts of files: joined they equal the file, they begin and end between records, and an interrupted import
 * continues.
 */

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { chunksOf, type ImportChunk, type Progress } from './chunks.ts'

const folder = mkdtempSync(join(tmpdir(), 'armature-pieces-'))
test.after(() => rmSync(folder, { recursive: true, force: true }))

async function piecesFrom(
  text: string,
  format: string,
  progress?: Progress,
): Promise<readonly ImportChunk[]> {
  const file = join(folder, 'file')
  writeFileSync(file, text)
  const pieces: ImportChunk[] = []
  for await (const piece of chunksOf(file, format, progress)) pieces.push(piece)
  return pieces
}

const header = 'date,transactionAmount,productDescription\n'
const row = (at: number): string =>
  `2026-05-01,${at},"Number ${at}, with ""quotes""\nand a second line"\n`
const rows = (count: number): string => Array.from({ length: count }, (_, at) => row(at)).join('')

test('chunks of CSV are whole records, with their line numbers; cut off anywhere, the rest follows', async () => {
  const text = header + rows(30_000)
  const pieces = await piecesFrom(text, 'csv')
  assert.ok(pieces.length > 3)
  assert.equal(header + pieces.map((piece) => piece.text).join(''), text)
  let line = 2
  for (const [at, piece] of pieces.entries()) {
    assert.equal(piece.header, header.trimEnd())
    assert.ok(piece.text.startsWith('2026-05-01,') && piece.text.endsWith('line"\n'))
    assert.equal(piece.firstLine, line)
    line += piece.text.split('\n').length - 1
    assert.equal(piece.completed, at === pieces.length - 1)
    const rest = await piecesFrom(text, 'csv', {
      position: piece.nextPosition,
      digest: piece.nextDigest,
    })
    assert.equal(
      rest.map((one) => one.text).join(''),
      pieces
        .slice(at + 1)
        .map((one) => one.text)
        .join(''),
    )
  }
})

test('a piece has no more records than the installation takes at once', async () => {
  const text = header + '2026-05-01,1,x\n'.repeat(4_500)
  const pieces = await piecesFrom(text, 'csv')
  assert.equal(header + pieces.map((piece) => piece.text).join(''), text)
  const counts = pieces.map((piece) => piece.text.split('\n').length - 1)
  // The first part includes the header.
  assert.deepEqual(counts, [1_999, 2_000, 501])
  assert.deepEqual(
    pieces.map(({ completed }) => completed),
    [false, false, true],
  )
})

test('a file that ends where a chunk ends is complete', async () => {
  const line = `${'x'.repeat(1023)}\n`
  const pieces = await piecesFrom(line.repeat(2048), 'ndjson')
  assert.deepEqual(
    pieces.map(({ completed }) => completed),
    [false, true],
  )
})

test('a quote left open costs no more than a piece; one inside of a cell opens nothing', async () => {
  const open = `${header}2026-05-01,1,"open\n${'2026-05-01,2,b\n'.repeat(200_000)}`
  const pieces = await piecesFrom(open, 'csv')
  assert.equal(header + pieces.map((piece) => piece.text).join(''), open)
  assert.ok(pieces.every(({ text }) => text.endsWith('\n')))
  const inside = `${header}2026-05-01,1,5" wide\n${rows(20_000)}`
  for (const piece of await piecesFrom(inside, 'csv')) assert.match(piece.text, /line"\n$/)
})

test('another file under the same name, and one that is shorter, are refused', async () => {
  const text = header + rows(20_000)
  const [first] = await piecesFrom(text, 'csv')
  assert.ok(first !== undefined)
  const progress = { position: first.nextPosition, digest: first.nextDigest }
  const other = text.replace('Number 0', 'Number 9')
  await assert.rejects(piecesFrom(other, 'csv', progress), /does not begin as the file/)
  await assert.rejects(piecesFrom(text.slice(0, 1000), 'csv', progress), /is shorter than/)
})
