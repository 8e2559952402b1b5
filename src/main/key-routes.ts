/** The routes of the installation's key: show it, begin a rotation, show its progress. */

import type { DirectoryRoute } from '#http/directory.ts'
import { refuse } from '#kernel/error.ts'
import type { Keyring } from '#sealing/keyring.ts'
import type { Sql } from '#stores/store.ts'
import type { ServerHome } from '../installation/home.ts'
import { type GivenKeys, requireNextKey } from '../installation/installation-key.ts'
import type { Rotation } from '../installation/rotation.ts'

export function keyRoutes(options: {
  readonly config: GivenKeys
  readonly home: ServerHome
  readonly keyring: Keyring
  readonly rotation: Rotation
  /** Writes the record of the action. */
  readonly sql: Sql
}): readonly DirectoryRoute[] {
  const { config, home, keyring, rotation, sql } = options
  return [
    {
      method: 'GET',
      path: '/directory/keys/installation',
      action: 'Directory/keys/read',
      status: 200,
      run: () => rotation.status(),
    },
    {
      method: 'POST',
      path: '/directory/keys/installation/rotate',
      action: 'Directory/keys/rotate/action',
      status: 202,
      async run() {
        const { rotation: running } = await rotation.status()
        if (running !== undefined) {
          throw refuse.KeyNotRotated({ reason: 'a rotation is under way already' })
        }
        const to = await requireNextKey(config, home, keyring.current)
        if (!(await rotation.begin(sql, to))) {
          throw refuse.KeyNotRotated({ reason: 'a rotation is under way already' })
        }
        return rotation.status()
      },
    },
  ]
}
