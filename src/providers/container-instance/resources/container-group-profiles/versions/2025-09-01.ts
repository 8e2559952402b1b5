/**
 * The wire form of container group profiles in 2025-09-01 (facts 4.1, 4.3). Each PUT with a change is a revision.
 */

import Type from 'typebox'
import { type JsonObject, sameJson } from '#kernel/patch.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Version } from '#plane/declare/wire.ts'
import type { ContainerLimits } from '../../../domain/limits.ts'
import { splitSecrets } from '../../../domain/sealed-secrets.ts'
import { sizeProblems } from '../../container-groups/rules/size.ts'
import { profileProperties } from '../../container-groups/versions/shapes.ts'
import {
  type ContainerGroupProfile,
  openRevision,
  type ProfileRevision,
  sealRevision,
} from '../model.ts'

const body = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  zones: Type.Optional(Type.Array(Type.String())),
  properties: profileProperties,
})

export const profileAnswer = Type.Object({
  zones: Type.Optional(Type.Array(Type.String())),
  properties: Type.Object({ ...profileProperties.properties, revision: Type.Integer() }),
})

interface PreparedProfile {
  readonly zones?: readonly string[]
  readonly properties: JsonObject
  readonly place: string
}

export function profileVersion(
  seal: Seal,
  limits: ContainerLimits,
): Version<ContainerGroupProfile> {
  return {
    date: '2025-09-01',
    body,
    answer: profileAnswer,
    unknownProperties: 'ignore',
    scalars: 'lenient',
    patch: 'tags',
    problems: (given: PreparedProfile) => sizeProblems(given, limits),
    toModel(given: PreparedProfile, previous: ContainerGroupProfile | undefined) {
      const { place, zones, properties } = given
      const last = previous?.revisions.at(-1)
      const same =
        last !== undefined &&
        sameJson(last.zones, zones) &&
        sameJson(openRevision(seal, place, last), properties)
      if (previous !== undefined && same) return previous
      // What the schema declares as an object is an object.
      const shown = splitSecrets(profileProperties, properties).shown as JsonObject
      const revision: ProfileRevision = {
        revision: (last?.revision ?? 0) + 1,
        ...(zones === undefined ? {} : { zones }),
        shown,
        sealed: sealRevision(seal, place, properties),
      }
      return { place, revisions: keptRevisions([...(previous?.revisions ?? []), revision], limits) }
    },
    fromModel(model: ContainerGroupProfile) {
      const last = model.revisions.at(-1)
      if (last === undefined) throw new Error('a profile has a revision')
      return showRevision(last)
    },
  }
}

/** The newest revisions within the limits of their number and total bytes; the last one always stays. */
function keptRevisions(
  revisions: readonly ProfileRevision[],
  { revisionsPerProfileMax, revisionBytesMax }: ContainerLimits,
): readonly ProfileRevision[] {
  const kept: ProfileRevision[] = []
  let bytes = 0
  for (const one of revisions.slice(-revisionsPerProfileMax).toReversed()) {
    // The shown form is a part of the sealed one, so it is at most as long.
    bytes += 2 * one.sealed.length
    if (kept.length > 0 && bytes > revisionBytesMax) break
    kept.unshift(one)
  }
  return kept
}

export function showRevision(one: ProfileRevision): Readonly<Record<string, unknown>> {
  return {
    ...(one.zones === undefined ? {} : { zones: one.zones }),
    properties: { ...one.shown, revision: one.revision },
  }
}
