/** A Podman for the contract suites; their groups belong to different installations. */

import { after } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { isLong } from '../../../../tests/long.ts'
import type { Backend, Program } from '../contract/fixture.ts'
import { DockerEngine } from '../docker/docker-engine.ts'
import { startPodman, type ThrowawayPodman, testImage } from './podman.ts'

/** Stops at once, so that tests do not wait for the grace period. */
const polite = "trap 'exit 0' TERM"

let started: Promise<ThrowawayPodman | string> | undefined
after(async () => {
  const podman = await started
  if (typeof podman === 'object') await podman[Symbol.asyncDispose]()
})

export async function openPodman(): Promise<Backend | string> {
  started ??= startPodman()
  const podman = await started
  if (typeof podman === 'string') return podman
  return {
    open: (installation) => new DockerEngine({ target: podman.target, installation }),
    image: testImage,
    isBrief: !isLong,
    unknownImage: 'localhost/armature-test/nothing:1',
    program: (program) => ({ command: ['sh', '-c', shell(program)], environment: [] }),
    pass: () => sleep(50),
    now: () => Date.now(),
    breakSandbox: async (installation, group) => {
      await podman.podman('kill', `armature_${installation}_${group}`)
    },
    [Symbol.asyncDispose]: async () => {},
  }
}

function shell(program: Program): string {
  const print = program.print === undefined ? '' : `echo '${program.print}'; `
  if (program.exitCode === undefined) return `${polite}; ${print}sleep 3600 & wait`
  return `${print}sleep ${program.afterSeconds ?? 0}; exit ${program.exitCode}`
}
