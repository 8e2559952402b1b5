/** Reads the repository's own sources for the law tests. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface SourceFile {
  /** Path from the repository's root, with `/`. */
  readonly path: string
  readonly text: string
  /** A test, or support that only tests import. */
  readonly isTest: boolean
}

const root = join(import.meta.dirname, '../..')

export function sourceFiles(folder: string, ending = '.ts'): readonly SourceFile[] {
  return pathsIn(folder)
    .filter((path) => path.endsWith(ending))
    .sort()
    .map(read)
}

/** Those at the top of the checkout alone. */
export function rootDocuments(): readonly SourceFile[] {
  return readdirSync(root)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map(read)
}

function read(path: string): SourceFile {
  return { path, text: readFileSync(join(root, path), 'utf8'), isTest: isTestPath(path) }
}

/** Installed packages are not entered: they have a hundred times as many files. */
function pathsIn(folder: string): readonly string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : pathsIn(path)
    return entry.isFile() ? [path] : []
  })
}

export function isTestPath(path: string): boolean {
  return /\.test\.ts$|\/testing\/|\/contract(?:\.ts$|\/)/.test(path)
}

/** `stores/sqlite` for a dialect, `engines/containers` for an engine, else the first folder or file. */
export function areaOf(path: string): string {
  const parts = path
    .replace(/^src\//, '')
    .replace(/\.ts$/, '')
    .split('/')
  const [first = '', second] = parts
  if (first === 'engines' && second !== undefined) return `${first}/${second}`
  if (first === 'stores' && ['sqlite', 'postgres'].includes(second ?? ''))
    return `${first}/${second}`
  return first
}

/** Every module a text imports, types included. */
export function importsOf(text: string): readonly string[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '')
  return [
    ...code.matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"\n;]*(?:\{[^}]*\}[^'"\n;]*)?from\s+'([^']+)'|import\('([^']+)'\)|(?:^|\n)import\s+'([^']+)'/g,
    ),
  ].map(([, a, b, c]) => a ?? b ?? c ?? '')
}
