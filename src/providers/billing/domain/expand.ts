/**
 * What is below an account or a profile, shown inside it where a client asks so: `$expand=billingProfiles/invoiceSections`.
 * Older clients walk their accounts by one such question. Of each level a bounded number is shown, and only to callers
 * who may read it.
 */

import { nameOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context, Resource } from '#plane/declare/resource.ts'
import { profileStanding, type Standing, sectionStanding } from './standing.ts'

type Json = Readonly<Record<string, unknown>>

/** What can be shown inside a resource of a type. */
export interface ExpandableChild {
  /** The name in `$expand`, which is also the property. */
  readonly property: string
  readonly type: string
  readonly standing: Standing | undefined
  readonly below?: ExpandableChild
}

export const sectionsBelow: ExpandableChild = {
  property: 'invoiceSections',
  type: 'Billing/billingAccounts/billingProfiles/invoiceSections',
  standing: sectionStanding,
}
export const profilesBelow: ExpandableChild = {
  property: 'billingProfiles',
  type: 'Billing/billingAccounts/billingProfiles',
  standing: profileStanding,
  below: sectionsBelow,
}

const shownMax = 50

/** The requested names, `billingProfiles/invoiceSections` as two of them; undefined when nothing is requested. */
export function wantedOf(query: URLSearchParams): ReadonlySet<string> | undefined {
  const expand = query.get('$expand')
  if (expand === null || expand.trim() === '') return undefined
  return new Set(expand.split(/[,/]/).map((word) => word.trim().toLowerCase()))
}

/** The properties for nested items; none when they are not requested or may not be read. */
export async function expanded(
  context: Pick<Context, 'reader' | 'may' | 'words'>,
  id: ResourceId,
  below: ExpandableChild | undefined,
  wanted: ReadonlySet<string>,
): Promise<Json> {
  if (below === undefined || !wanted.has(below.property.toLowerCase())) return {}
  if (!(await context.may(`${below.type}/read`, id))) return {}
  const query = { type: below.type, under: id, limit: shownMax + 1 }
  const rows = await context.reader.list(query)
  const value: object[] = []
  for (const row of rows.slice(0, shownMax)) {
    const inner = await expanded(context, row.id, below.below, wanted)
    value.push(showEntity(context, row as Resource<object>, below, inner))
  }
  return { [below.property]: { hasMoreResults: rows.length > shownMax, value } }
}

/** In the form in which the plane shows one. */
export function showEntity(
  { words }: Pick<Context, 'words'>,
  resource: Resource<object>,
  { type, standing }: Pick<ExpandableChild, 'type' | 'standing'>,
  inner: Json,
): object {
  const { id, model, systemData } = resource
  return {
    id: id.text,
    name: nameOf(id),
    type: qualify(words, type),
    properties: { ...standing?.show(model, { ...resource, words }), ...model, ...inner },
    systemData,
  }
}
