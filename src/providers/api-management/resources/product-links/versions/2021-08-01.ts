/** The wire form of links: the body is empty, the name identifies the target, and the answer shows the target. */

import Type from 'typebox'
import type { Version } from '#plane/declare/wire.ts'
import type { LinkTarget } from '../model.ts'

/** Added when the link is created. */
interface Prepared {
  readonly target?: LinkTarget
}

/** `target`: the shape of the link's target, in the same version. */
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
