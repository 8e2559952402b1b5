/**
 * Finds a Docker API that answers, at the given addresses. It reads no environment: the caller passes the settings
 * and `DOCKER_HOST`.
 */

import { existsSync } from 'node:fs'
import { EngineError } from '../engine.ts'
import { DockerClient, type DockerTarget, formatTarget } from './client.ts'

interface Found {
  /** The first that answered, or undefined. */
  readonly target: DockerTarget | undefined
  /** The addresses tried before, and why each was passed over; printed at start. */
  readonly passedOver: readonly { readonly address: string; readonly reason: string }[]
}

/** Docker's own socket, then Podman's as root, then Podman's for a user whose run-time folder is given. */
export function usualSockets(runtimeFolder?: string): readonly string[] {
  const user =
    runtimeFolder === undefined
      ? []
      : [`${runtimeFolder}/docker.sock`, `${runtimeFolder}/podman/podman.sock`]
  return ['/var/run/docker.sock', '/run/podman/podman.sock', ...user]
}

const pingSeconds = 3

/** `dockerHost` (`unix://…` or `tcp://host:port`) is the only address tried when given: the user has chosen. */
export async function findDocker(places: {
  readonly dockerHost?: string
  readonly sockets?: readonly string[]
}): Promise<Found> {
  const addresses =
    places.dockerHost === undefined || places.dockerHost === ''
      ? (places.sockets ?? []).map((path) => `unix://${path}`)
      : [places.dockerHost]
  const passedOver: { address: string; reason: string }[] = []
  for (const address of addresses) {
    try {
      const target = parseDockerHost(address)
      // Where no engine is installed, a start loads no HTTP client.
      if (target.kind === 'socket' && !existsSync(target.path)) {
        passedOver.push({ address, reason: 'there is no such socket (ENOENT)' })
        continue
      }
      await using client = new DockerClient(target)
      const call = { method: 'GET', path: '/_ping', doing: formatTarget(target) } as const
      await client.json({ ...call, silentSeconds: pingSeconds })
      return { target, passedOver }
    } catch (error) {
      // No answer at an address is a result here, not an error.
      if (!(error instanceof EngineError)) throw error
      passedOver.push({ address, reason: error.message })
    }
  }
  return { target: undefined, passedOver }
}

/** `refused` for an unsupported form (TLS, ssh). */
export function parseDockerHost(address: string): DockerTarget {
  if (address.startsWith('unix:///')) return { kind: 'socket', path: address.slice(7) }
  const tcp = /^(?:tcp|http):\/\/([^/:]+|\[[0-9a-f:]+\])(?::(\d{1,5}))?\/?$/i.exec(address)
  if (tcp?.[1] === undefined) {
    throw new EngineError(
      'refused',
      `'${address}' is not an address this engine speaks: unix:///path or tcp://host:port`,
    )
  }
  return { kind: 'tcp', host: tcp[1].replace(/^\[|\]$/g, ''), port: Number(tcp[2] ?? 2375) }
}
