/** Makes the commands that every resource type has: list, show, delete. */

import type { Command, OptionSpec } from './command.ts'
import type { Connection, Context } from './context.ts'
import { noWaitOption } from './options.ts'
import { printRecord, printRows } from './output/print.ts'
import type { Column } from './output/table.ts'
import { defineRemoteCommand } from './remote-command.ts'

export interface Noun<O extends Readonly<Record<string, OptionSpec>>> {
  /** As typed: `api-service`. */
  readonly noun: string
  /** In sentences: `API`, `management service`. */
  readonly title: string
  readonly version: string
  /** The options that give its path. */
  readonly options: O
  /** The options in an example: `-g demo`. */
  readonly example: string
  readonly columns: readonly Column<unknown>[]
  /** It stands for something that is elsewhere, and stays there when it is deleted here. */
  readonly isElsewhere?: true
  /** The path of the list, or of one resource. */
  path(connection: Connection, values: never, name?: string): Promise<string>
}

type AnyNoun = Noun<Readonly<Record<string, OptionSpec>>>

export function listCommand({ noun, title, version, path, ...more }: AnyNoun): Command {
  return defineRemoteCommand({
    name: `${noun} list`,
    summary: `List each ${title}`,
    arguments: [],
    options: more.options,
    examples: [`${noun} list ${more.example}`.trim()],
    async run(connection, values, context) {
      const query = { 'api-version': version }
      const rows = await connection.client.list(await path(connection, values as never), { query })
      printRows(context.terminal, rows, more.columns)
    },
  })
}

export function showCommand({ noun, title, version, path, ...more }: AnyNoun): Command {
  return defineRemoteCommand({
    name: `${noun} show`,
    summary: `Show one ${title}`,
    arguments: [{ name: 'name', summary: 'Its name' }],
    options: more.options,
    examples: [`${noun} show one ${more.example}`.trim()],
    async run(connection, values, context) {
      const query = { 'api-version': version }
      const at = await path(connection, values as never, values.name)
      printRecord(context.terminal, (await connection.client.request('GET', at, { query })).body)
    },
  })
}

export function deleteCommand(
  { noun, title, version, path, ...more }: AnyNoun,
  prompt?: string,
): Command {
  const confirmation =
    prompt === undefined
      ? {}
      : {
          confirm: async (_: Context, { name }: { readonly name: string }) => ({
            text: `Delete ${name} ${prompt}?`,
          }),
        }
  const { isElsewhere } = more
  return defineRemoteCommand({
    name: `${noun} delete`,
    summary: isElsewhere
      ? `Delete one ${title} here; what it stands for stays as it is`
      : `Delete one ${title}`,
    arguments: [{ name: 'name', summary: 'Its name' }],
    options: { ...more.options, ...noWaitOption },
    examples: [`${noun} delete one ${more.example}`.trim()],
    ...confirmation,
    async run(connection, values, context) {
      const query = { 'api-version': version }
      const at = await path(connection, values as never, values.name)
      await deleteResource(connection, context, at, { ...values, query })
    },
  })
}

interface Deletion {
  readonly name: string
  readonly query: Readonly<Record<string, string>>
  readonly 'no-wait'?: boolean | undefined
  /** `Deleted` when left out. */
  readonly done?: string
}

/** Sends a DELETE, waits for its end if that is wanted, and says what came of it. */
export async function deleteResource(
  { client }: Connection,
  { terminal }: Context,
  path: string,
  { name, query, done = 'Deleted', ...wanted }: Deletion,
): Promise<void> {
  const answer = await client.request('DELETE', path, { query })
  if (answer.status === 204) return terminal.error('There was none.\n')
  if (wanted['no-wait']) return terminal.error(`${name} is being ${done.toLowerCase()}.\n`)
  await client.waitForOperation(answer)
  terminal.error(`${done} ${name}.\n`)
}

/** Sends a PUT, waits for its end, and returns the resource. */
export async function putResource(
  { client }: Connection,
  path: string,
  version: string,
  body: object,
): Promise<unknown> {
  const query = { 'api-version': version }
  await client.waitForOperation(await client.request('PUT', path, { query, body }))
  return (await client.request('GET', path, { query })).body
}
