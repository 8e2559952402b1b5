/** `fault add`: adds a rule by which requests, steps or the store fail. */

import { type Command, defineCommand, UsageError } from '../../command.ts'
import { connectionOptions } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

const text = (summary: string, value: string) => ({ type: 'string', value, summary }) as const

/** Options that are numbers, by their names in the rule. */
const numbers = {
  status: 'status',
  'retry-after': 'retryAfter',
  latency: 'latency',
  rate: 'rate',
  count: 'count',
  after: 'after',
  seconds: 'seconds',
} as const
const texts = ['method', 'path', 'type', 'principal', 'code', 'step', 'store', 'engine'] as const

export const command: Command = defineCommand({
  name: 'fault add',
  summary: 'Let requests, steps of operations or the store fail by a rule',
  notes: () =>
    `A rule meets what all of its first options name; without any, everything. What it did: \`fault list\`.
One request alone fails with the header \`x-armature-fault: status=429; retry-after=2; latency=100; cut\`.`,
  arguments: [],
  options: {
    method: text('Requests with this method', 'method'),
    path: text('Requests to this path, or with * at its end to all that begin so', 'path'),
    type: text('Resources of this type, such as ContainerInstance/containerGroups', 'type'),
    principal: text('Requests of this caller: object id or name', 'principal'),
    rate: text('So many of them, from 0 to 1', 'number'),
    count: text('So many of them, then no more', 'number'),
    after: text('So many are let through before', 'number'),
    seconds: text('The rule ends after so many seconds', 'number'),
    status: text('Answer with this status, 400 to 599, in the body of the area', 'number'),
    code: text('The code of the error; the usual one of the status when left out', 'code'),
    'retry-after': text('Seconds in the header Retry-After', 'number'),
    latency: text('Milliseconds before the answer', 'number'),
    cut: { type: 'boolean', summary: 'End the connection in the middle of the body' },
    'refuse-token': { type: 'boolean', summary: 'Refuse the token of the caller' },
    step: { ...text('Steps of operations fail, or hang', 'how'), choices: ['fail', 'hang'] },
    engine: {
      ...text('The engine loses what it runs for the resource at --path', 'how'),
      choices: ['loses'],
    },
    store: { ...text('The store is away, or slow', 'how'), choices: ['away', 'slow'] },
    ...connectionOptions,
  },
  examples: [
    'fault add --status 429 --retry-after 5 --count 1 --type Resources/resourceGroups',
    'fault add --cut --rate 0.1',
    'fault add --step hang --type ContainerInstance/containerGroups',
  ],
  async run(context, values) {
    const rule: Record<string, unknown> = {
      ...(values.cut ? { cut: true } : {}),
      ...(values['refuse-token'] ? { token: 'refused' } : {}),
    }
    for (const name of texts) if (values[name] !== undefined) rule[name] = values[name]
    for (const [option, name] of Object.entries(numbers)) {
      const given = values[option as keyof typeof numbers]
      if (given === undefined) continue
      if (!Number.isFinite(Number(given))) throw new UsageError(`\`--${option}\` is a number`)
      rule[name] = Number(given)
    }
    const { client } = context.connect(values)
    const { body } = await client.request('POST', '/_armature/faults', { body: rule })
    printRecord(context.terminal, body)
    return 0
  },
})
