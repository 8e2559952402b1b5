/** Shared by the commands of service health: paths, options, their api-version, and bodies. */

import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf, propertyOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { type Command, LocalProblem, UsageError } from './command.ts'
import type { Connection } from './context.ts'
import { subscriptionOption } from './options.ts'
import { printRecord } from './output/print.ts'
import type { Column } from './output/table.ts'
import { defineRemoteCommand } from './remote-command.ts'
import { extensionPath } from './resource-path.ts'

export const healthVersion = { 'api-version': '2025-05-01' } as const

export const healthOptions = {
  subscription: {
    ...subscriptionOption.subscription,
    summary: 'Events of this subscription; of the whole installation when left out',
  },
} as const

/** The options of an event when it is published and when it is updated. */
export const eventOptions = {
  summary: { type: 'string', value: 'text', summary: 'What happened' },
  level: {
    type: 'string',
    value: 'level',
    choices: ['Critical', 'Error', 'Warning', 'Informational'],
    summary: 'How bad it is',
  },
  impact: {
    type: 'string',
    value: 'service=regions',
    multiple: true,
    summary: 'A service and the regions, like `Container Instances=West US,East US`; all of them',
  },
  file: { type: 'string', short: 'f', value: 'file', summary: 'Properties, as YAML or JSON' },
} as const

const stepOptions = {
  ...healthOptions,
  region: {
    type: 'string',
    value: 'name',
    multiple: true,
    summary: 'Only this region of the event; all of them when left out',
  },
  summary: { type: 'string', value: 'text', summary: 'What those who follow the event read' },
  tag: {
    type: 'string',
    value: 'tag',
    multiple: true,
    choices: ['Action Recommended', 'False Positive', 'Preliminary PIR', 'Final PIR'],
    summary: 'A tag of the event',
  },
} as const

interface HealthPlace {
  readonly subscription: string | undefined
}

/** `{scope}/providers/{Vendor}.ResourceHealth/events[/{id}[/{action}]]`. */
export function eventsPath(
  connection: Connection,
  { subscription }: HealthPlace,
  ...below: readonly string[]
): string {
  const scope =
    subscription === undefined ? '/' : `/subscriptions/${encodeURIComponent(subscription)}`
  const list = extensionPath(connection.words, scope, 'ResourceHealth/events')
  return [list, ...below.map((one) => encodeURIComponent(one))].join('/')
}

export function newTrackingId(): string {
  return randomUUID().slice(0, 8).toUpperCase()
}

interface StepValues {
  readonly region: readonly string[]
  readonly summary: string | undefined
  readonly tag: readonly string[]
}

function stepBody({ region, summary, tag }: StepValues): object {
  return {
    ...(region.length === 0 ? {} : { regions: region }),
    ...(summary === undefined ? {} : { summary }),
    ...(tag.length === 0 ? {} : { eventTags: tag }),
  }
}

export async function takeStep(
  connection: Connection,
  place: HealthPlace,
  { id, step }: { readonly id: string; readonly step: string },
  body: object,
): Promise<unknown> {
  const path = eventsPath(connection, place, id, step)
  return (await connection.client.request('POST', path, { query: healthVersion, body })).body
}

/** A command that takes a step of an event and prints the event. */
export function stepCommand(step: string, summary: string, example: string): Command {
  return defineRemoteCommand({
    name: `health ${step}`,
    summary,
    arguments: [{ name: 'id', summary: 'The tracking id' }],
    options: stepOptions,
    examples: [example],
    async run(connection, values, context) {
      const event = await takeStep(connection, values, { id: values.id, step }, stepBody(values))
      printRecord(context.terminal, event, summaryOf(event))
    },
  })
}

/** Parses `Secrets=West US,East US` as an impact. Throws `UsageError`. */
function impactOf(texts: readonly string[], subscriptions: readonly string[]): object[] {
  return texts.map((text) => {
    const [service = '', regions = 'Global'] = text.split('=')
    if (service === '') throw new UsageError('`--impact` is of the form `service=region,region`')
    const touched = subscriptions.length === 0 ? {} : { impactedSubscriptions: subscriptions }
    const impactedRegions = regions
      .split(',')
      .map((region) => ({ impactedRegion: region.trim(), ...touched }))
    return { impactedService: service.trim(), impactedRegions }
  })
}

interface EventValues {
  readonly title: string | undefined
  readonly summary: string | undefined
  readonly level: string | undefined
  readonly impact: readonly string[]
  readonly file: string | undefined
}

/** The properties of an event: those of the file, overridden by the options. */
export function eventProperties(values: EventValues, touches: readonly string[]): object {
  const given = values.file === undefined ? {} : readYaml(values.file)
  if (!isJsonObject(given)) {
    throw new LocalProblem('InvalidFile', 'The file holds no properties of an event.')
  }
  return {
    ...given,
    ...(values.title === undefined ? {} : { title: values.title }),
    ...(values.summary === undefined ? {} : { summary: values.summary }),
    ...(values.level === undefined ? {} : { eventLevel: values.level }),
    ...(values.impact.length === 0 ? {} : { impact: impactOf(values.impact, touches) }),
  }
}

/** Loaded when a file is read, so that other commands do not wait for it. */
const load = createRequire(import.meta.url)

/** Reads a YAML or JSON file. Throws `LocalProblem` with the line of the error. */
export function readYaml(path: string): unknown {
  const { parse, YAMLParseError } = load('yaml') as typeof import('yaml')
  try {
    return parse(readFileSync(path, 'utf8'), { maxAliasCount: 100 })
  } catch (error) {
    // Converts errors of the file system and the YAML parser.
    const code = error instanceof YAMLParseError ? 'InvalidFile' : 'FileUnreadable'
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem(code, `${path} cannot be read: ${reason}`, { cause: error })
  }
}

export const eventColumns: readonly Column<unknown>[] = [
  { title: 'ID', of: (row) => textOf(row, 'name') ?? '' },
  { title: 'TYPE', of: (row) => propertyOf(row, 'eventType') },
  { title: 'LEVEL', of: (row) => propertyOf(row, 'eventLevel') },
  { title: 'STATUS', of: (row) => propertyOf(row, 'status') },
  { title: 'PRIORITY', of: (row) => String(propertiesOf(row)['priority'] ?? '') },
  { title: 'UPDATED', of: (row) => propertyOf(row, 'lastUpdateTime') },
  { title: 'TITLE', of: (row) => propertyOf(row, 'title') },
]

/** The summary; `--json` shows everything. */
export function summaryOf(event: unknown): Record<string, unknown> {
  const properties = propertiesOf(event)
  const names = [
    ...['eventType', 'eventLevel', 'status', 'priority', 'title', 'summary', 'impactStartTime'],
    ...['impactMitigationTime', 'duration', 'lastUpdateTime'],
  ]
  const regions = listOf(properties, 'impact').flatMap((one) =>
    listOf(one, 'impactedRegions').map((region) => [
      `${textOf(one, 'impactedService') ?? ''} in ${textOf(region, 'impactedRegion') ?? ''}`,
      textOf(region, 'status'),
    ]),
  )
  return {
    trackingId: textOf(event, 'name'),
    ...Object.fromEntries(names.map((name) => [name, properties[name]])),
    ...Object.fromEntries(regions),
  }
}
