/** Removes what a list of a Docker API shows, until it is empty. Containers get no grace. */

import { EngineError } from '../engine.ts'
import { type Json, textAt } from '../json.ts'
import type { DockerClient } from './client.ts'
import { changeEach } from './some-at-once.ts'

/** One round suffices, unless something is created meanwhile. */
const roundsMax = 4

export async function removeOwned(
  client: DockerClient,
  containers: () => Promise<readonly Json[]>,
  volumes: () => Promise<readonly Json[]>,
): Promise<void> {
  for (let round = 0; round < roundsMax; round++) {
    const [someContainers, someVolumes] = await Promise.all([containers(), volumes()])
    if (someContainers.length === 0 && someVolumes.length === 0) return
    const isPart = (each: Json) => textAt(each, 'Labels', 'armature.part') !== ''
    // Podman refuses to remove a container that others have joined, and a volume in use.
    await removeContainers(client, someContainers.filter(isPart))
    await removeContainers(
      client,
      someContainers.filter((each) => !isPart(each)),
    )
    await changeEach(someVolumes, (each) =>
      gone(client, `/volumes/${encodeURIComponent(textAt(each, 'Name'))}`, { force: '1' }),
    )
  }
  throw new EngineError('busy', 'the group is being made anew while it is removed')
}

async function removeContainers(client: DockerClient, containers: readonly Json[]): Promise<void> {
  await changeEach(containers, async (each) => {
    const path = `/containers/${textAt(each, 'Id')}`
    // With forced removal alone, Podman waits ten seconds for a polite end.
    if (textAt(each, 'State') !== 'created') await killed(client, path)
    await gone(client, path, { force: '1', v: '1' })
  })
}

async function killed(client: DockerClient, path: string): Promise<void> {
  try {
    const query = { t: '0' }
    await client.json({
      method: 'POST',
      kind: 'change',
      path: `${path}/stop`,
      query,
      doing: 'kill a container',
    })
  } catch (error) {
    // It is gone or does not run; the removal that follows reports what is really wrong.
    if (!(error instanceof EngineError) || error.kind === 'unavailable') throw error
  }
}

async function gone(
  client: DockerClient,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<void> {
  try {
    await client.json({
      method: 'DELETE',
      kind: 'change',
      path,
      query,
      doing: 'remove from the engine',
    })
  } catch (error) {
    // Absent is the goal; busy is tried again in the next round.
    if (error instanceof EngineError && (error.kind === 'absent' || error.kind === 'busy')) return
    throw error
  }
}
