/** Finds exports that no other file imports. Such an export may hide dead code. */

import { importsOf, type SourceFile } from './source.ts'

interface DeadExport {
  readonly path: string
  readonly name: string
}

/** Loaded by file name, or used only by the declarations of the package: no import names them. */
const usedWithoutImport: readonly (readonly [path: RegExp, name: string])[] = [
  [/^src\/cli\/commands\/demo\/areas\//, 'area'],
  [/^src\/cli\/commands\//, 'command'],
  [/^bench\/scenarios\//, 'scenario'],
  [/^src\/query\/table\.ts$/, 'Column'],
]
/** The entry points of the package. */
const entries = new Set([
  'src/index.ts',
  'src/client/index.ts',
  'src/template/index.ts',
  'src/embedded/index.ts',
  'src/embedded/container.ts',
])

/** `resolve` returns the path that an import means. */
export function deadExports(
  files: readonly SourceFile[],
  resolve: (from: string, specifier: string) => string,
): readonly DeadExport[] {
  const readers = new Map<string, Set<string>>()
  const words = new Map<string, ReadonlySet<string>>()
  for (const { path, text } of files) {
    words.set(path, new Set(text.match(/\w+/g) ?? []))
    for (const specifier of importsOf(text)) {
      if (!/^[.#]/.test(specifier)) continue
      const target = resolve(path, specifier)
      const known = readers.get(target) ?? new Set<string>()
      readers.set(target, known.add(path))
    }
  }
  return files.flatMap(({ path, text }) => {
    if (entries.has(path) || path.endsWith('.d.ts')) return []
    const importers = [...(readers.get(path) ?? [])]
    return exportsOf(text)
      .filter((name) => !importers.some((one) => words.get(one)?.has(name) === true))
      .filter((name) => !usedWithoutImport.some(([at, loaded]) => at.test(path) && name === loaded))
      .map((name) => ({ path, name }))
  })
}

const declaration =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:const|let|function\*?|class|interface|type|enum) (\w+)/gm
const list = /^export (?:type )?\{([^}]*)\}(?! from)/gm

export function exportsOf(text: string): readonly string[] {
  const listed = [...text.matchAll(list)].flatMap(([, names = '']) =>
    names.split(',').map(
      (one) =>
        one
          .trim()
          .split(/\s+as\s+|^type /)
          .at(-1) ?? '',
    ),
  )
  return [...[...text.matchAll(declaration)].map(([, name = '']) => name), ...listed].filter(
    (name) => name !== '',
  )
}
