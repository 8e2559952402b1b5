/**
 * The same group by the `podman` command line, one command after the other: the container that holds the network,
 * then those that join it. Checks that both ways make the same containers.
 */

import type { ThrowawayPodman } from '../../src/engines/containers/testing/podman.ts'
import { command, containerNames, cpu, memoryMegabytes } from './group.ts'

const prefix = 'by-hand-'
/** The image of Armature's sandbox container. It exists once Armature has created a group. */
const pauseImage = 'localhost/armature/pause:1'
const compared =
  '{{.HostConfig.NanoCpus}} {{.HostConfig.Memory}} {{.HostConfig.PidsLimit}} ' +
  '{{.HostConfig.RestartPolicy.Name}} {{.HostConfig.LogConfig.Type}} {{.HostConfig.LogConfig.Size}} ' +
  '{{.HostConfig.ReadonlyRootfs}} {{.Config.Entrypoint}} {{.Config.Cmd}} {{.ImageName}} {{.State.Status}}'

export class PodmanCommands {
  readonly #podman: ThrowawayPodman
  readonly #image: string

  constructor(podman: ThrowawayPodman, image: string) {
    this.#podman = podman
    this.#image = image
  }

  async make(group: string): Promise<void> {
    const network = `${prefix}${group}`
    const sandbox = [
      '--restart=no',
      '--read-only',
      '--cap-drop=all',
      '--security-opt=no-new-privileges',
    ]
    await this.#podman.podman('run', '-d', '--name', network, ...sandbox, pauseImage)
    for (const name of containerNames) {
      // On Podman the server restarts what has ended, not the engine.
      await this.#podman.podman(
        ...['run', '-d', '--name', `${network}-${name}`, '--network', `container:${network}`],
        ...['--cpus', String(cpu), '--memory', `${memoryMegabytes}m`, '--pids-limit', '4096'],
        ...['--restart', 'no', '--log-driver', 'k8s-file', '--log-opt', 'max-size=4194304'],
        ...['--entrypoint', JSON.stringify(command), this.#image],
      )
    }
  }

  /** Containers that join a network are removed first: the one that holds it cannot be removed before them. */
  async remove(groups: readonly string[]): Promise<void> {
    const joined = groups.flatMap((group) => containerNames.map((name) => `${group}-${name}`))
    for (const names of [joined, groups]) {
      const given = names.map((name) => `${prefix}${name}`)
      await this.#podman.podman('rm', '-f', '-t', '2', ...given)
    }
  }

  /**
   * Throws unless both ways have made the same: one sandbox and two joined containers each, with the same settings.
   */
  async assertSame(): Promise<void> {
    const names = (await this.#podman.podman('ps', '-a', '--format', '{{.Names}}')).split('\n')
    const sides = [true, false].map((byHand) =>
      names.filter((name) => name !== '' && name.startsWith(prefix) === byHand),
    )
    const [byHand, byArmature] = await Promise.all(sides.map((side) => this.#describe(side)))
    if (byHand === byArmature) return
    throw new Error(`not the same containers.\nBy hand:\n${byHand}\nArmature:\n${byArmature}`)
  }

  /** Throws while a container of either way is left: it would slow down the next measurement. */
  async assertNothing(): Promise<void> {
    const left = (await this.#podman.podman('ps', '-a', '--format', '{{.Names}}')).trim()
    if (left !== '') throw new Error(`containers are left over: ${left}`)
  }

  async #describe(names: readonly string[]): Promise<string> {
    const shown = await this.#podman.podman('inspect', '--format', compared, ...names)
    return shown.trim().split('\n').sort().join('\n')
  }
}
