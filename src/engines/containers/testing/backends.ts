/** A Podman and a Docker for the contract suites; their groups belong to different installations. */

import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLong } from '../../../../tests/long.ts'
import type { Backend, Program } from '../contract/fixture.ts'
import { DockerClient } from '../docker/client.ts'
import { DockerEngine } from '../docker/docker-engine.ts'
import { startDocker, type ThrowawayDocker } from './docker.ts'
import { startPodman, type ThrowawayPodman, testImage } from './podman.ts'

/** Stops at once, so that tests do not wait for the grace period. */
const polite = "trap 'exit 0' TERM"

let podman: Promise<ThrowawayPodman | string> | undefined
let docker: Promise<ThrowawayDocker | string> | undefined
after(async () => {
  for (const started of [await podman, await docker]) {
    if (typeof started === 'object') await started[Symbol.asyncDispose]()
  }
})

export async function openPodman(): Promise<Backend | string> {
  podman ??= startPodman()
  return backendOf(await podman)
}

export async function openDocker(): Promise<Backend | string> {
  docker ??= startDocker()
  return backendOf(await docker)
}

function backendOf(started: ThrowawayPodman | ThrowawayDocker | string): Backend | string {
  if (typeof started === 'string') return started
  const { target } = started
  // On a network that somebody made, Docker's own resolver asks the group's.
  const isDocker = 'network' in started
  const more = isDocker ? { network: started.network } : {}
  return {
    open: (installation) => new DockerEngine({ target, installation, ...more }),
    image: testImage,
    isBrief: !isLong,
    ownVolumes: 1,
    ...(isDocker ? { resolver: '127.0.0.11', hostname: /^the-group-[a-z0-9-]+\n/ } : {}),
    unknownImage: 'localhost/armature-test/nothing:1',
    program: (program) => ({ command: ['sh', '-c', shell(program)], environment: [] }),
    pass: () => sleep(50),
    now: () => Date.now(),
    breakSandbox: async (installation, group) => {
      await using client = new DockerClient(target)
      const path = `/containers/armature_${installation}_${group}/kill`
      await client.json({ method: 'POST', path, doing: 'kill the sandbox' })
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

function shell(program: Program): string {
  const print = program.print === undefined ? '' : `echo '${program.print}'; `
  if (program.exitCode === undefined) return `${polite}; ${print}sleep 3600 & wait`
  return `${print}sleep ${program.afterSeconds ?? 0}; exit ${program.exitCode}`
}
