/** A file is replaced whole: a reader, or a start after a crash, finds the old one or the new one, never half of one. */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface ReplaceFileOptions {
  /** Who may read it. Default: its owner alone. */
  readonly mode?: number
  /** It is still there after the machine lost its power. */
  readonly isDurable?: boolean
}

/** Writes beside and then over. The folder is there. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, isDurable = false }: ReplaceFileOptions = {},
): void {
  const beside = `${path}.${process.pid}.new`
  // Of a process that ended meanwhile. What is put there now is not followed: it would have its mode, or lead elsewhere.
  rmSync(beside, { force: true })
  const file = openSync(beside, 'wx', mode)
  try {
    writeFileSync(file, content)
    if (isDurable) fsyncSync(file)
  } finally {
    closeSync(file)
  }
  renameSync(beside, path)
  if (isDurable) flushFolder(dirname(path))
}

function flushFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
