/** Long lists, page by page: what a page that arrives costs, and that the rows are those of a plain computation. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type Order,
  type Sorted,
  sortRows,
  sortStep,
  stepRows,
} from '../../console/src/components/sorted-rows.ts'
import {
  findByTitle,
  type Level,
  moveFrom,
  type TreeNode,
  TreeRows,
} from '../../console/src/views/resources/tree-rows.ts'
import { fc } from '../property.ts'

const node = (id: string): TreeNode => ({ id, title: id.slice(-2), mayHold: true })
const levelOf = (pages: Level['pages'], given: Partial<Level> = {}): Level => ({
  pages,
  loading: false,
  error: null,
  more: false,
  isCut: false,
  ...given,
})

/** The same, row by row. */
function plainRows(roots: readonly TreeNode[], open: Set<string>, levels: Map<string, Level>) {
  const rows: string[] = []
  const add = (nodes: readonly TreeNode[], depth: number, more: boolean): void => {
    for (const [index, { id }] of nodes.entries()) {
      rows.push(`${id} ${depth} ${index + 1}/${more ? -1 : nodes.length} ${open.has(id)}`)
      if (!open.has(id)) continue
      const level = levels.get(id)
      if (level !== undefined) add(level.pages.flat(), depth + 1, level.more)
      if (level === undefined) rows.push(`${id} note ${depth + 1} loading`)
      else if (level.more) rows.push(`${id} note ${depth + 1} more`)
      else if (level.pages.flat().length === 0) rows.push(`${id} note ${depth + 1} nothing`)
    }
  }
  add(roots, 1, false)
  return rows
}

function textOf(rows: TreeRows, index: number): string | undefined {
  const row = rows.at(index)
  if (row === undefined) return undefined
  if ('note' in row) return `${row.key} ${row.depth} ${row.note}`
  return `${row.key} ${row.depth} ${row.position}/${row.count} ${row.isOpen}`
}

test('rows of a tree are those of its open levels, each found by its index and by its key', () => {
  const pages = fc.array(fc.nat({ max: 3 }), { maxLength: 3 })
  const level = fc.option(fc.record({ sizes: pages, more: fc.boolean() }))
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.boolean(), level), { minLength: 40, maxLength: 40 }),
      (drawn) => {
        const open = new Set<string>()
        const levels = new Map<string, Level>()
        let next = 0
        const grow = (id: string, depth: number): TreeNode => {
          const [isOpen = false, found] = drawn[next++ % drawn.length] ?? []
          if (isOpen && depth < 4) {
            open.add(id)
            if (found != null) {
              const made = found.sizes.map((size, page) =>
                Array.from({ length: size }, (_, at) => grow(`${id}/${page}${at}`, depth + 1)),
              )
              levels.set(id, levelOf(made, { more: found.more }))
            }
          }
          return node(id)
        }
        const roots = [grow('a', 1), grow('b', 1)]
        const rows = new TreeRows(roots, open, levels)
        const expected = plainRows(roots, open, levels)
        assert.deepEqual(
          Array.from({ length: rows.length }, (_, index) => textOf(rows, index)),
          expected,
        )
        assert.equal(rows.at(-1), undefined)
        assert.equal(rows.at(rows.length), undefined)
        for (let index = 0; index < rows.length; index += 1) {
          const row = rows.at(index)
          assert.equal(rows.indexOf(row?.key), index)
          const parent = rows.at(moveFrom(rows, index, 'parent'))
          if (row === undefined || parent === undefined || row.depth === 1) continue
          const owner = 'note' in row ? row.owner : row.key.slice(0, row.key.lastIndexOf('/'))
          assert.equal(parent.key, owner)
        }
        assert.equal(rows.indexOf('nowhere'), -1)
        assert.equal(rows.indexOf(undefined), -1)
      },
    ),
  )
})

