/** The words that events are filtered by, for clients that offer them to choose from. Computed. */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { eventLevels, eventStatuses, eventTypes } from '../../domain/event.ts'

const type = 'ResourceHealth/metadata'

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    displayName: text,
    applicableScenarios: Type.Array(text),
    supportedValues: Type.Array(Type.Object({ id: text, displayName: text })),
  }),
})

const entities = {
  eventTypes: { displayName: 'Event type', values: eventTypes },
  eventLevels: { displayName: 'Level', values: eventLevels },
  status: { displayName: 'Status', values: eventStatuses },
} as const

export function metadata(words: VendorWords, versions: readonly string[]): ResourceType {
  const full = qualify(words, type)
  const all = Object.entries(entities).map(([name, { displayName, values }]) => ({
    id: `/providers/${full}/${name}`,
    name,
    type: full,
    properties: {
      displayName,
      applicableScenarios: ['Alerts'],
      supportedValues: values.map((id) => ({ id, displayName: spaced(id) })),
    },
  }))
  return defineComputed({
    type,
    description: 'The words that events are filtered by.',
    scope: 'tenant',
    apiVersions: versions,
    answer,
    source: {
      get: async ({ id }) =>
        all.find(({ name }) => name.toLowerCase() === nameOf(id).toLowerCase()),
      list: async () => ({ items: all }),
    },
  })
}

/** `ServiceIssue` for people: `Service issue`. */
function spaced(word: string): string {
  return word.replaceAll(/(?<=[a-z])[A-Z](?=[a-z])/g, (letter) => ` ${letter.toLowerCase()}`)
}
