/**
 * The folder where a run prepares files beside the tables of a DuckDB folder. It is removed when the run has ended.
 */

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CopyTask } from '../engine.ts'
import { realRoot, refuseLinks } from '../files/safe-path.ts'
import { stageFolder } from '../names.ts'

export interface TableStage {
  /** The real path of the folder of all databases. */
  readonly root: string
  readonly folder: string
  /** The path of a file in it. */
  at(name: string): string
  remove(): void
}

/**
 * Created anew: after a cut, a table in progress is read again. Leftovers of the mapping's earlier runs are
 * removed.
 */
export function openTableStage(parent: string, task: Pick<CopyTask, 'token' | 'run'>): TableStage {
  const root = realRoot(parent)
  const stages = join(root, stageFolder)
  refuseLinks(root, stages, stageFolder)
  mkdirSync(stages, { recursive: true })
  for (const name of readdirSync(stages)) {
    if (name.startsWith(`${task.token}-`))
      rmSync(join(stages, name), { recursive: true, force: true })
  }
  const folder = join(stages, `${task.token}-${task.run}`)
  mkdirSync(folder)
  return {
    root,
    folder,
    at: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
