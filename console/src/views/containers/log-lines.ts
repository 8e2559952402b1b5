/**
 * Joins what is read of a growing log, a part of its end at a time, so that no line is lost or shown twice. Lines are
 * read with their times, which tells equal ones apart.
 */

export interface FollowedLog {
  /** Whole lines with their times, the oldest first. */
  readonly lines: readonly string[]
  /** The last line, as long as its end is not written. */
  readonly unfinished: string
  /** Positions of lines before which others may be missing. */
  readonly gaps: readonly number[]
  /** There are earlier lines that are not kept. */
  readonly leftOut: boolean
}

/** The lines that are kept, and read at the beginning. */
export const keptMax = 5_000

/** Characters of all lines that are kept: about as many as an answer has. */
const keptCharactersMax = 4_000_000
/** Characters that are drawn, of a line and of all. Four million in one line hold a page for seconds, some letters for minutes. */
const lineCharactersMax = 4_000
const drawnCharactersMax = 300_000
/** Marks on one letter: drawing takes time by the square of them. */
const manyMarks = /(\p{M}{8})\p{M}+/gu

/** The log as it was read first, or after it went on by more lines than are kept. */
export function beginLog(content: string): FollowedLog {
  const { lines, unfinished } = linesOf(content)
  return append(
    { lines: [], unfinished: '', gaps: [], leftOut: lines.length >= keptMax },
    lines,
    unfinished,
  )
}

/** The text to draw of the lines, the newest last: its end, without what would hold the page. */
export function drawnText(lines: readonly string[]): string {
  const cut = lines.map((line) =>
    (line.length > lineCharactersMax ? `${line.slice(0, lineCharactersMax)}…` : line).replace(
      manyMarks,
      '$1',
    ),
  )
  const begin = beginOfEnd(cut, drawnCharactersMax)
  return `${begin > 0 ? '…\n' : ''}${cut.slice(begin).join('\n').trimEnd()}`
}

/** The first of the last lines that together have at most so many characters. The last line counts whatever its length. */
function beginOfEnd(lines: readonly string[], most: number): number {
  let characters = 0
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    characters += lines[at]?.length ?? 0
    if (characters > most) return Math.min(at + 1, lines.length - 1)
  }
  return 0
}

/** The log with the lines that came since; undefined if the content does not reach back to what is kept. */
export function continueLog(log: FollowedLog, content: string): FollowedLog | undefined {
  const { lines: read, unfinished } = linesOf(content)
  const known = knownLines(log.lines, read)
  return known === 0 ? undefined : append(log, read.slice(known), unfinished)
}

/** The same for content that holds all that would be kept. */
export function rejoinLog(log: FollowedLog, content: string): FollowedLog {
  const { lines: read, unfinished } = linesOf(content)
  const joined = continueLog(log, content)
  if (joined !== undefined) return joined
  if (read.length >= keptMax) return beginLog(content)
  if (log.lines.length === 0 || read.length === 0) return append(log, read, unfinished)
  // The log began anew, or its part was too large for an answer.
  return append({ ...log, gaps: [...log.gaps, log.lines.length] }, read, unfinished)
}

/** The time of a line, if it has one, and its text. The time is short: containers write lines as long as they like. */
export function readLine(line: string): { readonly at: string; readonly text: string } {
  const [, at = '', text = line] = /^(\d{4}-\d\d-\d\dT\d\S{0,40}) (.*)$/s.exec(line) ?? []
  return { at, text }
}

function linesOf(content: string): Pick<FollowedLog, 'lines' | 'unfinished'> {
  const lines = content.split('\n')
  const unfinished = lines.pop() ?? ''
  return { lines, unfinished }
}

function append(log: FollowedLog, more: readonly string[], unfinished: string): FollowedLog {
  if (more.length === 0 && unfinished === log.unfinished) return log
  const lines = [...log.lines, ...more]
  const over = Math.max(lines.length - keptMax, beginOfEnd(lines, keptCharactersMax), 0)
  return {
    lines: lines.slice(over),
    unfinished,
    gaps: log.gaps.map((at) => at - over).filter((at) => at > 0),
    leftOut: log.leftOut || over > 0,
  }
}

/** How many of the lines that were read are the end of those that are kept; 0 if none. */
function knownLines(kept: readonly string[], read: readonly string[]): number {
  for (let count = read.length; count > 0; count -= 1) {
    if (endsWith(kept, read, count)) return count
  }
  return 0
}

function endsWith(kept: readonly string[], read: readonly string[], count: number): boolean {
  const length = Math.min(count, kept.length)
  for (let back = 1; back <= length; back += 1) {
    // The first line of an answer may be cut.
    if (back === count && back > 1) return true
    if (kept[kept.length - back] !== read[count - back]) return false
  }
  return length > 0
}
