/**
 * `rest`: sends one authenticated request and prints the answer unchanged. The exit code says whether it succeeded.
 */

import type { Answer } from '#client/answer.ts'
import { type Command, defineCommand, UsageError } from '../command.ts'
import { exitFailed } from '../failure.ts'
import { connectionOptions } from '../options.ts'
import { dim, printData } from '../output/print.ts'
import { printable } from '../output/table.ts'
import type { Terminal } from '../terminal.ts'

export const command: Command = defineCommand({
  name: 'rest',
  summary: 'Send any request and print its answer; exit code 0 only for 2xx',
  arguments: [
    { name: 'method', summary: 'GET, PUT, PATCH, POST, DELETE, HEAD' },
    {
      name: 'path',
      summary: 'The path, which may hold a query, or a whole URL of the installation',
    },
  ],
  options: {
    body: {
      type: 'string',
      short: 'b',
      value: 'json',
      summary: 'The body: the JSON itself, `@file`, or `-` for standard input',
    },
    header: {
      type: 'string',
      short: 'H',
      value: 'name:value',
      multiple: true,
      summary: 'A header to send',
    },
    'url-parameter': {
      type: 'string',
      short: 'u',
      value: 'name=value',
      multiple: true,
      summary: 'A parameter behind the path, which is encoded as needed',
    },
    'api-version': {
      type: 'string',
      value: 'date',
      summary: 'The same as `--url-parameter api-version=…`',
    },
    include: { type: 'boolean', short: 'i', summary: 'Print status and headers before the body' },
    wait: { type: 'boolean', summary: 'Follow a long-running operation, print what it ended with' },
    ...connectionOptions,
  },
  examples: [
    'rest GET /subscriptions?api-version=2020-01-01',
    'rest PUT "/subscriptions/$S/resourcegroups/demo" --api-version 2021-04-01 --body \'{"location":"local"}\'',
    'rest PUT "$ID?api-version=2022-04-01" --body @assignment.json --header "If-Match: *" --include',
  ],
  async run(context, values) {
    const method = values.method.toUpperCase()
    if (!/^[A-Z]{1,20}$/.test(method)) throw new UsageError(`\`${values.method}\` is no method`)
    if (values.body !== undefined && (method === 'GET' || method === 'HEAD')) {
      throw new UsageError(`a ${method} has no body`)
    }
    const headers = Object.fromEntries(values.header.map(parseHeader))
    const query = Object.fromEntries(values['url-parameter'].map(parseQuery))
    const version = values['api-version']
    const body = values.body === undefined ? undefined : await context.readText(values.body)
    const { client } = context.connect(values)
    const sent = await client.send(method, values.path, {
      query: { ...query, ...(version === undefined ? {} : { 'api-version': version }) },
      headers,
      ...(body === undefined ? {} : { body }),
    })
    const answer = values.wait && isSuccess(sent) ? await client.waitForOperation(sent) : sent
    printAnswer(context.terminal, answer, values.include)
    return isSuccess(answer) ? 0 : exitFailed
  },
})

function isSuccess(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300
}

function parseHeader(text: string): readonly [string, string] {
  const colon = text.indexOf(':')
  const name = text.slice(0, colon).trim()
  const value = text.slice(colon + 1).trim()
  if (
    colon < 1 ||
    !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ||
    !/^[\t\u0020-\u007e]*$/.test(value)
  ) {
    throw new UsageError(`\`--header ${text}\` is not of the form \`name: value\``)
  }
  return [name, value]
}

function parseQuery(text: string): readonly [string, string] {
  const equals = text.indexOf('=')
  if (equals < 1)
    throw new UsageError(`\`--url-parameter ${text}\` is not of the form \`name=value\``)
  return [text.slice(0, equals), text.slice(equals + 1)]
}

/** A program gets the body unchanged, byte for byte; a person gets indented JSON. */
function printAnswer(terminal: Terminal, answer: Answer, include: boolean): void {
  if (include) {
    const headers = [...answer.headers].map(([name, value]) => printable(`${name}: ${value}`))
    const lines = [`HTTP ${answer.status}`, ...headers]
    terminal.out(`${dim(terminal, lines.join('\n'))}\n\n`)
  } else if (!isSuccess(answer)) {
    terminal.error(`HTTP ${answer.status}\n`)
  }
  if (answer.text === '') return
  const { output, interactive } = terminal
  if ((output.isChosen || interactive) && typeof answer.body === 'object') {
    printData(terminal, answer.body)
    return
  }
  const { text } = answer
  terminal.out(text.endsWith('\n') ? text : `${text}\n`)
}
