/** Container group profiles on the wire, version 2025-09-01 (facts 4.1, 4.3). Each changing PUT is a revision. */

import Type from 'typebox'
import { type JsonObject, sameJson } from '#kernel/patch.ts'
import type { Seal } from '#kernel/ports.ts'
import type { Version } from '#plane/define.ts'
import { profileProperties } from '../../container-groups/shapes.ts'
import type { ContainerLimits } from '../../limits.ts'
import { splitSecrets } from '../../secret-parts.ts'
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

const answer = Type.Object({
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
  { revisionsPerProfileMax }: ContainerLimits,
): Version<ContainerGroupProfile> {
  return {
    date: '2025-09-01',
    body,
    answer,
    unknownProperties: 'ignore',
    patch: 'tags',
    toModel(given: PreparedProfile, previous: ContainerGroupProfile | undefined) {
      const { place, zones, properties } = given
      const last = previous?.revisions.at(-1)
      const same =
        last !== undefined &&
        sameJson(last.zones, zones) &&
        sameJson(openRevision(seal, place, last), properties)
      if (previous !== undefined && same) return previous
      // What the schema names of an object is an object.
      const shown = splitSecrets(profileProperties, properties).shown as JsonObject
      const revision: ProfileRevision = {
        revision: (last?.revision ?? 0) + 1,
        ...(zones === undefined ? {} : { zones }),
        shown,
        sealed: sealRevision(seal, place, properties),
      }
      const revisions = [...(previous?.revisions ?? []), revision].slice(-revisionsPerProfileMax)
      return { place, revisions }
    },
    fromModel(model: ContainerGroupProfile) {
      const last = model.revisions.at(-1)
      if (last === undefined) throw new Error('a profile has a revision')
      return showRevision(last)
    },
  }
}

export function showRevision(one: ProfileRevision): Readonly<Record<string, unknown>> {
  return {
    ...(one.zones === undefined ? {} : { zones: one.zones }),
    properties: { ...one.shown, revision: one.revision },
  }
}
