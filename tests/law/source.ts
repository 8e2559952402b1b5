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
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((path) => !path.includes('node_modules/'))
    .sort()
    .map((path) => ({
      path,
      text: readFileSync(join(root, path), 'utf8'),
      isTest: isTestPath(path),
    }))
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
