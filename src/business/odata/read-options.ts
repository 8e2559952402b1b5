/**
 * Parses query options for an entity and its version, including those inside `$expand(…)`. All options are checked
 * and limited here, before a store is asked. It reads no rows.
 */

import { parseFilter, parseOrder } from '#kernel/filter/parse.ts'
import { checkFilter, checkOrder } from '../compile/check.ts'
import type { Expression, OrderExpression } from '../compile/expression.ts'
import { businessProfile } from '../compile/functions.ts'
import { rootSource } from '../compile/paths.ts'
import {
  type Entity,
  type Field,
  fieldsIn,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { refuse } from '../errors.ts'
import { type SystemOption, splitOutside, systemOption, unknownOption } from './address.ts'
import { type AnswerFormat, usualFormat } from './answer-format.ts'
import { type BoundValues, withValues } from './bound-values.ts'
import { odataLimits } from './limits.ts'
import { type ExpandOption, plainOptions, type QueryOptions } from './options.ts'
import { splitPeriod } from './period.ts'

type Raw = ReadonlyMap<SystemOption, string>

/** The context of the options besides their entity. */
interface Given {
  readonly system: Raw
  readonly values: BoundValues
  readonly format: AnswerFormat
}

/** All options of one request. Expansions are counted over all levels. */
export function readOptions(
  model: Model,
  entity: Entity,
  version: Version,
  given: Given,
): QueryOptions {
  if (given.system.size === 0 && given.format === usualFormat) return plainOptions(entity, version)
  return new OptionsReader(model, version, given).options(entity, given.system, 0)
}

class OptionsReader {
  readonly #model: Model
  readonly #version: Version
  readonly #given: Given
  #expands = 0

  constructor(model: Model, version: Version, given: Given) {
    this.#model = model
    this.#version = version
    this.#given = given
  }

  options(entity: Entity, raw: Raw, depth: number): QueryOptions {
    const selected = raw.get('$select')
    const { fields, text } =
      selected === undefined
        ? { fields: fieldsIn(entity, this.#version), text: undefined }
        : this.#select(entity, selected)
    const expand = raw.get('$expand')
    return {
      ...splitPeriod(entity, this.#filter(entity, raw.get('$filter'))),
      orderBy: this.#orderBy(entity, raw.get('$orderby')),
      fields,
      selected: text,
      expand: expand === undefined ? [] : this.#expand(entity, expand, depth),
      top: wholeNumber('$top', raw.get('$top')),
      skip: wholeNumber('$skip', raw.get('$skip')) ?? 0,
      count: flag(raw.get('$count')),
      skipToken: raw.get('$skiptoken'),
      format: this.#given.format,
    }
  }

  #filter(entity: Entity, text: string | undefined): Expression | undefined {
    if (text === undefined) return undefined
    refuseBlank('$filter', text)
    const parsed = parseFilter(text, businessProfile)
    if (!parsed.ok) throw misread('$filter', parsed.message)
    const node = withValues(parsed.node, this.#given.values)
    return checkFilter(node, rootSource(entity, this.#version), this.#model)
  }

  #orderBy(entity: Entity, text: string | undefined): readonly OrderExpression[] {
    if (text === undefined) return []
    refuseBlank('$orderby', text)
    const parsed = parseOrder(text, businessProfile)
    if (!parsed.ok) throw misread('$orderby', parsed.message)
    const terms = parsed.terms.map(({ node, direction }) => ({
      node: withValues(node, this.#given.values),
      direction,
    }))
    return checkOrder(terms, rootSource(entity, this.#version), this.#model)
  }

  #navigations(entity: Entity): readonly Navigation[] {
    const version = this.#version
    return entity.navigations.filter(
      (one) =>
        one.versions.includes(version) && this.#model.find(one.target, version) !== undefined,
    )
  }

  #select(entity: Entity, text: string): { fields: readonly Field[]; text: string | undefined } {
    const all = fieldsIn(entity, this.#version)
    const items = text.split(',').map((one) => one.trim())
    if (items.length > odataLimits.selectMax) {
      throw misread('$select', `at most ${odataLimits.selectMax} names`)
    }
    if (items.includes('*')) return { fields: all, text: undefined }
    const whole = new Set<string>()
    const parts = new Map<string, Set<string>>()
    for (const item of items) {
      const [name = '', inner, ...more] = item.split('/')
      const field = all.find((one) => one.name === name)
      const isNavigation = this.#navigations(entity).some((one) => one.name === name)
      if (field === undefined) {
        if (isNavigation && inner === undefined) continue
        throw unknownName('$select', item, entity, all.map((one) => one.name).sort())
      }
      if (inner === undefined) whole.add(name)
      else {
        const { type } = field
        const has = type.kind === 'complex' && type.fields.some((one) => one.name === inner)
        if (!has || more.length > 0) {
          const known = type.kind === 'complex' ? type.fields.map((one) => one.name) : []
          throw unknownName('$select', item, entity, known)
        }
        const set = parts.get(name) ?? new Set()
        parts.set(name, set.add(inner))
      }
    }
    const fields = all
      .filter((one) => whole.has(one.name) || parts.has(one.name))
      .map((one) => {
        const kept = whole.has(one.name) ? undefined : parts.get(one.name)
        if (kept === undefined || one.type.kind !== 'complex') return one
        const inner = one.type.fields.filter((part) => kept.has(part.name))
        return { ...one, type: { ...one.type, fields: inner } }
      })
    return { fields, text: items.join(',') }
  }

  #expand(entity: Entity, text: string, depth: number): readonly ExpandOption[] {
    if (depth >= odataLimits.expandDepthMax) {
      throw misread('$expand', `at most ${odataLimits.expandDepthMax} levels inside each other`)
    }
    const known = this.#navigations(entity)
    const items = splitOutside(text, ',').map((one) => one.trim())
    const wanted = items.flatMap((one) => (one === '*' ? known.map(({ name }) => name) : [one]))
    if (wanted.length > odataLimits.expandBreadthMax) {
      throw misread('$expand', `at most ${odataLimits.expandBreadthMax} navigations at one level`)
    }
    const result = new Map<string, ExpandOption>()
    for (const item of wanted) {
      this.#expands++
      if (this.#expands > odataLimits.expandsMax) {
        throw misread('$expand', `at most ${odataLimits.expandsMax} navigations in all`)
      }
      const open = item.indexOf('(')
      if (open >= 0 && !item.endsWith(')'))
        throw misread('$expand', `")" at the end of '${item.slice(0, 60)}'`)
      const name = (open < 0 ? item : item.slice(0, open)).trim()
      const inner = open < 0 ? '' : item.slice(open + 1, -1)
      const navigation = known.find((one) => one.name === name)
      const target =
        navigation === undefined ? undefined : this.#model.find(navigation.target, this.#version)
      if (navigation === undefined || target === undefined) {
        throw unknownName('$expand', name, entity, known.map((one) => one.name).sort())
      }
      if (result.has(name)) throw misread('$expand', `'${name}' only once`)
      const options = this.options(target, innerOptions(inner), depth + 1)
      result.set(name, { navigation, entity: target, options, text: inner })
    }
    return [...result.values()]
  }
}

/** The options inside the parentheses of one expanded navigation. */
function innerOptions(text: string): Raw {
  const raw = new Map<SystemOption, string>()
  for (const part of splitOutside(text, ';')) {
    if (part.trim() === '') continue
    const equals = part.indexOf('=')
    const name = (equals < 0 ? part : part.slice(0, equals)).trim()
    const option = systemOption(name)
    const outside: readonly (SystemOption | undefined)[] = [
      undefined,
      '$skiptoken',
      '$deltatoken',
      '$format',
      '$schemaversion',
    ]
    if (option === undefined || outside.includes(option)) throw unknownOption(`$expand(…${name}…)`)
    if (raw.has(option)) throw misread('$expand', `'${option}' only once`)
    raw.set(option, equals < 0 ? '' : part.slice(equals + 1))
  }
  return raw
}

/** The grammar allows no blank there. */
function refuseBlank(option: string, text: string): void {
  if (/^\s/.test(text)) throw misread(option, 'an expression right behind the equals sign')
}

function misread(option: string, reason: string): Error {
  return refuse.Application_FilterErrorException({ option, reason: `${reason}.` })
}

function unknownName(
  option: string,
  name: string,
  entity: Entity,
  known: readonly string[],
): Error {
  const list = known.length === 0 ? 'none' : known.join(', ')
  return refuse.BadRequest({
    reason: `The option '${option}' names '${name.slice(0, 100)}', which the type '${entity.type}' does not have; it has ${list}.`,
  })
}

function wholeNumber(option: '$top' | '$skip', text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = /^\d{1,10}$/.test(text.trim()) ? Number(text) : Number.NaN
  if (!(value <= odataLimits.skipMax)) {
    throw misread(
      option,
      `a whole number from 0 to ${odataLimits.skipMax}, not '${text.slice(0, 30)}'`,
    )
  }
  return value
}

function flag(text: string | undefined): boolean {
  if (text === undefined || text === 'false') return false
  if (text === 'true') return true
  throw misread('$count', `true or false, not '${text.slice(0, 30)}'`)
}
