/** The routes of the directory as the edge mounts them. Their writes are recorded. */

import { targetOf } from '#activity/record.ts'
import { newRequestActivity, withRequestActivity } from '#activity/request-activity.ts'
import { type DirectoryRoute as MountedRoute, ownAction } from '#http/directory.ts'
import { directoryRoutes } from '#identity/directory-api.ts'
import { graphRoutes } from '#identity/graph-api.ts'
import type { Identity } from '#identity/identity.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { randomIds as ids } from './random-ids.ts'

export function directoryTable(
  {
    identity,
    keys,
    unrecorded,
  }: {
    readonly identity: Identity
    readonly keys: readonly MountedRoute[]
    /** These routes write their records themselves, or change nothing. */
    readonly unrecorded: readonly MountedRoute[]
  },
  words: VendorWords,
): readonly MountedRoute[] {
  const rotate: MountedRoute = {
    method: 'POST',
    path: '/directory/keys/rotate',
    action: 'Directory/keys/rotate/action',
    status: 200,
    run: async () => ({ keyId: await identity.rotateKeys() }),
  }
  const routes = [...directoryRoutes, ...graphRoutes(words.namespace)].map(
    (route): MountedRoute => ({
      ...route,
      run: (params, body, query, { principal }) =>
        route.run(identity.directory, {
          params,
          body,
          query: Object.fromEntries(query),
          secret: (bytes) => ids.secret(bytes),
          callerId: principal.id,
        }),
    }),
  )
  // A route's write is recorded in the directory's own transactions.
  const recorded = [...routes, rotate, ...keys].map(
    (route): MountedRoute => ({
      ...route,
      run: (params, body, query, caller) => {
        const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
        const requestActivity = newRequestActivity(
          caller,
          qualify(words, route.action ?? ownAction),
          targetOf(path),
          caller,
        )
        return withRequestActivity(requestActivity, () => route.run(params, body, query, caller))
      },
    }),
  )
  return [...recorded, ...unrecorded]
}
