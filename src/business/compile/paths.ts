/**
 * Resolves the paths of a filter or an order to a column, a count or a list. A name that the entity does not have
 * in this version is refused with the names it has.
 */

import type { PathNode } from '#kernel/filter/nodes.ts'
import { filterProblem, quoted } from '#kernel/filter/problem.ts'
import {
  type ColumnIs,
  type Field,
  fieldsIn,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { refuse } from '../errors.ts'
import type { Expression, Kind, Source } from './expression.ts'
import { constant, type Place } from './typing.ts'

/** The option that contains the text, for messages. */
type OptionName = '$filter' | '$orderby'

/** The requested rows, as the source that filter and order begin with. */
export function rootSource(entity: Source['entity'], version: Version): Source {
  return { number: 0, entity, version }
}

/** The number of navigations in a path. */
const stepsMax = 6
/** The number of names listed in one message. */
const listedMax = 30

/** Whether the navigation leads to a list in this version. In v1.0 every one does (business facts 3). */
export function leadsToList(navigation: Navigation, version: Version): boolean {
  return navigation.many || version === 'v1.0'
}

/** Each row of either side belongs to at most one row of the other. */
function isOneToOne({ on }: Navigation): boolean {
  return on.local === 'id' && on.foreign === 'id'
}

interface Variable {
  readonly name: string
  readonly source: Source
}

export class Paths {
  readonly #option: OptionName
  readonly #root: Source
  readonly #model: Model
  #variables: readonly Variable[] = []
  #sources = 1
  /** Sources of which each row is looked at once for all rows of the request. */
  readonly #once: Set<Source>

  constructor(option: OptionName, root: Source, model: Model) {
    this.#option = option
    this.#root = root
    this.#model = model
    this.#once = new Set([root])
  }

  refuse(position: number, expected: string, found: string): never {
    const { message } = filterProblem(position, expected, found)
    throw refuse.Application_FilterErrorException({ option: this.#option, reason: `${message}.` })
  }

  /** The rows of the list at a path. */
  list(node: PathNode): Source {
    const { source: owner, rest } = this.#begin(node)
    const [name, ...more] = rest
    const navigation = name === undefined ? undefined : this.#navigation(owner, name)
    if (navigation === undefined || more.length > 0 || !leadsToList(navigation, owner.version)) {
      return this.#unknown(node, owner, 'list')
    }
    return this.#list(owner, navigation, node)
  }

  /** Rows that are gone through. What many rows share, or an outer row has, would be gone through for each of them. */
  #list(owner: Source, navigation: Navigation, node: PathNode): Source {
    if (navigation.many && !this.#isAtHand(owner)) return this.#multiplies(node)
    return this.#source(owner, navigation, node)
  }

  /** The row of the innermost variable, or else of the request, and what is its own. */
  #isAtHand(source: Source): boolean {
    if (!this.#once.has(source)) return false
    if (source === (this.#variables.at(-1)?.source ?? this.#root)) return true
    const { from } = source
    return from !== undefined && isOneToOne(from.navigation) && this.#isAtHand(from.source)
  }

  #multiplies(node: PathNode): never {
    const expected = 'lists and sums of the row itself (within any and all, of its variable)'
    return this.refuse(node.position, expected, quoted(node.segments.join('/')))
  }

  /** Runs `work` while paths may begin with `name`. */
  naming<T>(name: string, source: Source, work: () => T): T {
    const outer = this.#variables
    this.#variables = [...outer, { name, source }]
    const made = work()
    this.#variables = outer
    return made
  }

  /** The source of a path, innermost variable first, and the rest of the path. */
  #begin(node: PathNode): { readonly source: Source; readonly rest: readonly string[] } {
    const head = node.segments[0]
    const variable = this.#variables.findLast((one) => one.name === head)
    if (variable !== undefined) return { source: variable.source, rest: node.segments.slice(1) }
    const rest = head === '$it' ? node.segments.slice(1) : node.segments
    return { source: this.#root, rest }
  }

  #navigation(source: Source, name: string): Navigation | undefined {
    const { entity, version } = source
    const found = entity.navigations.find((one) => one.name === name)
    if (found === undefined || !found.versions.includes(version)) return undefined
    return this.#model.find(found.target, version) === undefined ? undefined : found
  }

  #source(owner: Source, navigation: Navigation, node: PathNode): Source {
    const entity = this.#model.find(navigation.target, owner.version)
    if (entity === undefined) return this.#unknown(node, owner, 'navigation')
    const number = this.#sources++
    const from = { source: owner, navigation }
    const source: Source = { number, entity, version: owner.version, from }
    const isOnce = navigation.many || isOneToOne(navigation)
    if (isOnce && this.#isAtHand(owner)) this.#once.add(source)
    return source
  }

  expression(node: PathNode): Expression {
    const { source, rest } = this.#begin(node)
    if (rest.length > stepsMax) {
      return this.refuse(node.position, `at most ${stepsMax} steps in a path`, 'more')
    }
    return this.#steps(node, source, rest)
  }

  #steps(node: PathNode, source: Source, rest: readonly string[]): Expression {
    const [name, ...more] = rest
    if (name === undefined) return this.#unknown(node, source, 'field')
    const navigation = this.#navigation(source, name)
    // A navigation and an object of v1.0 may share a name; the object has fields.
    const field = fieldsIn(source.entity, source.version).find((one) => one.name === name)
    if (field !== undefined) return this.#field(node, { source, absent: [] }, field, more)
    if (navigation === undefined || more.length === 0) return this.#unknown(node, source, 'field')
    if (leadsToList(navigation, source.version)) {
      if (more.length > 1 || more[0] !== '$count') {
        return this.refuse(
          node.position,
          `${name}/$count, or any(…) or all(…) after ${name}/`,
          quoted(node.segments.join('/')),
        )
      }
      const rows = this.#list(source, navigation, node)
      return { form: 'count', kind: 'integer', nullable: false, source: rows }
    }
    const row = this.#source(source, navigation, node)
    const value = this.#steps(node, row, more)
    return { form: 'related', kind: value.kind, nullable: true, source: row, value }
  }

  #field(node: PathNode, place: Place, field: Field, rest: readonly string[]): Expression {
    const { type } = field
    const { source } = place
    if (type.kind === 'complex') {
      const inner = type.fields.find((one) => one.name === rest[0])
      if (inner === undefined) {
        const known = type.fields.map((one) => `${field.name}/${one.name}`).join(', ')
        return this.refuse(node.position, `a field (${known})`, quoted(node.segments.join('/')))
      }
      const absent = type.absent === undefined ? [] : [type.absent]
      const within = { source, absent: [...place.absent, ...absent] }
      return this.#field(node, within, inner, rest.slice(1))
    }
    if (rest.length > 0) return this.#unknown(node, source, 'field')
    if (type.kind === 'nothing') return constant('text', null)
    const { view } = source.entity
    const isSum = view?.sums !== undefined && view.period === undefined
    if (isSum && view.columns.has(field.column) && !this.#isAtHand(source))
      return this.#multiplies(node)
    const empty: readonly ColumnIs[] = field.nullWhenEmpty
      ? [
          {
            column: field.column,
            value: '',
            ...(field.join === undefined ? {} : { join: field.join }),
          },
        ]
      : []
    const absent = [...place.absent, ...empty]
    return {
      form: 'column',
      kind: kindOf(field, source.version),
      nullable: absent.length > 0,
      source,
      column: field.column,
      join: field.join,
      absent,
      values: type.kind === 'enum' ? type.values : undefined,
    }
  }

  #unknown(node: PathNode, source: Source, what: 'field' | 'list' | 'navigation'): never {
    const { entity, version } = source
    const names =
      what === 'field'
        ? fieldsIn(entity, version).map((one) => one.name)
        : entity.navigations
            .filter((one) => one.versions.includes(version))
            .filter((one) => what !== 'list' || leadsToList(one, version))
            .map((one) => one.name)
    const known = [...new Set(names)].sort().slice(0, listedMax).join(', ')
    const name = node.segments.join('/').slice(0, 100)
    throw refuse.BadRequest(
      {
        reason: `The option '${this.#option}' names '${name}' at position ${node.position}, but the type '${entity.type}' has no such ${what}; it has ${known === '' ? 'none' : known}.`,
      },
      { target: name },
    )
  }
}

function kindOf(field: Field, version: Version): Kind {
  switch (field.type.kind) {
    case 'string':
      return 'text'
    case 'enum':
      // In v1.0 enumerations are plain strings (business facts 12).
      return version === 'v1.0' ? 'text' : 'enum'
    case 'guid':
    case 'date':
    case 'integer':
    case 'moment':
    case 'decimal':
    case 'boolean':
      return field.type.kind
    case 'nothing':
    case 'complex':
      throw new Error(`The field ${field.name} has no column of its own.`)
  }
}
