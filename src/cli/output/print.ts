/** How results leave the program: a table for people, JSON for programs. The only place that decides it. */

import { isJsonObject } from '#kernel/patch.ts'
import type { Terminal } from '../terminal.ts'
import { type Column, formatPairs, formatTable, printable } from './table.ts'

export function printJson(terminal: Terminal, value: unknown): void {
  // JSON leaves these as they are, and some terminals obey them; written out they mean the same.
  const text = JSON.stringify(value, undefined, 2).replace(/[\u007f-\u009f]/g, printable)
  terminal.out(`${text}\n`)
}

/** A list: JSON is the array of what the server gave. */
export function printRows<T>(
  terminal: Terminal,
  json: boolean,
  rows: readonly T[],
  columns: readonly Column<T>[],
): void {
  if (json) {
    printJson(terminal, rows)
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

/** One thing: its plain members, one a line; nested ones as JSON. */
export function printRecord(terminal: Terminal, json: boolean, record: unknown): void {
  if (json || !isJsonObject(record)) {
    if (record !== undefined) printJson(terminal, record)
    return
  }
  const pairs = Object.entries(record).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
    return [[name, printable(text)] as const]
  })
  terminal.out(`${formatPairs(pairs)}\n`)
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
