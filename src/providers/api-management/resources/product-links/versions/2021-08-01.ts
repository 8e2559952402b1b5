/** Links on the wire: a body says nothing, the name says all; answered is what the link leads to. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { LinkTarget } from '../model.ts'

/** Put there when the link is made. */
interface Prepared {
  readonly target?: LinkTarget
}

/** `target`: the shape of what is linked, in the same version. */
export function productLink(target: Version<LinkTarget>): Version<LinkTarget> {
  return {
    date: target.date,
    body: Type.Object({}),
    answer: target.answer,
    unknownProperties: 'ignore',
    patch: 'none',
    toModel: ({ target: found }: Prepared, previous) => found ?? previous ?? {},
    fromModel: (model, view) => target.fromModel(model, view),
  }
}
