/**
 * Records of CSV (RFC 4180), each with the line it begins on. A quote out of place costs the line it is on and no
 * other record; knows no columns.
 */

/** The length of one record: some hundred times that of a transaction. */
export const recordLengthMax = 128 * 1024
export const recordTooLong = `it is longer than ${recordLengthMax} characters`

/** `length`: its characters in the text. */
type CsvRecord =
  | { readonly line: number; readonly length: number; readonly cells: readonly string[] }
  | { readonly line: number; readonly length: number; readonly reason: string }

/**
 * Of whole records, read as they are asked for: the text begins and ends between two. Lines without a character are no
 * records. A line with an odd number of quotes may be read on in vain, but no further than to the next such line: the
 * text is read twice at the most, whatever is in it.
 */
export function* readCsvRecords(text: string, firstLine: number): Generator<CsvRecord, void> {
  let quote = text.indexOf('"')
  for (let at = 0, line = firstLine; at < text.length; ) {
    const newline = text.indexOf('\n', at)
    const end = newline < 0 ? text.length : newline
    if (quote >= 0 && quote < at) quote = text.indexOf('"', at)
    if (quote < 0 || quote > end) {
      const content = text.slice(at, end > at && text[end - 1] === '\r' ? end - 1 : end)
      const { length } = content
      if (length > recordLengthMax) yield { line, length, reason: recordTooLong }
      else if (length > 0) yield { line, length, cells: content.split(',') }
      at = end + 1
      line++
      continue
    }
    const read = readQuoted(text, at)
    if ('cells' in read) {
      yield { line, length: read.next - at, cells: read.cells }
      at = read.next
      line += read.lines
      continue
    }
    yield { line, length: end - at, reason: read.reason }
    at = end + 1
    line++
  }
}

type Quoted =
  | { readonly cells: readonly string[]; readonly next: number; readonly lines: number }
  | { readonly reason: string }

/** A record that has a quote on its first line. */
function readQuoted(text: string, from: number): Quoted {
  const cells: string[] = []
  let lines = 1
  for (let at = from; ; at++) {
    const cell = text[at] === '"' ? quotedCell(text, at) : bareCell(text, at)
    if ('reason' in cell) return cell
    if (cell.next - from > recordLengthMax) return { reason: recordTooLong }
    cells.push(cell.text)
    lines += cell.lines
    at = cell.next
    if (text[at] === '\r' && (text[at + 1] === '\n' || at + 1 === text.length)) at++
    if (at >= text.length || text[at] === '\n') return { cells, next: at + 1, lines }
    if (text[at] !== ',') return { reason: 'a cell goes on behind its closing quote' }
  }
}

type Cell =
  | { readonly text: string; readonly next: number; readonly lines: number }
  | { readonly reason: string }

function quotedCell(text: string, from: number): Cell {
  let content = ''
  let lines = 0
  for (let at = from + 1; ; ) {
    const quote = text.indexOf('"', at)
    if (quote < 0) return { reason: 'a quote is opened and not closed' }
    const part = text.slice(at, quote)
    for (let n = part.indexOf('\n'); n >= 0; n = part.indexOf('\n', n + 1)) lines++
    content += part
    if (text[quote + 1] !== '"') return { text: content, next: quote + 1, lines }
    content += '"'
    at = quote + 2
  }
}

function bareCell(text: string, from: number): Cell {
  let at = from
  for (; at < text.length; at++) {
    const one = text[at]
    if (one === ',' || one === '\n') break
    if (one === '"') return { reason: 'a quote inside of a cell that has none around it' }
  }
  const end = at > from && text[at] !== ',' && text[at - 1] === '\r' ? at - 1 : at
  return { text: text.slice(from, end), next: end, lines: 0 }
}
