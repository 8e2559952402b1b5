/** The rows of the tree, in the order in which they stand: open nodes, and below each what it holds. */

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
  /** As they were read. A page that was read stays the same object. */
  readonly pages: readonly (readonly TreeNode[])[]
  readonly loading: boolean
  readonly error: Error | null
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
  readonly note: 'loading' | 'more' | 'cut' | 'nothing' | Error
  /** The node whose level it is. */
  readonly owner: string
}

export type TreeRow = NodeRow | NoteRow

/** Rows of one depth that stand one after the other in one page, or one note. */
type Run = NodeRun | (NoteRow & { readonly start: number; readonly length: 1 })

interface NodeRun {
  /** The index of its first row. */
  readonly start: number
  readonly length: number
  readonly depth: number
  readonly page: readonly TreeNode[]
  /** The index of its first node in the page. */
  readonly from: number
  readonly position: number
  readonly count: number
}

/** Where each node of a page stands in it. A page never changes, so it is read once. */
const placesOfPages = new WeakMap<readonly TreeNode[], ReadonlyMap<string, number>>()

function placesIn(page: readonly TreeNode[]): ReadonlyMap<string, number> {
  const known = placesOfPages.get(page)
  if (known !== undefined) return known
  const places = new Map(page.map(({ id }, index) => [id, index]))
  placesOfPages.set(page, places)
  return places
}

/**
 * The rows, of which each is made when it is asked for. To make them anew takes time by the number of pages and of open
 * nodes, not by that of rows: a page that arrives costs the same wherever it stands.
 */
export class TreeRows {
  readonly length: number
  /** The keys of the notes by their index. Only they have a height of their own. */
  readonly notes: ReadonlyMap<number, string>
  readonly #runs: readonly Run[]
  readonly #open: ReadonlySet<string>

  constructor(
    roots: readonly TreeNode[],
    open: ReadonlySet<string>,
    levels: ReadonlyMap<string, Level>,
  ) {
    const runs: Run[] = []
    let start = 0
    const addLevel = (pages: Level['pages'], depth: number, more: boolean): void => {
      const count = more ? -1 : countOf(pages)
      let position = 1
      for (const page of pages) {
        const add = (from: number, end: number): void => {
          if (from === end) return
          const length = end - from
          runs.push({ start, length, depth, page, from, position: position + from, count })
          start += length
        }
        let from = 0
        for (const at of openIn(page, open)) {
          add(from, at + 1)
          from = at + 1
          addBelow(page[at]?.id ?? '', depth + 1)
        }
        add(from, page.length)
        position += page.length
      }
    }
    const addBelow = (owner: string, depth: number): void => {
      const level = levels.get(owner)
      if (level !== undefined) addLevel(level.pages, depth, level.more)
      const note = noteOf(level)
      if (note === undefined) return
      runs.push({ start, length: 1, key: `${owner} note`, depth, note, owner })
      start += 1
    }
    addLevel([roots], 1, false)
    this.length = start
    this.#runs = runs
    this.#open = open
    this.notes = new Map(runs.flatMap((run) => ('note' in run ? [[run.start, run.key]] : [])))
  }

  at(index: number): TreeRow | undefined {
    const run = this.#runs[this.#runAt(index)]
    if (run === undefined || 'note' in run) return run
    const offset = index - run.start
    const node = run.page[run.from + offset]
    if (node === undefined) return undefined
    return {
      key: node.id,
      depth: run.depth,
      node,
      isOpen: node.mayHold && this.#open.has(node.id),
      position: run.position + offset,
      count: run.count,
    }
  }

  /** -1 if there is none. */
  indexOf(key: string | undefined): number {
    if (key === undefined) return -1
    for (const run of this.#runs) {
      if ('note' in run) {
        if (run.key === key) return run.start
        continue
      }
      const place = placesIn(run.page).get(key)
      if (place !== undefined && place >= run.from && place < run.from + run.length) {
        return run.start + place - run.from
      }
    }
    return -1
  }

  /** The owners of the levels whose notes stand between two indexes. */
  wantedIn(first: number, end: number): readonly string[] {
    return this.#runs.flatMap((run) =>
      'note' in run && run.note === 'more' && run.start >= first && run.start < end
        ? [run.owner]
        : [],
    )
  }

  /** The row below which this one stands; the same for the outermost. */
  parentOf(index: number): number {
    const at = this.#runAt(index)
    const depth = this.#runs[at]?.depth ?? 1
    const above = this.#runs.slice(0, Math.max(at, 0)).findLast((run) => run.depth < depth)
    return above === undefined ? index : above.start + above.length - 1
  }

  /** The place of the run that has the row; -1 if none has. */
  #runAt(index: number): number {
    let [low, high] = [0, this.#runs.length - 1]
    while (low <= high) {
      const middle = (low + high) >> 1
      const { start = 0, length = 0 } = this.#runs[middle] ?? {}
      if (index < start) high = middle - 1
      else if (index >= start + length) low = middle + 1
      else return middle
    }
    return -1
  }
}

/** The places of the open nodes of a page, in order. */
function openIn(page: readonly TreeNode[], open: ReadonlySet<string>): readonly number[] {
  const places = placesIn(page)
  return [...open]
    .flatMap((id) => places.get(id) ?? [])
    .filter((at) => page[at]?.mayHold === true)
    .sort((a, b) => a - b)
}

function countOf(pages: Level['pages']): number {
  return pages.reduce((sum, page) => sum + page.length, 0)
}

function noteOf(level: Level | undefined): NoteRow['note'] | undefined {
  if (level === undefined) return 'loading'
  if (level.error !== null) return level.error
  if (level.more) return 'more'
  if (level.loading) return 'loading'
  if (level.isCut) return 'cut'
  return countOf(level.pages) === 0 ? 'nothing' : undefined
}

export type Move = 'next' | 'previous' | 'first' | 'last' | 'parent'

/** The row that a key leads to from the active one. */
export function moveFrom(rows: TreeRows, active: number, move: Move): number {
  const last = rows.length - 1
  if (move === 'first') return 0
  if (move === 'last') return last
  if (move === 'next') return Math.min(active + 1, last)
  if (move === 'previous') return Math.max(active - 1, 0)
  return rows.parentOf(active)
}

/** The next node after the active row whose title begins with the text; the search goes on at the top. */
export function findByTitle(rows: TreeRows, active: number, text: string): number {
  const wanted = text.toLowerCase()
  for (let step = 1; step <= rows.length; step += 1) {
    const index = (active + step) % rows.length
    const row = rows.at(index)
    if (row !== undefined && 'node' in row && row.node.title.toLowerCase().startsWith(wanted)) {
      return index
    }
  }
  return active
}
