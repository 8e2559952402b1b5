/** Two folders for the contract suite. */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { ObjectsPair } from '../contract.ts'

interface FolderPair extends ObjectsPair {
  readonly folder: string
}

export function folderPair(): FolderPair {
  const folder = mkdtempSync(join(tmpdir(), 'armature-copy-'))
  const at = (side: string, key: string): string => join(folder, side, 'data', 'x', key)
  const put = (side: string) => async (key: string, bytes: Uint8Array) => {
    mkdirSync(dirname(at(side, key)), { recursive: true })
    writeFileSync(at(side, key), bytes)
  }
  const location = (side: string) =>
    ({
      kind: 'folder',
      shape: 'tree',
      root: join(folder, side),
      container: 'data',
      path: 'x',
    }) as const
  mkdirSync(join(folder, 'to'))
  return {
    folder,
    source: location('from'),
    target: location('to'),
    write: put('from'),
    litter: put('to'),
    remove: async (key) => rmSync(at('from', key)),
    async seen() {
      const base = join(folder, 'to/data/x')
      const found = readdirSync(base, { recursive: true, withFileTypes: true })
      return new Map(
        found
          .filter((one) => one.isFile())
          .map((one) => {
            const path = join(one.parentPath, one.name)
            return [path.slice(base.length + 1), readFileSync(path)]
          }),
      )
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
