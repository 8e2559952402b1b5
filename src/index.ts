/** `armature-plane`: starts an installation inside the caller's own process. */

import { readConfig } from './config.ts'
import { type Started, start as startServer } from './main.ts'

export { ConfigError } from './config.ts'
export type { Started }

/**
 * Settings by their name in `armature.config.json` (`home`, `port`, `store`, …; see the settings reference).
 * Neither the environment nor a configuration file is read.
 */
export type Settings = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * Starts a server and resolves when it answers. `port: 0` takes a free port; `url` of the result says which.
 * Close it with `close()` or `await using`. Throws `ConfigError` with all wrong settings at once, and `Error`
 * when the store or the address cannot be had.
 */
export async function start(settings: Settings = {}): Promise<Started> {
  return startServer(readConfig({ environment: {}, settings }))
}
