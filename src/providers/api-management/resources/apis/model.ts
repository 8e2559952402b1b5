/** The stored form of an API: its address and description. Its operations are resources of their own. */

import { childOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'

export const protocols = ['http', 'https', 'ws', 'wss'] as const
export const apiKinds = ['http', 'soap', 'websocket', 'graphql', 'odata', 'grpc'] as const

type Json = Readonly<Record<string, unknown>>

export interface Api {
  readonly path: string
  readonly displayName?: string
  readonly description?: string
  readonly serviceUrl?: string
  readonly protocols?: readonly (typeof protocols)[number][]
  readonly apiRevision: string
  readonly apiRevisionDescription?: string
  readonly apiVersion?: string
  readonly apiVersionDescription?: string
  readonly apiVersionSetId?: string
  readonly apiVersionSet?: Json
  readonly subscriptionRequired: boolean
  readonly subscriptionKeyParameterNames?: { readonly header?: string; readonly query?: string }
  readonly type: (typeof apiKinds)[number]
  readonly authenticationSettings?: Json
  readonly contact?: { readonly name?: string; readonly url?: string; readonly email?: string }
  readonly license?: { readonly name?: string; readonly url?: string }
  readonly termsOfServiceUrl?: string
  readonly sourceApiId?: string
}

/** The version set that an API of a service says it belongs to, whether there is one or not. */
export function versionSetIdOf(
  api: ResourceId,
  { apiVersionSetId: given = '' }: Pick<Api, 'apiVersionSetId'>,
): ResourceId | undefined {
  const name = /(?:^|\/apiVersionSets\/)([^/]+)$/i.exec(given)?.[1]
  return name === undefined ? undefined : childOf(parentOf(api), 'apiVersionSets', name)
}
