/** The rows of the tree, in the order in which they stand: open nodes, and below each what it holds. */

import type { ApiFailure } from '../../api/client.ts'

export interface TreeNode {
  readonly id: string
  readonly title: string
  readonly type?: string
  readonly state?: string | undefined
  /** Whether it can be opened. */
  readonly mayHold: boolean
}

/** What an open node holds, as far as it was read. */
export interface Level {
  readonly nodes: readonly TreeNode[]
  readonly loading: boolean
  readonly error: ApiFailure | null
  readonly more: boolean
  /** There may be more that is not read. */
  readonly isCut: boolean
}

interface Placed {
  readonly key: string
  /** 1 for the outermost. */
  readonly depth: number
}

export interface NodeRow extends Placed {
  readonly node: TreeNode
  readonly isOpen: boolean
  /** From 1, and how many there are; -1 while that is not known. */
  readonly position: number
  readonly count: number
}

/** What stands in a level instead of nodes, or after them. */
export interface NoteRow extends Placed {
  readonly note: 'loading' | 'more' | 'cut' | 'nothing' | ApiFailure
  /** The node whose level it is. */
  readonly owner: string
}

export type TreeRow = NodeRow | NoteRow

export function treeRows(
  roots: readonly TreeNode[],
  open: ReadonlySet<string>,
  levels: ReadonlyMap<string, Level>,
): readonly TreeRow[] {
  const rows: TreeRow[] = []
  const add = (nodes: readonly TreeNode[], depth: number, more: boolean): void => {
    for (const [index, node] of nodes.entries()) {
      const isOpen = node.mayHold && open.has(node.id)
      const count = more ? -1 : nodes.length
      rows.push({ key: node.id, depth, node, isOpen, position: index + 1, count })
      if (!isOpen) continue
      const level = levels.get(node.id)
      if (level !== undefined) add(level.nodes, depth + 1, level.more)
      const note = noteOf(level)
      if (note !== undefined) {
        rows.push({ key: `${node.id} note`, depth: depth + 1, note, owner: node.id })
      }
    }
  }
  add(roots, 1, false)
  return rows
}

function noteOf(level: Level | undefined): NoteRow['note'] | undefined {
  if (level === undefined) return 'loading'
  if (level.error !== null) return level.error
  if (level.more) return 'more'
  if (level.loading) return 'loading'
  if (level.isCut) return 'cut'
  return level.nodes.length === 0 ? 'nothing' : undefined
}

export type Move = 'next' | 'previous' | 'first' | 'last' | 'parent'

/** The row that a key leads to from the active one. */
export function moveFrom(rows: readonly TreeRow[], active: number, move: Move): number {
  const last = rows.length - 1
  if (move === 'first') return 0
  if (move === 'last') return last
  if (move === 'next') return Math.min(active + 1, last)
  if (move === 'previous') return Math.max(active - 1, 0)
  const depth = rows[active]?.depth ?? 1
  for (let index = active - 1; index >= 0; index -= 1) {
    if ((rows[index]?.depth ?? 1) < depth) return index
  }
  return active
}

/** The next node after the active row whose title begins with the text; the search goes on at the top. */
export function findByTitle(rows: readonly TreeRow[], active: number, text: string): number {
  const wanted = text.toLowerCase()
  for (let step = 1; step <= rows.length; step += 1) {
    const index = (active + step) % rows.length
    const row = rows[index]
    if (row !== undefined && 'node' in row && row.node.title.toLowerCase().startsWith(wanted)) {
      return index
    }
  }
  return active
}
