/** Builds rows of both dialects from the cells of a statement, whose order is the same in both. */

import type { OperationRow, ResourceRow, UniqueEntry } from './store.ts'

type Cells = readonly unknown[]

// The types are those of the schema.
export function toResource(cells: Cells): ResourceRow {
  return {
    key: cells[0] as string,
    id: cells[1] as string,
    type: cells[2] as string,
    tracked: cells[3] === 1,
    uniqueKey: cells[4] as string | null,
    etag: cells[5] as string,
    generation: cells[6] as number,
    document: cells[7] as string,
  }
}

export function toUniqueEntry(cells: Cells): UniqueEntry {
  return { uniqueKey: cells[0] as string, key: cells[1] as string }
}

export function toOperation(cells: Cells): OperationRow {
  return {
    id: cells[0] as string,
    resourceKey: cells[1] as string,
    document: cells[2] as string,
    running: cells[3] === 1,
    endedAt: cells[4] as number | null,
  }
}
