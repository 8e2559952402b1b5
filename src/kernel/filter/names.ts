/** Resolves a path: to a field or a collection of the item, or of the lambda variable it begins with. */

import { type Collection, type Field, type FieldMap, findByPath } from './field-map.ts'
import type { PathNode } from './nodes.ts'

/** A variable and the slot of its item; the item itself has no variable. */
interface Scope {
  readonly variable: string | undefined
  readonly map: FieldMap<unknown>
  readonly slot: number
}

/** The names that are known at one position of a filter. Immutable; a lambda makes a new one. */
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

  /** The field, and the slot of the item it belongs to. */
  field(node: PathNode): { readonly field: Field<unknown>; readonly slot: number } | undefined {
    const { scope, rest } = this.#begin(node)
    const field = rest.length === 0 ? scope.map.self : findByPath(scope.map.fields, rest, scope.map)
    return field === undefined ? undefined : { field, slot: scope.slot }
  }

  /** The collection, and the slot of its owner. */
  collection(
    node: PathNode,
  ): { readonly entry: Collection<unknown>; readonly slot: number } | undefined {
    const { scope, rest } = this.#begin(node)
    const entry = findByPath(scope.map.collections ?? {}, rest, scope.map)
    return entry === undefined ? undefined : { entry, slot: scope.slot }
  }

  /** The names that would have been valid here, sorted, for messages. */
  known(node: PathNode, what: 'field' | 'collection'): readonly string[] {
    const { map } = this.#begin(node).scope
    return Object.keys(what === 'field' ? map.fields : (map.collections ?? {})).sort()
  }

  /** The scope in which a path begins, innermost variable first, and the rest of the path. */
  #begin(node: PathNode): { readonly scope: Scope; readonly rest: readonly string[] } {
    const head = node.segments[0]
    const scope = this.#variables.findLast((one) => one.variable === head)
    if (scope !== undefined) return { scope, rest: node.segments.slice(1) }
    const rest = head === '$it' ? node.segments.slice(1) : node.segments
    return { scope: this.#root, rest }
  }
}
