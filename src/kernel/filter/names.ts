/**
 * Finds what a path means: a field or a collection of the item, or of the lambda variable it begins with.
 */

import { type Collection, type Field, type FieldMap, findByPath } from './field-map.ts'
import type { PathNode } from './nodes.ts'

/** A variable and where its item stands; the item itself has none. */
interface Scope {
  readonly variable: string | undefined
  readonly map: FieldMap<unknown>
  readonly slot: number
}

/** The names that mean something at one place of a filter. A value; a lambda makes a new one. */
export class Names {
  readonly #root: Scope
  readonly #variables: readonly Scope[]

  constructor(root: FieldMap<unknown>, variables: readonly Scope[] = []) {
    this.#root = { variable: undefined, map: root, slot: 0 }
    this.#variables = variables
  }

  with(variable: string | undefined, map: FieldMap<unknown>, slot: number): Names {
    return new Names(this.#root.map, [...this.#variables, { variable, map, slot }])
  }

  /** The field and the slot its item stands in. */
  field(node: PathNode): { readonly field: Field<unknown>; readonly slot: number } | undefined {
    const { scope, rest } = this.#begin(node)
    const field = rest.length === 0 ? scope.map.self : findByPath(scope.map.fields, rest, scope.map)
    return field === undefined ? undefined : { field, slot: scope.slot }
  }

  /** The collection and the slot its owner stands in. */
  collection(
    node: PathNode,
  ): { readonly entry: Collection<unknown>; readonly slot: number } | undefined {
    const { scope, rest } = this.#begin(node)
    const entry = findByPath(scope.map.collections ?? {}, rest, scope.map)
    return entry === undefined ? undefined : { entry, slot: scope.slot }
  }

  /** What could have stood in the path's place, sorted, for messages. */
  known(node: PathNode, what: 'field' | 'collection'): readonly string[] {
    const { map } = this.#begin(node).scope
    return Object.keys(what === 'field' ? map.fields : (map.collections ?? {})).sort()
  }

  /** The scope a path begins in, innermost variable first, and what is left of the path there. */
  #begin(node: PathNode): { readonly scope: Scope; readonly rest: readonly string[] } {
    const head = node.segments[0]
    const scope = this.#variables.findLast((one) => one.variable === head)
    if (scope !== undefined) return { scope, rest: node.segments.slice(1) }
    const rest = head === '$it' ? node.segments.slice(1) : node.segments
    return { scope: this.#root, rest }
  }
}
