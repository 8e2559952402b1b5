/**
 * From PUT to Running for one group and for ten, beside the command line; then a long log, read again and again.
 */

import { startPodman, testImage } from '../../src/engines/containers/testing/podman.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { groupBody } from './group.ts'
import { measureLogs } from './logs.ts'
import { PodmanCommands } from './podman-commands.ts'
import { StartedArmature } from './started-armature.ts'

const many = 10
/** A single group is created quickly, and its time varies most. */
const onesPerRound = 3
const lookMilliseconds = 10

type Way = (groups: readonly string[]) => Promise<void>

/** The reason, as text, if no container can start. */
export async function measureRealGroups(
  name: string,
  measuring: Measuring,
): Promise<readonly FigureRow[] | string> {
  measuring.progress(`${name}: starting a throwaway Podman`)
  await using stack = new AsyncDisposableStack()
  const podman = await startPodman()
  if (typeof podman === 'string') return podman
  stack.use(podman)
  if (podman.target.kind !== 'socket') throw new Error('the throwaway Podman has a socket')
  const place = await makePlace(measuring.dataFolder, `${name}-podman`)
  // Both ways may use every processor: Podman does most of the work in both.
  const armature = stack.use(
    await StartedArmature.start(place, (command) => command, {
      ARMATURE_CONTAINERS: 'docker',
      ARMATURE_DOCKER_HOST: `unix://${podman.target.path}`,
    }),
  )
  const commands = new PodmanCommands(podman, testImage)
  const byArmature: Way = async (groups) => {
    await Promise.all(groups.map((group) => armature.put(group, groupBody(testImage))))
    // One GET at a time, so that polling costs no more for ten groups than for one.
    for (const group of groups) await armature.running(group, lookMilliseconds)
  }
  const byHand: Way = async (groups) => {
    for (const group of groups) await commands.make(group)
  }
  const timed = async (way: Way, groups: readonly string[]): Promise<number> => {
    const startedAt = performance.now()
    await way(groups)
    return performance.now() - startedAt
  }

  // The first group of each is not counted; Armature's creates the image of the sandbox.
  await byArmature(['first'])
  await byHand(['first'])
  await commands.assertSame()
  await armature.delete(['first'])
  await commands.remove(['first'])
  await commands.assertNothing()

  const taken = new Map<string, number[]>()
  const ways = [
    { key: 'Armature', way: byArmature, remove: (groups) => armature.delete(groups) },
    { key: 'by hand', way: byHand, remove: (groups) => commands.remove(groups) },
  ] satisfies { key: string; way: Way; remove: Way }[]
  const take = async (count: number, round: string): Promise<void> => {
    const groups = Array.from({ length: count }, (_, index) => `group-${round}-${index}`)
    for (const { key, way, remove } of ways) {
      const milliseconds = await timed(way, groups)
      await remove(groups)
      await commands.assertNothing()
      valuesOf(taken, `${key} ${count}`).push(milliseconds)
      measuring.progress(
        `${name}: round ${round}, ${count}, ${key}: ${Math.round(milliseconds)} ms`,
      )
    }
    // Whoever comes second runs on a machine that has just worked, so the order alternates.
    ways.reverse()
  }
  for (let round = 1; round <= measuring.rounds; round++) {
    for (let one = 1; one <= onesPerRound; one++) await take(1, `${round}-${one}`)
    await take(many, String(round))
  }
  const rows = [1, many].flatMap((count) => {
    const figure = count === 1 ? 'one group running, ms' : `${count} groups running, ms`
    const theirs = valuesOf(taken, `by hand ${count}`)
    const mine = valuesOf(taken, `Armature ${count}`)
    return [
      figureRow({ figure, contestant: 'podman commands', values: theirs, to: theirs }),
      figureRow({ figure, contestant: 'Armature', values: mine, to: theirs }),
    ]
  })
  return [...rows, ...(await measureLogs(name, armature, measuring))]
}

function valuesOf(taken: Map<string, number[]>, key: string): number[] {
  const values = taken.get(key) ?? []
  taken.set(key, values)
  return values
}
