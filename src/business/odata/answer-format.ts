/**
 * How much an answer says about itself (`odata.metadata`), and whether numbers that a double may not hold are texts
 * (`IEEE754Compatible`), as `$format` or else `Accept` asks. What is asked usually costs nothing.
 */

import { type Entity, type Field, fieldsIn, type Version } from '../entity.ts'
import { refuse } from '../errors.ts'
import { below } from './addressed-row.ts'

export interface AnswerFormat {
  readonly metadata: 'none' | 'minimal' | 'full'
  readonly isIeee754: boolean
}

export const usualFormat: AnswerFormat = Object.freeze({ metadata: 'minimal', isIeee754: false })

/** `$format` overrides `Accept` (OData 4.0). Ranges of other types are ignored: JSON is the only format. */
export function readFormat(option: string | undefined, accept: string | undefined): AnswerFormat {
  const ranges = option === undefined ? (accept ?? '').split(',') : [option]
  const range = ranges.find((one) => /^\s*(?:application\/json|json)\s*(?:;|$)/i.test(one))
  if (range === undefined || !range.includes(';')) return usualFormat
  const given = new Map(
    range
      .split(';')
      .slice(1)
      .map((one) => {
        const [name = '', value = ''] = one.split('=')
        return [name.trim().toLowerCase(), value.trim().replace(/^"|"$/g, '').toLowerCase()]
      }),
  )
  const metadata = given.get('odata.metadata') ?? given.get('metadata') ?? 'minimal'
  if (metadata !== 'none' && metadata !== 'minimal' && metadata !== 'full') {
    throw refuse.BadRequest({
      reason: `'odata.metadata' is '${metadata.slice(0, 40)}'; it may be none, minimal or full.`,
    })
  }
  return { metadata, isIeee754: given.get('ieee754compatible') === 'true' }
}

export function contentTypeOf({ metadata, isIeee754 }: AnswerFormat): string {
  const numbers = isIeee754 ? '; IEEE754Compatible=true' : ''
  return `application/json; odata.metadata=${metadata}${numbers}; charset=utf-8`
}

export function isUsual({ metadata, isIeee754 }: AnswerFormat): boolean {
  return metadata === 'minimal' && !isIeee754
}

/** The place of a row, for the annotations of `full`. */
interface RowPlace {
  /** `https://host/api/v2.0`. */
  readonly root: string
  readonly namespace: string
  readonly companyId: string | undefined
}

/** The fields of a row in a format other than the default; the first of `fields` is its tag. */
export function formatted(
  format: AnswerFormat,
  { entity, version }: { readonly entity: Entity; readonly version: Version },
  row: { readonly id: string; readonly fields: Readonly<Record<string, unknown>> },
  place: RowPlace,
): Record<string, unknown> {
  const { '@odata.etag': etag, ...own } = row.fields
  const shown = new Map(fieldsIn(entity, version).map((field) => [field.name, field]))
  const fields: Record<string, unknown> = {}
  const isFull = format.metadata === 'full'
  if (isFull) Object.assign(fields, aboutRow(entity, version, row, place))
  if (format.metadata !== 'none') fields['@odata.etag'] = etag
  for (const [name, value] of Object.entries(own)) {
    const field = shown.get(name)
    const type =
      isFull && value !== null && field !== undefined ? typeOf(field, version, place) : ''
    if (type !== '') fields[`${name}@odata.type`] = `#${type}`
    fields[name] = format.isIeee754 && field !== undefined ? asTexts(field, value) : value
  }
  return isFull ? { ...fields, ...linksOf(entity, version, String(fields['@odata.id'])) } : fields
}

function aboutRow(
  entity: Entity,
  version: Version,
  { id, fields }: { readonly id: string; readonly fields: Readonly<Record<string, unknown>> },
  { root, namespace, companyId }: RowPlace,
): object {
  const own = fields[entity.key]
  const isText = fieldsIn(entity, version).some(
    ({ name, type }) => name === entity.key && type.kind === 'string',
  )
  // The row's id is a key too, if its own key was not selected.
  const quoted = (text: string) => `'${encodeURIComponent(text.replaceAll("'", "''"))}'`
  const key = isText && own !== undefined ? quoted(String(own)) : id
  const within = entity.scope === 'company' ? below(companyId) : ''
  const address = `${root}/${within}${entity.set}(${key})`
  return {
    '@odata.type': `#${namespace}.NAV.${entity.type}`,
    '@odata.id': address,
    '@odata.editLink': address,
  }
}

function linksOf(entity: Entity, version: Version, address: string): object {
  const links: Record<string, string> = {}
  for (const { name, versions } of entity.navigations) {
    if (!versions.includes(version)) continue
    links[`${name}@odata.associationLink`] = `${address}/${name}/$ref`
    links[`${name}@odata.navigationLink`] = `${address}/${name}`
  }
  return links
}

/** Types that JSON does not express by itself. */
function typeOf({ type }: Field, version: Version, { namespace }: RowPlace): string {
  switch (type.kind) {
    case 'guid':
      return 'Guid'
    case 'integer':
      return 'Int32'
    case 'decimal':
      return 'Decimal'
    case 'date':
      return 'Date'
    case 'moment':
      return 'DateTimeOffset'
    case 'enum':
      return version === 'v1.0' ? '' : `${namespace}.NAV.${type.name}`
    case 'complex':
      return `${namespace}.NAV.${type.name}`
    default:
      return ''
  }
}

function asTexts({ type }: Field, value: unknown): unknown {
  if (type.kind === 'decimal') return typeof value === 'number' ? String(value) : value
  if (type.kind !== 'complex' || typeof value !== 'object' || value === null) return value
  const inner = new Map(type.fields.map((field) => [field.name, field]))
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => {
      const field = inner.get(name)
      return [name, field === undefined ? one : asTexts(field, one)]
    }),
  )
}
