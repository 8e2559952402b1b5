/** Reads cells of rows in the types of their columns. A cell of another type is a bug. */

import type { SqlRow } from '#stores/store.ts'

export function number(row: SqlRow, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new Error(`${column} holds no number`)
  return value
}

export function text(row: SqlRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new Error(`${column} holds no text`)
  return value
}

/** A sum that may exceed exact numbers, selected as text. */
export function wide(row: SqlRow, column: string): bigint {
  return BigInt(text(row, column))
}

/** `?, ?, ?` */
export function placeholders(count: number): string {
  return Array(count).fill('?').join(', ')
}
