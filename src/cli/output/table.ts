/** Tables of text with aligned columns. Pure; colours are added elsewhere. */

export interface Column<T> {
  readonly title: string
  of(row: T): string
}

/** Columns are as wide as their widest cell; the last is not padded. Control characters are made visible. */
export function formatTable<T>(columns: readonly Column<T>[], rows: readonly T[]): string[] {
  const cells = [
    columns.map((column) => printable(column.title)),
    ...rows.map((row) => columns.map((column) => printable(column.of(row)))),
  ]
  const widths = columns.map((_, index) =>
    Math.max(...cells.map((row) => (row[index] ?? '').length)),
  )
  return cells.map((row) =>
    row
      .map((cell, index) => (index === row.length - 1 ? cell : cell.padEnd(widths[index] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

/** Two columns, indented. Further lines of the second are below its first. */
export function formatPairs(pairs: readonly (readonly [string, string])[]): string {
  const width = Math.max(0, ...pairs.map(([left]) => left.length))
  const indent = `\n${' '.repeat(width + 4)}`
  return pairs
    .map(([left, right]) => `  ${left.padEnd(width)}  ${right.replaceAll('\n', indent)}`.trimEnd())
    .join('\n')
}

const controls =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for.
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

/** Text from a server must not move the cursor, set colours, or change the reading direction. */
export function printable(text: string): string {
  return text.replace(controls, escaped)
}

/** For text with its own lines and spaces: JSON and YAML escape the ASCII control characters themselves. */
export const unseen = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g

const sequence = '\\u001b\\['
/** Colours, which stay on their line; lines and tabs. */
const harmless = [`${sequence}(?:\\d{1,3}(?:;\\d{1,3}){0,4})?m`, '\\r?\\n', '\\t']
/** Our own drawings and bars, which begin a text. */
const redrawing = [`^(?:${sequence}\\d{1,4}A)?${sequence}0J`, '^\\r']
const split = (kept: readonly string[]): RegExp => new RegExp(`(${kept.join('|')})`)
const atHarmless = split(harmless)
const atOwn = split([...redrawing, ...harmless])

/**
 * Whatever is written to a terminal goes through this: text of a server that no place before has made visible must not
 * move the cursor, name the window, or answer for whoever reads it. Where we draw ourselves (`draws`), we may begin anew.
 */
export function terminalText(text: string, draws: boolean): string {
  // With a group, every second part is what was split at.
  return text
    .split(draws ? atOwn : atHarmless)
    .map((part, at) => (at % 2 === 0 ? printable(part) : part))
    .join('')
}

export function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
