/** Prints results in the form that `choose-output.ts` decided. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Terminal } from '../terminal.ts'
import { recordText, tabLine } from './choose-output.ts'
import { type Column, formatTable, printable } from './table.ts'

/** Prints any value: as JSON when nothing else was chosen. */
export function printData(terminal: Terminal, value: unknown): void {
  terminal.out(terminal.output.render(value))
}

/** Prints one word or address without decoration, so that it can be used in `$(…)`. */
export function printText(terminal: Terminal, text: string): void {
  if (terminal.output.isData) printData(terminal, text)
  else terminal.out(`${text}\n`)
}

/** Prints a list. Programs get the array of the server's items. */
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

/** Prints one object: its summary for people, one member per line; everything for programs. */
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
