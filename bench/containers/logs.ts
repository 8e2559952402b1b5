/**
 * A log near the limit of 4 MB, read again and again: how much the memory of the server grows while it streams the
 * log.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { testImage } from '../../src/engines/containers/testing/podman.ts'
import { figureRow } from '../harness/measure-figures.ts'
import type { Measuring } from '../harness/measure-load.ts'
import type { FigureRow } from '../harness/results.ts'
import { containerNames, groupBody } from './group.ts'
import type { StartedArmature } from './started-armature.ts'

/** With what the engine adds to each line, just below the size at which it starts a new file. */
const lines = 3_600
const line = `${'measured, not guessed; '.repeat(44)}`.padEnd(1_023, '.')
const logBytes = lines * (line.length + 1)
const warmUpReads = 5
const reads = 40
const sampleMilliseconds = 50
const patienceMilliseconds = 30_000
const megabyte = 2 ** 20

const writes = [
  'sh',
  '-c',
  `trap 'exit 0' TERM; busybox yes '${line}' | busybox head -n ${lines}; sleep 100000 & wait`,
]

export async function measureLogs(
  name: string,
  armature: StartedArmature,
  measuring: Measuring,
): Promise<readonly FigureRow[]> {
  const group = 'writer'
  const [container] = containerNames
  await armature.put(group, groupBody(testImage, writes))
  await armature.running(group, 50)
  const latest = performance.now() + patienceMilliseconds
  const beforeAll = residentOf(armature)
  let bytes = await armature.readLog(group, container)
  while (bytes < logBytes) {
    if (performance.now() > latest) throw new Error(`the log has ${bytes} bytes, not ${logBytes}`)
    await sleep(100)
    bytes = await armature.readLog(group, container)
  }
  const read = async (times: number): Promise<void> => {
    for (let one = 0; one < times; one++) await armature.readLog(group, container)
  }
  await read(warmUpReads)
  const growth: number[] = []
  const rate: number[] = []
  const resident: number[] = []
  for (let round = 1; round <= measuring.rounds; round++) {
    const before = residentOf(armature)
    const startedAt = performance.now()
    const most = await highest(armature, read(reads))
    rate.push((reads * bytes) / megabyte / ((performance.now() - startedAt) / 1000))
    growth.push((most - before) / megabyte)
    resident.push(most / megabyte)
    measuring.progress(`${name}: logs, round ${round}: ${growth.at(-1)?.toFixed(1)} MB more`)
  }
  await armature.delete([group])
  const what = `${reads} logs of ${(bytes / megabyte).toFixed(1)} MB`
  const contestant = 'Armature'
  return [
    figureRow({ figure: `${what}, MB/s`, contestant, values: rate }),
    figureRow({ figure: `${what}, RSS growth MB`, contestant, values: growth, digits: 1 }),
    figureRow({
      figure: 'RSS before the first log, MB',
      contestant,
      values: [beforeAll / megabyte],
    }),
    figureRow({ figure: `${what}, RSS at most MB`, contestant, values: resident }),
  ]
}

/** The highest memory that was seen during `work`. */
async function highest(armature: StartedArmature, work: Promise<void>): Promise<number> {
  let most = 0
  let going = true
  const watched = work.finally(() => {
    going = false
  })
  const watching = (async () => {
    while (going) {
      most = Math.max(most, residentOf(armature))
      await sleep(sampleMilliseconds)
    }
  })()
  await Promise.all([watched, watching])
  return Math.max(most, residentOf(armature))
}

function residentOf({ child }: StartedArmature): number {
  return child.figures()?.residentBytes ?? Number.NaN
}
