/** Places each step of a deployment in a column right of all its dependencies. Pure. */

export interface GraphNode {
  readonly id: string
  readonly dependsOn: readonly string[]
}

export interface Placed {
  readonly id: string
  readonly dependsOn: readonly string[]
  readonly column: number
  readonly row: number
}

/** Compares ids as they are. Dependencies that are no node are ignored. Sorted by column and row. */
export function placeNodes(nodes: readonly GraphNode[]): readonly Placed[] {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const columns = new Map<string, number>()
  function columnOf(node: GraphNode): number {
    const known = columns.get(node.id)
    if (known !== undefined) return known
    // A cycle, which no deployment has, ends here.
    columns.set(node.id, 0)
    const before = node.dependsOn.flatMap((id) => byId.get(id) ?? [])
    const column = before.reduce((most, one) => Math.max(most, columnOf(one) + 1), 0)
    columns.set(node.id, column)
    return column
  }
  const drawn: GraphNode[][] = []
  for (const node of nodes) {
    const column = columnOf(node)
    drawn[column] = [...(drawn[column] ?? []), node]
  }
  const rows = new Map<string, number>()
  return drawn.flatMap((column, at) => {
    // Near its dependencies, so that few lines cross.
    const height = ({ dependsOn }: GraphNode): number => {
      const known = dependsOn.flatMap((id) => rows.get(id) ?? [])
      return known.reduce((sum, row) => sum + row, 0) / Math.max(known.length, 1)
    }
    const sorted = column.toSorted((a, b) => height(a) - height(b) || (a.id < b.id ? -1 : 1))
    return sorted.map(({ id, dependsOn }, row) => {
      rows.set(id, row)
      return { id, dependsOn: dependsOn.filter((one) => byId.has(one)), column: at, row }
    })
  })
}
