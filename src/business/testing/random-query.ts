/**
 * Random query options for an entity, as texts: filters over every kind of field, path and function, orders, pages
 * and expands. Most are well typed; the caller must expect refusals.
 */

import type { SqlRow } from '#stores/store.ts'
import { leadsToList } from '../compile/paths.ts'
import {
  decimalUnit,
  type Entity,
  type Field,
  fieldsIn,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { enumName } from '../odata/enum-names.ts'

/** Numbers from 0 to less than 1. */
export type Chance = () => number

/** Repeats the same numbers for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) / 2 ** 24
  }
}

type Sort = 'text' | 'number' | 'date' | 'moment' | 'guid' | 'boolean' | 'enum'

interface Path {
  readonly text: string
  readonly sort: Sort
  readonly field: Field
  /** The entity whose field it is. */
  readonly entity: Entity
}

const sorts: Readonly<Record<string, Sort>> = {
  string: 'text',
  integer: 'number',
  decimal: 'number',
  date: 'date',
  moment: 'moment',
  guid: 'guid',
  boolean: 'boolean',
}

export class RandomQuery {
  readonly #chance: Chance
  readonly #model: Model
  readonly #version: Version
  readonly #tables: (table: string) => readonly SqlRow[]
  #variables = 0

  constructor(
    chance: Chance,
    model: Model,
    version: Version,
    tables: (table: string) => readonly SqlRow[],
  ) {
    this.#chance = chance
    this.#model = model
    this.#version = version
    this.#tables = tables
  }

