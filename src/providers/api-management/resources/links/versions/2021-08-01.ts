/** The wire form of links: the body is empty, the name identifies the target, and the answer shows the target. */

import Type, { type TObject, type TSchema } from 'typebox'
import { added } from '#plane/declare/added.ts'
import type { Version } from '#plane/declare/wire.ts'
import { type LinkTarget, targetIn } from '../model.ts'

/** Added when the link is created. */
interface Prepared {
  readonly target?: LinkTarget
}

const lastChange = { specificationLastUpdated: added(Type.String({ readOnly: true })) }

/** Links of APIs show when the definition of the API changed last. */
function withLastChange(answer: TSchema): TSchema {
  // The shapes of targets are objects with `properties`.
  const { properties } = (answer as TObject).properties as { readonly properties: TObject }
  return Type.Object({ properties: Type.Object({ ...properties.properties, ...lastChange }) })
}

/** `target`: the shape of the link's target, in the same version. */
export function link(word: string, target: Version<LinkTarget>): Version<LinkTarget> {
  return {
    date: target.date,
    body: Type.Object({}),
    answer: word === 'apis' ? withLastChange(target.answer) : target.answer,
    unknownProperties: 'ignore',
    patch: 'none',
    toModel: ({ target: found }: Prepared, previous) => found ?? previous ?? {},
    fromModel: (model, view) => target.fromModel(targetIn(model), view),
  }
}
