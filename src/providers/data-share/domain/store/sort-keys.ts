/**
 * The sort keys of details, never null, exactly as indexes, statements and generated columns write them. They are
 * part of a migration and must not change.
 */

export interface SortKey {
  /** The name of the index; in SQLite also of the column that is generated for it when the text is no column. */
  readonly name: string
  readonly type: 'text' | 'whole'
  readonly text: string
}

/** A running one has no duration in the store yet; it sorts as the longest. */
export const durationLast = 9_007_199_254_740_991

const column = (name: string, type: SortKey['type']): SortKey => ({ name, type, text: name })

export const sortKeys = [
  column('data_set_id', 'text'),
  column('data_set_type', 'text'),
  column('name', 'text'),
  column('status', 'text'),
  { name: 'by_message', type: 'text', text: "coalesce(message, '')" },
  { name: 'by_start', type: 'whole', text: 'coalesce(started_at, 0)' },
  { name: 'by_end', type: 'whole', text: 'coalesce(ended_at, 0)' },
  {
    name: 'by_duration',
    type: 'whole',
    // One that has not begun sorts before one that took no time.
    text: `case when started_at is null then -1 when ended_at is null then ${durationLast} else ended_at - started_at end`,
  },
  column('files_read', 'whole'),
  column('files_written', 'whole'),
  { name: 'by_rows_read', type: 'whole', text: 'rows_read + live_rows_read' },
  { name: 'by_rows_copied', type: 'whole', text: 'rows_copied + live_rows_copied' },
  { name: 'by_size_read', type: 'whole', text: 'size_read + live_size_read' },
  { name: 'by_size_written', type: 'whole', text: 'size_written + live_size_written' },
] as const satisfies readonly SortKey[]

export type SortKeyName = (typeof sortKeys)[number]['name']

/** The text in a statement, so that the index is used. */
export function sortText({ name, type, text }: SortKey, dialect: 'sqlite' | 'postgres'): string {
  if (dialect === 'sqlite') return name
  // Bytewise in both stores.
  return type === 'text' ? `(${text} collate "C")` : `(${text})`
}
