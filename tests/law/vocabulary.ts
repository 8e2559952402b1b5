/**
 * One word for one concept, in names of files and identifiers. `docs/internals/glossary.md` defines each word.
 * Words of its column "not" are counted here, in names and in the titles of tests.
 */

import type { SourceFile } from './source.ts'

/** The number of names that still have each word. */
export type WordCounts = Readonly<Record<string, number>>

/** The words of the glossary's column "not", in backticks. */
export function wordsNotUsed(glossary: string): readonly string[] {
  return [
    ...new Set(
      glossary.split('\n').flatMap((line) => {
        if (!line.startsWith('|')) return []
        const not = line.split('|')[3] ?? ''
        return [...not.matchAll(/`([a-z]+)`/g)].map(([, word = '']) => word)
      }),
    ),
  ].toSorted()
}

/** Each name counts once per file, and each path once. */
export function countWords(files: readonly SourceFile[], words: readonly string[]): WordCounts {
  const counts = new Map(words.map((word) => [word, 0]))
  const add = (name: string): void => {
    for (const part of new Set(partsOf(name))) {
      const count = counts.get(part)
      if (count !== undefined) counts.set(part, count + 1)
    }
  }
  for (const { path, text } of files) {
    add(path)
    for (const name of new Set(codeOf(text).match(/[A-Za-z_$][\w$]*/g) ?? [])) add(name)
  }
  return Object.fromEntries(counts)
}

/** The words of the titles of tests, each once per title. */
export function countTitleWords(
  files: readonly SourceFile[],
  words: readonly string[],
): WordCounts {
  const counts = new Map(words.map((word) => [word, 0]))
  for (const { text } of files) {
    for (const [, title = ''] of text.matchAll(titleOfTest)) {
      for (const word of new Set(title.toLowerCase().match(/[a-z]+/g) ?? [])) {
        const count = counts.get(word)
        if (count !== undefined) counts.set(word, count + 1)
      }
    }
  }
  return Object.fromEntries(counts)
}

/** Also of the functions that declare tests under a name of their own. */
const titleOfTest =
  /(?:^|[\s.(])(?:test|describe|check|hazard|variant|pitfall)\(\s*((?:'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`))/g

/** `openWorldFixture` and `open-world.ts` contain the word `world`. */
function partsOf(name: string): readonly string[] {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
}

/** The text without comments and literals: prose may use any word. */
function codeOf(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/(^|\s)\/\/.*$/gm, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")
    .replaceAll(/`(?:[^`\\$]|\\.|\$(?!\{))*`/g, "''")
}

/** Counts that are too low, and counts that could be lowered. */
export function vocabularyFaults(
  counts: WordCounts,
  allowed: WordCounts,
  where = 'names',
): readonly string[] {
  return [...new Set([...Object.keys(counts), ...Object.keys(allowed)])].flatMap((word) => {
    const [is, may] = [counts[word] ?? 0, allowed[word] ?? 0]
    if (is > may)
      return [`'${word}' is in ${is} ${where}, ${may} were there: take the word of the glossary`]
    return is < may
      ? [`'${word}' is in ${is} ${where} only: run \`npm run generate\`, which lowers ${may}`]
      : []
  })
}

/** The committed counts, never raised. */
export function lowered(counts: WordCounts, allowed: WordCounts): WordCounts {
  return Object.fromEntries(
    Object.entries(counts)
      .map(([word, is]): [string, number] => [word, Math.min(is, allowed[word] ?? 0)])
      .filter(([, is]) => is > 0),
  )
}