test('a page that arrives in a tree is read alone: the hundred before it are left as they are', () => {
  let reads = 0
  const counted = (page: readonly TreeNode[]): readonly TreeNode[] =>
    new Proxy(page, {
      get(target, name, receiver) {
        if (typeof name === 'string' && /^\d+$/.test(name)) reads += 1
        return Reflect.get(target, name, receiver)
      },
    })
  const pageSize = 50
  const pages = Array.from({ length: 101 }, (_, page) =>
    counted(Array.from({ length: pageSize }, (_, at) => node(`g/${page * pageSize + at}`))),
  )
  const group = [node('g')]
  const rowsOf = (count: number): TreeRows =>
    new TreeRows(
      group,
      new Set(['g']),
      new Map([['g', levelOf(pages.slice(0, count), { more: true })]]),
    )
  const before = rowsOf(100)
  assert.equal(before.length, 100 * pageSize + 2)
  assert.ok(reads <= 100 * pageSize)
  reads = 0
  const after = rowsOf(101)
  assert.equal(after.length, 101 * pageSize + 2)
  assert.equal(after.indexOf(`g/${100 * pageSize}`), 1 + 100 * pageSize)
  assert.deepEqual(after.wantedIn(0, after.length), ['g'])
  assert.deepEqual(after.wantedIn(0, 40), [])
  assert.deepEqual([...after.notes], [[after.length - 1, 'g note']])
  assert.ok(reads <= pageSize, `${reads} nodes were read`)
})

test('a title is found after the active row, and then from the top', () => {
  const rows = new TreeRows([node('a1'), node('b1'), node('a2')], new Set(), new Map())
  assert.equal(findByTitle(rows, 0, 'A'), 2)
  assert.equal(findByTitle(rows, 2, 'a'), 0)
  assert.equal(findByTitle(rows, 1, 'x'), 1)
})

test('sorted rows of pages that arrive are those of one sort; few texts are compared for a page', () => {
  let reads = 0
  const order: Order<string> = {
    textOf(row) {
      reads += 1
      return row.slice(0, 2)
    },
    down: false,
  }
  const row = fc.tuple(fc.nat({ max: 20 }), fc.nat()).map(([n, at]) => `${n} ${at}`)
  fc.assert(
    fc.property(fc.array(fc.array(row), { maxLength: 6 }), fc.boolean(), (pages, down) => {
      let before: Sorted<string> | undefined
      let rows: readonly string[] = []
      for (const page of pages) {
        rows = [...rows, ...page]
        before = sortRows(rows, { ...order, down }, before)
        assert.deepEqual(before.sorted, sortRows(rows, { ...order, down }, undefined).sorted)
      }
    }),
  )
  const many = Array.from({ length: 20_000 }, (_, index) => `${(index * 7919) % 20_000}`)
  const before = sortRows(many.slice(0, 19_500), order, undefined)
  reads = 0
  const after = sortRows(many, order, before)
  assert.equal(after.sorted.length, many.length)
  // 500 rows sorted, and each looked for among 19,500.
  assert.ok(reads <= 2 * 500 * (9 + 15), `${reads} texts were read`)
  // Rows that were read again, or another order, are sorted whole.
  const other = ['9', ...many.slice(1)]
  assert.deepEqual(sortRows(other, order, after).sorted, sortRows(other, order, undefined).sorted)
})

test('a long list is sorted in steps, none of which looks at more than its own rows and their places', () => {
  let reads = 0
  const order: Order<string> = {
    textOf(row) {
      reads += 1
      return row
    },
    down: true,
  }
  const rows = Array.from({ length: 20_500 }, (_, index) => `${(index * 7919) % 20_500}`)
  let before: Sorted<string> | undefined
  let steps = 0
  do {
    reads = 0
    before = sortStep(rows, order, before)
    steps += 1
    // Each sorted among the others of the step, and looked for among at most 20,500.
    assert.ok(reads <= 2 * stepRows * (10 + 15), `${reads} texts were read`)
  } while (before.rows.length < rows.length)
  assert.equal(steps, Math.ceil(rows.length / stepRows))
  assert.deepEqual(before.sorted, sortRows(rows, order, undefined).sorted)
  // Another order begins anew, with the first rows.
  assert.equal(sortStep(rows, { ...order, down: false }, before).rows.length, stepRows)
})

test('a list that was read again is sorted anew, also where its ends are the same', () => {
  const order: Order<{ readonly name: string }> = { textOf: ({ name }) => name, down: false }
  const rows = ['a', 'c', 'e'].map((name) => ({ name }))
  const again = [rows[0], { name: 'b' }, rows[2]].flatMap((row) => row ?? [])
  const { sorted } = sortRows(again, order, sortRows(rows, order, undefined))
  assert.deepEqual(
    sorted.map(({ name }) => name),
    ['a', 'b', 'e'],
  )
})
