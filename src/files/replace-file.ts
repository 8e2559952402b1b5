/**
 * Replaces a file as a whole. A reader, or a start after a crash, finds the old file or the new one, never half of
 * one.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

interface ReplaceFileOptions {
  /** The file mode. By default only the owner may read it. */
  readonly mode?: number
  /** Flushes the file, so that it survives a loss of power. */
  readonly isDurable?: boolean
}

/** Writes a file beside the old one and renames it. The folder must exist. */
export function replaceFile(
  path: string,
  content: string | Uint8Array,
  { mode = 0o600, isDurable = false }: ReplaceFileOptions = {},
): void {
  const beside = `${path}.${process.pid}.new`
  // Removes what a process that ended left behind. It is not reused: it would have its own mode, or be a link that
  // leads elsewhere.
  rmSync(beside, { force: true })
  const file = openSync(beside, 'wx', mode)
  try {
    try {
      writeFileSync(file, content)
      if (isDurable) fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(beside, path)
  } finally {
    // Half a file would keep a full disk full.
    rmSync(beside, { force: true })
  }
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
