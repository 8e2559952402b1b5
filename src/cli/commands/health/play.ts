/** `health play`: gives a timeline to the installation, which plays it by its clock. */

import { textOf } from '#client/answer.ts'
import { listOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import { healthOptions, newTrackingId, readYaml, takeStep } from '../../health.ts'
import { connectionOptions } from '../../options.ts'
import { printRows } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'health play',
  summary: 'Play a timeline of an event on the clock of the installation',
  notes:
    () => `The file is a list of steps, or has them under \`steps\`. Each has \`after\` (like 30s, 5m, 1h or PT5M),
\`step\` (publish, update, mitigate, resolve, annotate), and what that step says beside them. The installation keeps
the steps, so they are played whether or not this command still runs, also after a restart.`,
  arguments: [{ name: 'file', summary: 'The timeline, as YAML or JSON' }],
  options: {
    ...healthOptions,
    id: { type: 'string', value: 'id', summary: 'The tracking id; of the file, or a fresh one' },
    speed: { type: 'string', value: 'factor', summary: 'Play so many times faster' },
    ...connectionOptions,
  },
  examples: ['health play incident.yaml', 'health play incident.yaml --speed 60'],
  async run(context, values) {
    const given = readYaml(values.file)
    const list = isJsonObject(given) ? given['steps'] : given
    if (!Array.isArray(list)) throw new LocalProblem('InvalidFile', 'The file has no steps.')
    const speed = Number(values.speed ?? '1')
    if (!(speed > 0)) throw new UsageError('`--speed` is a number above 0')
    const id = values.id ?? textOf(given, 'id') ?? newTrackingId()
    const steps = list.map((entry, at) => stepOf(entry, at, speed))
    const connection = context.connect(values)
    const kept = await takeStep(connection, values, { id, step: 'play' }, { steps })
    if (!context.terminal.output.isData) context.terminal.error(`${id}\n`)
    printRows(context.terminal, listOf(kept, 'steps'), [
      { title: 'DUE', of: (row) => textOf(row, 'dueTime') ?? '' },
      { title: 'STEP', of: (row) => textOf(row, 'step') ?? '' },
    ])
    return 0
  },
})

function stepOf(entry: unknown, at: number, speed: number): object {
  if (!isJsonObject(entry)) throw new LocalProblem('InvalidFile', `Step ${at + 1} is no step.`)
  const { after, step, ...rest } = entry
  const seconds = secondsOf(String(after ?? '0s'))
  if (seconds === undefined) {
    throw new LocalProblem(
      'InvalidFile',
      `Step ${at + 1}: after is ${String(after)}; expected a length of time like 30s, 5m, 1h or PT5M.`,
    )
  }
  // Everything beside the step is a property of the event; the other steps have their own bodies.
  const isEvent = step === 'publish' || step === 'update'
  const { impactedResources, ...properties } = rest
  const body = isEvent
    ? { properties, ...(impactedResources === undefined ? {} : { impactedResources }) }
    : rest
  return { after: `PT${(seconds / speed).toFixed(3)}S`, step, body }
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 }

function secondsOf(text: string): number | undefined {
  const short = /^(\d+(?:\.\d+)?)([smhd])$/.exec(text)
  if (short !== null) return Number(short[1]) * (units[short[2] ?? ''] ?? 1)
  const long = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text)
  if (long === null || text === 'P') return undefined
  const [, days, hours, minutes, seconds] = long.map((one) => Number(one ?? 0))
  return (days ?? 0) * 86_400 + (hours ?? 0) * 3600 + (minutes ?? 0) * 60 + (seconds ?? 0)
}
