/** The routes of the directory as the edge mounts them; what they write leaves its records. */

import { duringAct, newAct } from '#activity/act.ts'
import { targetOf } from '#activity/record.ts'
import { type DirectoryRoute as MountedRoute, ownAction } from '#http/directory.ts'
import { directoryRoutes } from '#identity/directory-api.ts'
import type { Identity } from '#identity/identity.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { randomIds as ids } from './random-ids.ts'

export function directoryTable(identity: Identity, words: VendorWords): readonly MountedRoute[] {
  const rotate: MountedRoute = {
    method: 'POST',
    path: '/directory/keys/rotate',
    action: 'Directory/keys/rotate/action',
    status: 200,
    run: async () => ({ keyId: await identity.rotateKeys() }),
  }
  const routes = directoryRoutes.map(
    (route): MountedRoute => ({
      ...route,
      run: (params, body, query, { principal }) =>
        route.run(identity.directory, params, body, Object.fromEntries(query), {
          secret: (bytes) => ids.secret(bytes),
          callerId: principal.id,
        }),
    }),
  )
  // What a route writes leaves its record in the directory's own transactions.
  return [...routes, rotate].map((route) => ({
    ...route,
    run: (params, body, query, trail) => {
      const path = route.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '')
      const act = newAct(trail, qualify(words, route.action ?? ownAction), targetOf(path))
      return duringAct(act, () => route.run(params, body, query, trail))
    },
  }))
}
