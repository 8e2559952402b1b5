/** A journal in memory that keeps the real one's promises, for the contract suite. It can fail at a chosen call. */

import type {
  CopyJournal,
  CopyTask,
  CountedWork,
  DoneItem,
  Item,
  ItemAction,
  Progress,
} from '../engine.ts'
import { compareKeys } from '../names.ts'

interface Known extends DoneItem {
  readonly run: string
}

export class JournalClosed extends Error {}

/** The state of one mapping, which outlives a run. */
export class MemoryManifest {
  owned = false
  watermark: string | undefined
  base = new Map<string, Known>()
  staged = new Map<string, Map<string, Known>>()
  parts = new Map<string, { etag: string; offset: number }>()
  readonly counts = new Map<string, Required<CountedWork>>()
  readonly notes: string[] = []
  /** The number of calls answered before the journal fails. */
  callsLeft = Number.POSITIVE_INFINITY
  readonly calls: string[] = []

  countsOf(run: string): Required<CountedWork> {
    return this.counts.get(run) ?? nothing
  }

  journal({ run, mode }: Pick<CopyTask, 'run' | 'mode'>): CopyJournal {
    const full = mode === 'full' || !this.owned || this.staged.has(run)
    const mine = (): Map<string, Known> => {
      if (!full) return this.base
      const found = this.staged.get(run) ?? new Map<string, Known>()
      this.staged.set(run, found)
      return found
    }
    const step = (name: string): void => {
      this.calls.push(name)
      if (this.callsLeft-- <= 0) throw new JournalClosed(name)
    }
    const add = (counted: CountedWork): void => {
      const before = this.countsOf(run)
      this.counts.set(run, {
        filesRead: before.filesRead + (counted.filesRead ?? 0),
        filesWritten: before.filesWritten + (counted.filesWritten ?? 0),
        rowsRead: before.rowsRead + (counted.rowsRead ?? 0),
        rowsCopied: before.rowsCopied + (counted.rowsCopied ?? 0),
        sizeRead: before.sizeRead + (counted.sizeRead ?? 0),
        sizeWritten: before.sizeWritten + (counted.sizeWritten ?? 0),
      })
    }
    return {
      forget: async () => {
        step('forget')
        this.staged.delete(run)
        this.parts.clear()
        this.counts.delete(run)
      },
      todo: async (items: readonly Item[]): Promise<readonly ItemAction[]> => {
        step('todo')
        return items.map(({ key, etag }): ItemAction => {
          if (mine().get(key)?.etag === etag) return { kind: 'skip' }
          const part = this.parts.get(key)
          if (part?.etag === etag) return { kind: 'resume', offset: part.offset }
          return { kind: 'copy' }
        })
      },
      commit: async ({ done, counted, part }: Progress) => {
        step('commit')
        for (const item of done) mine().set(item.key, { ...item, run })
        if (part !== undefined) this.parts.set(part.key, part)
        add(counted)
      },
      holds: async (keys) => {
        step('holds')
        return keys.map((key) => mine().get(key)?.run === run)
      },
      publishing: async () => {
        step('publishing')
        mine()
        this.owned = true
      },
      done: async (after, limit) => {
        step('done')
        return [...mine().values()]
          .filter(
            (one) => one.run === run && (after === undefined || compareKeys(one.key, after) > 0),
          )
          .sort((left, right) => compareKeys(left.key, right.key))
          .slice(0, limit)
      },
      published: async ({ replaces, counted = {}, watermark, note }) => {
        step('published')
        add(counted)
        this.owned = true
        this.watermark = watermark
        if (note !== undefined) this.notes.push(note)
        if (replaces) this.base = mine()
        this.staged.clear()
      },
    }
  }
}

const nothing: Required<CountedWork> = {
  filesRead: 0,
  filesWritten: 0,
  rowsRead: 0,
  rowsCopied: 0,
  sizeRead: 0,
  sizeWritten: 0,
}
