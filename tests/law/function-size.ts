/**
 * Functions that are longer than 100 lines or have more than four parameters, counted by the linter.
 * `function-size.json` lists the exceptions by file, and may only shrink.
 */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isTestPath } from './source.ts'

/** The number of exceptions by path and kind. */
export type SizeCounts = Readonly<Record<string, Readonly<Partial<Record<SizeKind, number>>>>>
type SizeKind = 'long' | 'parameters'

const root = join(import.meta.dirname, '../..')
const kinds: Readonly<Record<string, SizeKind>> = {
  'lint/complexity/noExcessiveLinesPerFunction': 'long',
  'lint/complexity/useMaxParams': 'parameters',
}

/** Tests may be long functions. */
function isProduction(path: string): boolean {
  return !isTestPath(path)
}

interface Report {
  readonly diagnostics: readonly {
    readonly category: string
    readonly location: { readonly path: string }
  }[]
}

/** `path`: a folder or a file, from the repository's root. */
export function countFunctions(path = 'src', isMeant = isProduction): SizeCounts {
  const program = join(root, 'node_modules/@biomejs/biome/bin/biome')
  const config = join(import.meta.dirname, 'function-size.biome.json')
  // It exits with 1 if it found any.
  const { stdout } = spawnSync(
    process.execPath,
    [
      program,
      'lint',
      `--config-path=${config}`,
      '--reporter=json',
      '--max-diagnostics=none',
      '--diagnostic-level=error',
      path,
    ],
    { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 },
  )
  // Written by the linter in this form.
  const { diagnostics } = JSON.parse(stdout) as Report
  const counts: Record<string, Partial<Record<SizeKind, number>>> = {}
  const sorted = diagnostics.toSorted((a, b) => (a.location.path < b.location.path ? -1 : 1))
  for (const { category, location } of sorted) {
    const kind = kinds[category]
    if (kind === undefined || !isMeant(location.path)) continue
    const before = counts[location.path]
    counts[location.path] = { ...before, [kind]: (before?.[kind] ?? 0) + 1 }
  }
  return counts
}

/** Entries that are too low, and entries that could be lowered. */
export function sizeFaults(counts: SizeCounts, allowed: SizeCounts): readonly string[] {
  return [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].flatMap((path) =>
    Object.values(kinds).flatMap((kind) => {
      const [is, may] = [counts[path]?.[kind] ?? 0, allowed[path]?.[kind] ?? 0]
      const what =
        kind === 'long' ? 'functions of more than 100 lines' : 'functions of more than 4 parameters'
      if (is > may) return [`${path}: ${is} ${what}, ${may} were there: cut it along its sentences`]
      return is < may ? [`${path}: ${is} ${what}: npm run generate lowers ${may}`] : []
    }),
  )
}

/** The list, lowered to the actual numbers. */
export function loweredSizes(counts: SizeCounts, allowed: SizeCounts): SizeCounts {
  return Object.fromEntries(
    Object.entries(allowed).flatMap(([path, may]) => {
      const kept = Object.values(kinds).flatMap((kind) => {
        const count = Math.min(counts[path]?.[kind] ?? 0, may[kind] ?? 0)
        return count === 0 ? [] : [[kind, count] as const]
      })
      return kept.length === 0 ? [] : [[path, Object.fromEntries(kept)] as const]
    }),
  )
}
