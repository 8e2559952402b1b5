/**
 * Reads what the engine knows of containers. Podman reads the processes of each of them for that, and fails when one
 * ends meanwhile. By a second call it has ended, so there is one more and no third.
 */

import { EngineError } from '../engine.ts'
import type { Json } from '../json.ts'
import type { Call, DockerClient } from './client.ts'

const endedMeanwhile = /no such process/

export async function readContainers(
  client: DockerClient,
  call: Omit<Call, 'method'>,
): Promise<Json> {
  const read = (): Promise<Json> => client.json({ method: 'GET', ...call })
  return await read().catch((error: unknown) => {
    if (error instanceof EngineError && endedMeanwhile.test(error.message)) return read()
    throw error
  })
}

export async function inspectContainer(
  client: DockerClient,
  container: string,
  { api, doing = 'inspect a container' }: Partial<Pick<Call, 'api' | 'doing'>> = {},
): Promise<Json> {
  const path = `/containers/${container}/json`
  return await readContainers(client, { path, doing, ...(api === undefined ? {} : { api }) })
}
