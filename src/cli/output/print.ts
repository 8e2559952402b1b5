/** How results leave the program, in the form that `choose-output.ts` decided. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Terminal } from '../terminal.ts'
import { recordText, tabLine } from './choose-output.ts'
import { type Column, formatTable, printable } from './table.ts'

/** Any value: JSON where nothing else was asked for. */
export function printData(terminal: Terminal, value: unknown): void {
  terminal.out(terminal.output.render(value))
}

/** One word or address: bare, so that it can stand in `$(…)`. */
export function printText(terminal: Terminal, text: string): void {
  if (terminal.output.isData) printData(terminal, text)
  else terminal.out(`${text}\n`)
}

/** A list: for programs the array of what the server gave. */
export function printRows<T>(
  terminal: Terminal,
  rows: readonly T[],
  columns: readonly Column<T>[],
): void {
  if (terminal.output.isData) {
    printData(terminal, rows)
    return
  }
  if (terminal.output.format === 'tsv') {
    const lines = rows.map((row) => columns.map(({ of }) => printable(of(row))).join('\t'))
    terminal.out(lines.map((line) => `${line}\n`).join(''))
    return
  }
  const [head = '', ...lines] = formatTable(columns, rows)
  if (lines.length === 0) {
    // Not on standard output: a script that counts lines should count none.
    terminal.error('(none)\n')
    return
  }
  terminal.out(`${[bold(terminal, head), ...lines].join('\n')}\n`)
}

/** One thing: for people the members of its summary, one a line; for programs all of it. */
export function printRecord(terminal: Terminal, record: unknown, summary = record): void {
  if (terminal.output.isData || !isJsonObject(summary)) {
    if (record !== undefined) printData(terminal, record)
    return
  }
  const text = terminal.output.format === 'tsv' ? tabLine(summary) : recordText(summary)
  terminal.out(`${text}\n`)
}

export function bold(terminal: Terminal, text: string): string {
  return terminal.coloured ? `\u001b[1m${text}\u001b[22m` : text
}

export function dim(terminal: Terminal, text: string): string {
  return terminal.coloured ? `\u001b[2m${text}\u001b[22m` : text
}

export function red(terminal: Terminal, text: string): string {
  return terminal.coloured ? `\u001b[31m${text}\u001b[39m` : text
}

export function green(terminal: Terminal, text: string): string {
  return terminal.coloured ? `\u001b[32m${text}\u001b[39m` : text
}

export function yellow(terminal: Terminal, text: string): string {
  return terminal.coloured ? `\u001b[33m${text}\u001b[39m` : text
}
