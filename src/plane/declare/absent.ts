/**
 * Types of which there are none here, and never will be while the installation is what it is. Clients list them on their
 * way to something else; the empty list is the truth (decision 0161). Nothing can be written: the description says why.
 */

import Type from 'typebox'
import { type ComputedType, defineComputed } from './computed.ts'

type Absent = Pick<ComputedType, 'scope'> & { readonly apiVersions: readonly string[] }

/** One type for each description, by its name below `under`. */
export function defineAbsent(
  under: string,
  descriptions: Readonly<Record<string, string>>,
  shared: Absent,
): readonly ComputedType[] {
  return Object.entries(descriptions).map(([name, description]) =>
    defineComputed({
      type: `${under}/${name}`,
      description,
      ...shared,
      absent: true,
      query: { list: ['$filter'] },
      answer: Type.Object({}),
      source: { get: async () => undefined, list: async () => ({ items: [] }) },
    }),
  )
}
