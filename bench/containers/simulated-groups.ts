/** A thousand simulated groups: how fast they settle, and what the server does afterwards while nothing changes. */

import { setTimeout as sleep } from 'node:timers/promises'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import { makePlace } from '../harness/place.ts'
import type { FigureRow } from '../harness/results.ts'
import { groupBody } from './group.ts'
import { StartedArmature } from './started-armature.ts'

const groups = 1_000
const askersAtOnce = 16
const lookMilliseconds = 200
const patienceMilliseconds = 120_000
const idleSeconds = 10

export async function measureSimulatedGroups(
  name: string,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const place = await makePlace(measuring.dataFolder, `${name}-simulated`)
  await using armature = await StartedArmature.start(place, measuring.processors.forServer, {
    ARMATURE_CONTAINERS: 'simulated',
  })
  measuring.progress(`${name}: idle without groups`)
  const idleEmpty = await idle(armature)
  const cpuBefore = armature.child.figures()?.cpuMicroseconds
  const startedAt = performance.now()
  await putAll(armature)
  const answered = performance.now() - startedAt
  await settled(armature)
  const done = performance.now() - startedAt
  const cpuAfter = armature.child.figures()?.cpuMicroseconds
  // Settled means that they run. The list does not show it, so some of them are read.
  for (let index = 0; index < groups; index += 100) await armature.running(nameOf(index), 50)
  measuring.progress(`${name}: ${groups} groups settled in ${Math.round(done)} ms; idle with them`)
  const idleFull = await idle(armature)
  const contestant = 'Armature, simulated'
  const figure = `CPU when idle, % of a core over ${idleSeconds} s`
  return [
    figureRow({
      figure: `${groups} groups, PUTs answered/s`,
      contestant,
      values: [groups / (answered / 1000)],
    }),
    figureRow({
      figure: `${groups} groups, settled/s`,
      contestant,
      values: [groups / (done / 1000)],
    }),
    figureRow({
      figure: `${groups} groups, CPU ms/group`,
      contestant,
      digits: 2,
      values:
        cpuBefore === undefined || cpuAfter === undefined
          ? []
          : [(cpuAfter - cpuBefore) / 1000 / groups],
    }),
    ...[
      { contestant: 'Armature, no groups', values: idleEmpty },
      { contestant: `Armature, ${groups} groups`, values: idleFull },
    ].map((one) => figureRow({ figure, digits: 2, ...one })),
  ]
}

async function putAll(armature: StartedArmature): Promise<void> {
  let next = 0
  const body = groupBody('r.example/web:1')
  const ask = async (): Promise<void> => {
    while (next < groups) {
      const index = next
      next += 1
      await armature.put(nameOf(index), body)
    }
  }
  await Promise.all(Array.from({ length: askersAtOnce }, ask))
}

function nameOf(index: number): string {
  return `group-${String(index).padStart(4, '0')}`
}

async function settled(armature: StartedArmature): Promise<void> {
  const latest = performance.now() + patienceMilliseconds
  let states = await armature.states()
  while (states.get('Succeeded') !== groups) {
    if (performance.now() > latest || states.has('Failed')) {
      throw new Error(`the groups did not settle: ${JSON.stringify([...states])}`)
    }
    await sleep(lookMilliseconds)
    states = await armature.states()
  }
}

/** Of one core, in percent; empty if processes cannot be observed. */
async function idle({ child }: StartedArmature): Promise<readonly number[]> {
  await child.settle()
  // Late effects of the load, such as a garbage collection or a checkpoint, are not idle time.
  await sleep(2_000)
  const before = child.figures()?.cpuMicroseconds
  const startedAt = performance.now()
  await sleep(idleSeconds * 1000)
  const after = child.figures()?.cpuMicroseconds
  const microseconds = (performance.now() - startedAt) * 1000
  return before === undefined || after === undefined
    ? []
    : [((after - before) / microseconds) * 100]
}
