/**
 * `GET /providers/…/deniedRequests/{correlation id}`, an extension of ours: what a request that was refused
 * with 403 asked for. Kept for a while by the installation; read only.
 */

import Type from 'typebox'
import { nameOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'

export interface DeniedRequest {
  readonly at: number
  readonly correlationId: string
  readonly principalId: string
  readonly action: string
  readonly scope: string
  readonly request?: Readonly<Record<string, unknown>>
}

export type FindDenied = (correlationId: string) => Promise<DeniedRequest | undefined>

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    at: text,
    principalId: text,
    action: text,
    scope: text,
    request: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
})

export function deniedRequests(find: FindDenied): ResourceType {
  return defineComputed({
    type: 'Authorization/deniedRequests',
    description: 'Requests that were refused for want of a permission (an extension of ours).',
    scope: 'tenant',
    apiVersions: ['2022-04-01'],
    answer: added(answer),
    source: {
      async get({ id, words }) {
        const found = await find(nameOf(id))
        if (found === undefined) return undefined
        const { at, correlationId, principalId, action, scope, request } = found
        return {
          id: id.text,
          name: correlationId,
          type: qualify(words, 'Authorization/deniedRequests'),
          properties: {
            at: new Date(at).toISOString(),
            principalId,
            action,
            scope,
            ...(request === undefined ? {} : { request }),
          },
        }
      },
    },
  })
}
