/**
 * What the resources have in common that say who is billed and for what. They are changed by PUT and PATCH, and none is
 * ever deleted; what the ledger holds keeps the names they had when it was recorded.
 */

import Type, { type TObject } from 'typebox'
import type { Action } from '#plane/declare/action.ts'
import { added } from '#plane/declare/added.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Resource } from '#plane/declare/resource.ts'
import { defineStored, type StoredMembers, type WriteAnswers } from '#plane/declare/stored.ts'
import type { NameRule } from '#plane/declare/wire.ts'
import { pageAfter } from '#plane/page-after.ts'
import { type ExpandableChild, expanded, showEntity, wantedOf } from './expand.ts'
import type { Standing } from './standing.ts'

export const billingVersion = '2024-04-01'

export const title = Type.Optional(Type.String({ minLength: 1, maxLength: 256 }))
export const currency = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217' })
export const percent = Type.Optional(Type.Number({ minimum: 0, maximum: 100 }))

export const address = added(
  Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 500 }), {
    maxProperties: 30,
  }),
)

/** Whatever its owner wants to find it by. Answered as written. */
export const labels = added(
  Type.Record(Type.String({ maxLength: 512 }), Type.String({ maxLength: 256 }), {
    maxProperties: 50,
  }),
)

const unknownAddress = {
  addressLine1: '',
  city: '',
  region: '',
  postalCode: '',
  country: '',
  phoneNumber: '',
}

interface EntityOptions {
  readonly type: string
  readonly description: string
  readonly name: NameRule
  readonly properties: TObject
  /** The property that is an address. Clients read its lines, so a missing one has only the name. */
  readonly address?: 'soldTo' | 'billTo'
  /** Answered in addition, before what was written. */
  readonly standing?: Standing
  /** Shown inside it on request (`$expand`). */
  readonly below?: ExpandableChild
  /** The name of a sample; `part-1` when left out. */
  nameOf?(seed: number): string
  readonly sample: object
  readonly changed: object
  readonly actions?: Readonly<Record<string, Action<object>>>
  /** Published clients make some of them, and take a 201 for a failure. */
  readonly answers?: WriteAnswers
  problems?(properties: object): readonly { readonly path: string; readonly message: string }[]
}

export function billingEntity(options: EntityOptions): ResourceType {
  const body = Type.Object({ properties: options.properties })
  const answer = Type.Object({
    properties: Type.Object({ ...options.properties.properties, ...options.standing?.answer }),
  })
  return defineStored<object>({
    type: options.type,
    description: options.description,
    scope: 'tenant',
    query: { list: ['$expand'], get: ['$expand'] },
    name: options.name,
    verbs: ['get', 'list', 'put', 'patch'],
    ...(options.answers === undefined ? {} : { protocol: { answers: options.answers } }),
    versions: [
      {
        date: billingVersion,
        body,
        answer,
        unknownProperties: 'ignore',
        problems: ({ properties }: { readonly properties: object }) =>
          options.problems?.(properties) ?? [],
        toModel: ({ properties }: { readonly properties: object }) =>
          writtenOf(properties, options),
        fromModel: (model, view) => ({
          properties: { ...options.standing?.show(model, view), ...model },
        }),
      },
    ],
    ...(options.actions === undefined ? {} : { actions: options.actions }),
    ...(options.below === undefined ? {} : expansion(options, options.below)),
    sample: {
      name: options.nameOf ?? ((seed) => `part-${seed}`),
      body: () => ({ properties: options.sample }),
      changed: () => ({ properties: options.changed }),
    },
  })
}

/**
 * Reads with `$expand`: one resource by its own source, a list by its models, which then contain the nested items.
 */
function expansion(
  { type, standing }: EntityOptions,
  below: ExpandableChild,
): Pick<StoredMembers<object>, 'source' | 'list'> {
  return {
    source: {
      async get(context) {
        const wanted = wantedOf(context.query)
        const found = wanted && (await context.reader.get(context.id))
        if (wanted === undefined || found === undefined) return undefined
        const inner = await expanded(context, found.id, below, wanted)
        // The type's `toModel` made the rows.
        return showEntity(context, found as Resource<object>, { type, standing }, inner)
      },
    },
    list: {
      async page(context) {
        const { items, ...rest } = await pageAfter(context, type)
        const rows = items as readonly Resource<object>[]
        const wanted = wantedOf(context.query)
        if (wanted === undefined) return { items: rows, ...rest }
        const shown: Resource<object>[] = []
        for (const row of rows) {
          const inner = await expanded(context, row.id, below, wanted)
          shown.push({ ...row, model: { ...row.model, ...inner } })
        }
        return { items: shown, ...rest }
      },
    },
  }
}

/** What may be written, without members that are only answered: clients send back what they read. */
function writtenOf(
  properties: object,
  { properties: declared, standing, address: place }: EntityOptions,
): object {
  const isWritten = ([name]: readonly [string, unknown]): boolean =>
    Object.hasOwn(declared.properties, name) &&
    (standing === undefined || !Object.hasOwn(standing.answer, name))
  const written = Object.fromEntries(Object.entries(properties).filter(isWritten))
  if (place === undefined) return written
  const { displayName: companyName = '' } = written
  return { [place]: { companyName, ...unknownAddress }, ...written }
}
