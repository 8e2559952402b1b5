/** Resource groups on the wire, version 2021-04-01 (facts 9.8), and the versions that have the same shape. */

import Type, { type Static } from 'typebox'
import type { Version, View } from '#plane/declare/wire.ts'
import { managerVersions } from '../../../published-versions.ts'
import type { ResourceGroup } from '../model.ts'

const body = Type.Object({
  location: Type.Optional(Type.String()),
  tags: Type.Optional(Type.Record(Type.String(), Type.String())),
  managedBy: Type.Optional(Type.String()),
  properties: Type.Optional(Type.Object({})),
})

const answer = Type.Object({
  location: Type.String(),
  tags: Type.Record(Type.String(), Type.String()),
  managedBy: Type.Optional(Type.String()),
  properties: Type.Object({ provisioningState: Type.String() }),
})

export const v2021_04_01: Version<ResourceGroup> = {
  date: '2021-04-01',
  body,
  answer,
  unknownProperties: 'ignore',
  toModel({ managedBy }: Static<typeof body>): ResourceGroup {
    return managedBy === undefined ? {} : { managedBy }
  },
  fromModel(model: ResourceGroup, view: Pick<View, 'state'>) {
    return { ...model, properties: { provisioningState: view.state } }
  },
}

export const resourceGroupVersions: readonly Version<ResourceGroup>[] = managerVersions.map(
  (date) => (date === v2021_04_01.date ? v2021_04_01 : { ...v2021_04_01, date }),
)
