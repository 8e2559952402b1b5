/** Shared by the commands of deployment stacks: options, body, and printing. */

import { setTimeout as sleep } from 'node:timers/promises'
import { textOf } from '#client/answer.ts'
import { listOf, propertiesOf, propertyOf } from '#client/resource.ts'
import { isJsonObject } from '#kernel/patch.ts'
import type { Connection } from './context.ts'
import { deploymentBody, templateOptions } from './deployments.ts'
import { member } from './directory.ts'
import { exitFailed } from './failure.ts'
import { printData, printRecord, printRows, red } from './output/print.ts'
import { type Column, printable } from './output/table.ts'
import type { Noun } from './resource-commands.ts'
import { extensionPath } from './resource-path.ts'
import { type ScopePlace, scopeOptions, scopePath } from './scope-place.ts'
import type { Terminal } from './terminal.ts'

export const stackVersion = '2024-03-01'

const { mode: _mode, ...stackTemplateOptions } = templateOptions

export const unmanageOption = {
  'on-unmanage': {
    type: 'string',
    value: 'action',
    choices: ['detach-all', 'delete-resources', 'delete-all'],
    summary: 'What becomes of what leaves the template; `delete-all` deletes groups too',
  },
} as const

export const stackOptions = {
  ...scopeOptions,
  ...stackTemplateOptions,
  ...unmanageOption,
  deny: {
    type: 'string',
    value: 'mode',
    choices: ['none', 'denyDelete', 'denyWriteAndDelete'],
    summary: 'What everybody is denied who does not go through the stack',
  },
  'excluded-principal': {
    type: 'string',
    value: 'id',
    multiple: true,
    summary: 'A principal who is denied nothing',
  },
  'excluded-action': {
    type: 'string',
    value: 'action',
    multiple: true,
    summary: 'An action that is not denied',
  },
  'child-scopes': { type: 'boolean', summary: 'Deny it below the resources too' },
  'deployment-scope': {
    type: 'string',
    value: 'path',
    summary: 'Where the template goes to, below the place of the stack',
  },
  description: { type: 'string', value: 'text', summary: 'What it is for' },
} as const

interface StackValues extends Omit<Parameters<typeof deploymentBody>[1], 'mode'> {
  readonly 'on-unmanage': string | undefined
  readonly deny: string | undefined
  readonly 'excluded-principal': readonly string[]
  readonly 'excluded-action': readonly string[]
  readonly 'child-scopes': boolean
  readonly 'deployment-scope': string | undefined
  readonly description: string | undefined
}

/** `{scope}/providers/{Vendor}.Resources/deploymentStacks[/{name}]`. */
export async function stackPath(
  connection: Connection,
  place: ScopePlace,
  name?: string,
): Promise<string> {
  const scope = await scopePath(connection, place)
  const list = extensionPath(connection.words, scope, 'Resources/deploymentStacks')
  return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
}

/** The action for each kind of unmanaged resource, from `--on-unmanage`. */
export function unmanageActions(given = 'detach-all'): Readonly<Record<string, string>> {
  const resources = given === 'detach-all' ? 'detach' : 'delete'
  const groups = given === 'delete-all' ? 'delete' : 'detach'
  return { resources, resourceGroups: groups, managementGroups: groups }
}

export function stackBody(terminal: Terminal, values: StackValues): object {
  const { location, properties } = deploymentBody(terminal, { ...values, mode: undefined })
  const { 'deployment-scope': deploymentScope, description, deny: mode = 'none' } = values
  return {
    ...(location === undefined ? {} : { location }),
    properties: {
      template: properties.template,
      parameters: properties.parameters,
      actionOnUnmanage: unmanageActions(values['on-unmanage']),
      denySettings: {
        mode,
        excludedPrincipals: values['excluded-principal'],
        excludedActions: values['excluded-action'],
        applyToChildScopes: values['child-scopes'],
      },
      ...(deploymentScope === undefined ? {} : { deploymentScope }),
      ...(description === undefined ? {} : { description }),
    },
  }
}

export const stacks = {
  noun: 'stack',
  title: 'deployment stack',
  version: stackVersion,
  options: scopeOptions,
  example: '-g demo',
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'STATE', of: (row) => propertyOf(row, 'provisioningState') },
    { title: 'RESOURCES', of: (row) => String(listOf(propertiesOf(row), 'resources').length) },
    { title: 'DENIES', of: (row) => textOf(propertiesOf(row)['denySettings'], 'mode') ?? '' },
  ],
  path: stackPath,
} as const satisfies Noun<typeof scopeOptions>

const everyMilliseconds = 400
const ended = ['succeeded', 'failed', 'canceled']

/** Waits for the stack to end, and returns it. */
export async function endedStack({ client }: Connection, path: string): Promise<unknown> {
  const query = { 'api-version': stackVersion }
  for (;;) {
    const { body } = await client.request('GET', path, { query })
    if (ended.includes(textOf(propertiesOf(body), 'provisioningState') ?? '')) return body
    await sleep(everyMilliseconds)
  }
}

const managedColumns: readonly Column<unknown>[] = [
  { title: 'RESOURCE', of: (row) => textOf(row, 'id') ?? '' },
  { title: 'STATUS', of: (row) => textOf(row, 'status') ?? '' },
  { title: 'DENIES', of: (row) => textOf(row, 'denyStatus') ?? '' },
]

/** Returns the exit code, which says whether the stack succeeded. */
export function printStack(terminal: Terminal, stack: unknown): number {
  const properties = propertiesOf(stack)
  const state = textOf(properties, 'provisioningState') ?? ''
  if (terminal.output.isData) printData(terminal, stack)
  else {
    printRows(terminal, listOf(properties, 'resources'), managedColumns)
    const ids = (name: string): string =>
      listOf(properties, name)
        .map((one) => textOf(one, 'id') ?? '')
        .join(', ')
    printRecord(terminal, {
      name: textOf(stack, 'name'),
      provisioningState: state,
      deleted: ids('deletedResources'),
      detached: ids('detachedResources'),
    })
  }
  if (state !== 'failed') return 0
  const error = properties['error']
  const code = printable(textOf(error, 'code') ?? state)
  terminal.error(`${red(terminal, code)}: ${printable(textOf(error, 'message') ?? '')}\n`)
  for (const one of listOf(properties, 'failedResources')) {
    const cause = isJsonObject(one) ? textOf(one['error'], 'message') : undefined
    terminal.error(`${printable(textOf(one, 'id') ?? '')}: ${printable(cause ?? '')}\n`)
  }
  return exitFailed
}
