/** Runs one call of the port that connects to servers, within the budgets of looks. */

import type { Clock } from '#kernel/ports.ts'
import type { WayOut } from '#outbound/way-of-parent.ts'
import { findTraces } from '../clean-up.ts'
import type { Reach } from '../connect.ts'
import type { LookRoom } from '../guarded-connection.ts'
import { inspectServer } from '../inspect.ts'
import { createDatabase, dropDatabase } from '../one-database.ts'
import { changeSetting, readSettings } from '../server-settings.ts'
import { setUpReplication } from '../set-up-replication.ts'
import { surveyServers } from '../survey.ts'
import { validateMigration } from '../validate.ts'
import type { LookCall } from './messages.ts'

interface LookMeans {
  readonly outbound: WayOut
  /** Shared by all calls of the process. */
  readonly room: LookRoom
  readonly clock: Clock
  readonly signal: AbortSignal
}

/** The budget of a check that runs every few seconds for every registered server. */
const short = { seconds: 20, bytes: 4 * 2 ** 20 }
/** The budget of reading the catalogs of all databases of a migration. */
const long = { seconds: 300, bytes: 32 * 2 ** 20 }

export async function perform(call: LookCall, given: LookMeans): Promise<unknown> {
  const { outbound, room, clock, signal } = given
  const glance: Reach = { outbound, budget: { ...short, room } }
  const work: Reach = { outbound, budget: { ...long, room } }
  switch (call.name) {
    case 'inspect':
      return inspectServer({ ...call.values[0], ...glance })
    case 'settings':
      return readSettings({ ...call.values[0], ...glance })
    case 'changeSetting': {
      const [server, name, value] = call.values
      return changeSetting({ ...server, ...glance }, name, value)
    }
    case 'createDatabase': {
      const [server, wanted] = call.values
      return createDatabase({ ...server, ...work }, wanted)
    }
    case 'dropDatabase': {
      const [server, name] = call.values
      return dropDatabase({ ...server, ...work }, name)
    }
    case 'setUpReplication':
      return setUpReplication({ ...call.values[0], ...work })
    case 'survey': {
      const [migration, spec, credentials] = call.values
      return surveyServers(migration, spec, { ...credentials, ...work })
    }
    case 'traces': {
      const [migration, spec, credentials] = call.values
      return findTraces(migration, spec, { ...credentials, ...work })
    }
    case 'validate': {
      const [spec, credentials, trial] = call.values
      const means = { ...credentials, ...work }
      return validateMigration({ ...trial, spec, credentials: means, clock, signal })
    }
    default:
      return call satisfies never
  }
}
