/** The highest memory of a copy, by the size of the source. */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryManifest } from '../../src/engines/copy/testing/memory-journal.ts'
import { copy, fillLarge, fillSmall, memorySizes, placeOf, type Tables } from './copies.ts'

interface MostMemory {
  readonly what: string
  readonly megabytes: number
}

export async function mostMemory(
  folder: string,
  tables: Tables | undefined,
): Promise<readonly MostMemory[]> {
  const measured: MostMemory[] = []
  const { files, megabytes, rows } = memorySizes
  const folders = async (what: string, fill: (root: string) => void): Promise<void> => {
    const [from, to] = ['from', 'to'].map((side) => join(folder, what, side))
    if (from === undefined || to === undefined) return
    fill(from)
    mkdirSync(to)
    const manifest = new MemoryManifest()
    const most = await copy(placeOf(from), placeOf(to), 'full', manifest)
    measured.push({ what, megabytes: most })
  }
  for (const one of files) await folders(`${one} files of 4 KB`, (root) => fillSmall(root, one))
  for (const one of megabytes) await folders(`a file of ${one} MB`, (root) => fillLarge(root, one))
  if (tables !== undefined) {
    for (const one of rows) {
      measured.push({ what: `a table of ${one} rows`, megabytes: await tables.copyOf(one) })
    }
  }
  return measured
}
