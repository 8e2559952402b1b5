/** The folder of what a run puts together beside the tables of a DuckDB folder; gone when the run has ended. */

import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { CopyTask } from '../engine.ts'
import { refuseLinks } from '../files/safe-path.ts'
import { stageFolder } from '../names.ts'

export interface TableStage {
  readonly folder: string
  /** Of a file in it. */
  at(name: string): string
  remove(): void
}

/** Made anew: a table under way is read anew after a cut. What earlier runs of the mapping left goes with it. */
export function openTableStage(root: string, task: Pick<CopyTask, 'token' | 'run'>): TableStage {
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
    folder,
    at: (name) => join(folder, name),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
