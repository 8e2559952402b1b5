/** The compressed size of a built console: what is loaded before its first view can be used, and all of it. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

export const builtConsole = join(import.meta.dirname, '..', '..', 'console', 'dist')

interface BuildSizes {
  readonly firstViewBytes: number
  readonly allBytes: number
}

/** Throws if the console is not built. */
export function readBuildSizes(): BuildSizes {
  // Written by the bundler.
  const manifest = JSON.parse(
    readFileSync(join(builtConsole, '.vite', 'manifest.json'), 'utf8'),
  ) as Readonly<Record<string, { readonly file: string; readonly imports?: readonly string[] }>>
  const needed = new Set<string>()
  const need = (name: string): void => {
    const entry = manifest[name]
    if (entry === undefined) throw new Error(`the build has no ${name}`)
    if (needed.has(entry.file)) return
    needed.add(entry.file)
    for (const one of entry.imports ?? []) need(one)
  }
  need('index.html')
  need('src/views/home/home.tsx')
  const sizeOf = (file: string): number => statSync(join(builtConsole, `${file}.br`)).size
  const scripts = readdirSync(join(builtConsole, 'assets')).filter((name) => name.endsWith('.js'))
  const sum = (sizes: readonly number[]): number => sizes.reduce((all, one) => all + one, 0)
  return {
    firstViewBytes: sum([...needed].map(sizeOf)),
    allBytes: sum(scripts.map((name) => sizeOf(join('assets', name)))),
  }
}