  /** Options by name, as they follow the `?`. */
  options(entity: Entity, depth: number): Readonly<Record<string, string>> {
    const given: Record<string, string> = {}
    if (this.#one(4) > 0) given['$filter'] = this.condition(entity, '', 3)
    if (this.#one(3) > 0) given['$orderby'] = this.#order(entity)
    if (this.#one(4) === 0) given['$top'] = String(this.#one(6))
    if (this.#one(4) === 0) given['$skip'] = String(this.#one(5))
    if (this.#one(3) === 0) given['$count'] = 'true'
    if (depth > 0 && this.#one(2) === 0) {
      const known = this.#navigations(entity)
      const chosen = known.filter(() => this.#one(known.length) === 0).slice(0, 2)
      const parts = chosen.map(({ navigation, target, isList }) => {
        // A single row cannot be filtered, ordered or counted.
        const inner = Object.entries(this.options(target, depth - 1)).filter(
          ([name]) => isList || name === '$expand',
        )
        const shown = inner.map(([name, text]) => `${name}=${text}`).join(';')
        return inner.length === 0 ? navigation.name : `${navigation.name}(${shown})`
      })
      if (parts.length > 0) given['$expand'] = parts.join(',')
    }
    return given
  }

  condition(entity: Entity, prefix: string, depth: number): string {
    const again = (): string => this.condition(entity, prefix, depth - 1)
    switch (depth <= 0 ? 3 + this.#one(6) : this.#one(10)) {
      case 0:
        return `${again()} and ${again()}`
      case 1:
        return `(${again()} or ${again()})`
      case 2:
        return `not (${again()})`
      case 3:
      case 4:
        return `${this.#number(entity, prefix, depth)} ${this.#operator()} ${this.#number(entity, prefix, depth)}`
      case 5:
        return `${this.#text(entity, prefix, depth)} ${this.#operator()} ${this.#text(entity, prefix, depth)}`
      case 6:
        return `${this.#pick(['contains', 'startswith', 'endswith'])}(${this.#text(entity, prefix, 1)},${this.#text(entity, prefix, 0)})`
      case 7:
      case 8:
        return this.#plain(entity, prefix)
      default:
        return this.#lambda(entity, prefix, depth)
    }
  }

  /** Compares a field with values of its own kind. */
  #plain(entity: Entity, prefix: string): string {
    const path = this.#path(entity, prefix)
    const equality = this.#pick(['eq', 'ne'])
    if (path.sort === 'boolean') return this.#pick([path.text, `${path.text} ${equality} true`])
    if (this.#one(4) === 0) {
      const list = [
        this.#literal(path),
        this.#literal(path),
        this.#pick(['null', this.#literal(path)]),
      ]
      return `${path.text} in (${list.join(',')})`
    }
    if (this.#one(8) === 0) return `${path.text} ${equality} null`
    const operator = path.sort === 'enum' ? equality : this.#operator()
    return `${path.text} ${operator} ${this.#literal(path)}`
  }

  #lambda(entity: Entity, prefix: string, depth: number): string {
    const lists = this.#navigations(entity).filter(({ isList }) => isList)
    const list = lists[this.#one(lists.length)]
    if (list === undefined) return this.#plain(entity, prefix)
    const way = `${prefix}${list.navigation.name}`
    if (this.#one(4) === 0) return `${way}/$count ${this.#operator()} ${this.#one(4)}`
    if (this.#one(5) === 0) return `${way}/any()`
    const variable = `v${this.#variables++}`
    const inner = this.condition(list.target, `${variable}/`, depth - 1)
    return `${way}/${this.#pick(['any', 'all'])}(${variable}:${inner})`
  }

  #text(entity: Entity, prefix: string, depth: number): string {
    const again = (): string => this.#text(entity, prefix, depth - 1)
    switch (depth <= 0 ? this.#one(3) : this.#one(9)) {
      case 3:
        return `${this.#pick(['tolower', 'toupper', 'trim'])}(${again()})`
      case 4:
        return `concat(${again()},${again()})`
      case 5:
        return `substring(${again()},${this.#one(4)})`
      case 6:
        return `substring(${again()},${this.#one(4)},${this.#one(4)})`
      case 0:
        return this.#literal(this.#path(entity, prefix, 'text'))
      default:
        return this.#path(entity, prefix, 'text').text
    }
  }

  #number(entity: Entity, prefix: string, depth: number): string {
    const again = (): string => this.#number(entity, prefix, depth - 1)
    switch (depth <= 0 ? this.#one(3) : this.#one(11)) {
      case 3:
        return `(${again()} ${this.#pick(['add', 'sub', 'mul', 'div', 'divby', 'mod'])} ${again()})`
      case 4:
        return `length(${this.#text(entity, prefix, 1)})`
      case 5:
        return `indexof(${this.#text(entity, prefix, 0)},${this.#text(entity, prefix, 0)})`
      case 6:
        return `${this.#pick(['round', 'floor', 'ceiling'])}(${again()})`
      case 7:
        return `${this.#pick(['year', 'month', 'day'])}(${this.#path(entity, prefix, 'date').text})`
      case 8:
        return `${this.#pick(['year', 'day', 'hour', 'minute', 'second'])}(${this.#path(entity, prefix, 'moment').text})`
      case 0:
        return this.#literal(this.#path(entity, prefix, 'number'))
      default:
        return this.#path(entity, prefix, 'number').text
    }
  }

  #order(entity: Entity): string {
    const terms = Array.from({ length: 1 + this.#one(2) }, () => {
      const { text, sort } = this.#path(entity, '')
      if (this.#one(4) > 0) return text
      if (sort === 'text') return `${this.#pick(['tolower', 'length', 'trim'])}(${text})`
      return sort === 'number' ? `${text} mul 2` : text
    })
    return [...new Set(terms)]
      .map((term) => `${term}${this.#pick(['', ' asc', ' desc'])}`)
      .join(',')
  }

  /** A field of the rows, or of one related row; of the wanted sort, if there is one. */
  #path(entity: Entity, prefix: string, wanted?: Sort): Path {
    const single = this.#navigations(entity).filter(({ isList }) => !isList)
    const further = this.#one(4) === 0 ? single[this.#one(single.length)] : undefined
    if (further !== undefined) {
      return this.#path(further.target, `${prefix}${further.navigation.name}/`, wanted)
    }
    const all = fieldsIn(entity, this.#version).flatMap((field) =>
      this.#paths(entity, field, prefix),
    )
    const fitting = all.filter(({ sort }) => wanted === undefined || sort === wanted)
    const found = this.#pick(fitting.length === 0 ? all : fitting)
    return found
  }

  #paths(entity: Entity, field: Field, prefix: string): readonly Path[] {
    const { type } = field
    if (type.kind === 'complex') {
      return type.fields.flatMap((one) => this.#paths(entity, one, `${prefix}${field.name}/`))
    }
    const isEnum = type.kind === 'enum'
    const sort = isEnum ? (this.#version === 'v1.0' ? 'text' : 'enum') : sorts[type.kind]
    return sort === undefined ? [] : [{ text: `${prefix}${field.name}`, sort, field, entity }]
  }

  /** A value, usually one that a row has. */
  #literal({ field, sort, entity }: Path): string {
    const rows = field.join === undefined ? this.#tables(entity.table.name) : []
    const cell = this.#one(5) === 0 ? undefined : rows[this.#one(rows.length)]?.[field.column]
    switch (sort) {
      case 'text':
        return `'${String(cell ?? this.#pick(['', 'a', 'Z', 'é', '😀'])).replaceAll("'", "''")}'`
      case 'number': {
        const unit = field.type.kind === 'decimal' ? decimalUnit : 1
        return cell === undefined
          ? this.#pick(['0', '1', '-2', '2.5', '0.000001', '1e3', '10000'])
          : String(Number(cell) / unit)
      }
      case 'date':
        return cell === undefined ? this.#pick(['2026-02-28', '0001-01-01']) : String(cell)
      case 'moment':
        return new Date(Number(cell ?? 1_790_000_000_000)).toISOString()
      case 'guid':
        return String(cell ?? '11111111-1111-4111-8111-111111111111')
      case 'enum': {
        const { type } = field
        const values = type.kind === 'enum' ? type.values : []
        const value = this.#pick(values)
        return `'${this.#pick([value, enumName(value)])}'`
      }
      case 'boolean':
        return this.#pick(['true', 'false'])
    }
  }

  #navigations(entity: Entity): readonly {
    readonly navigation: Navigation
    readonly target: Entity
    readonly isList: boolean
  }[] {
    return entity.navigations.flatMap((navigation) => {
      const target = this.#model.find(navigation.target, this.#version)
      if (target === undefined || !navigation.versions.includes(this.#version)) return []
      return [{ navigation, target, isList: leadsToList(navigation, this.#version) }]
    })
  }

  #operator(): string {
    return this.#pick(['eq', 'ne', 'gt', 'ge', 'lt', 'le'])
  }

  /** A whole number from 0 to less than `below`. */
  #one(below: number): number {
    return Math.floor(this.#chance() * below)
  }

  #pick<T>(of: readonly T[]): T {
    // Every list here has an entry.
    return of[this.#one(of.length)] as T
  }
}
