/** `container-group create`: creates or replaces a container group, from options or a whole body. */

import { type Command, defineCommand, LocalProblem, UsageError } from '../../command.ts'
import { containerVersion, groupPath, summaryOf } from '../../container-groups.ts'
import { groupOptions, missingGroup } from '../../group-place.ts'
import { connectionOptions, noWaitOption } from '../../options.ts'
import { printRecord } from '../../output/print.ts'

export const command: Command = defineCommand({
  name: 'container-group create',
  summary: 'Make a container group, or replace one',
  notes: () => `One container can be described by options. For more, give the whole body: a JSON
object with \`properties.containers\`, as the reference has it.`,
  arguments: [{ name: 'name', summary: 'The name of the group' }],
  options: {
    ...groupOptions,
    body: {
      type: 'string',
      short: 'b',
      value: 'json',
      summary: 'The whole body: the JSON itself, `@file`, or `-` for standard input',
    },
    image: { type: 'string', value: 'image', summary: 'The image of the only container' },
    command: {
      type: 'string',
      value: 'line',
      summary: 'What it runs, given to `/bin/sh -c`; the image’s own command when left out',
    },
    env: { type: 'string', value: 'name=value', multiple: true, summary: 'A variable' },
    'secure-env': {
      type: 'string',
      value: 'name=value',
      multiple: true,
      summary: 'A variable that is encrypted at rest and never shown',
    },
    port: { type: 'string', value: 'number', multiple: true, summary: 'A port it listens on' },
    cpu: { type: 'string', value: 'cores', summary: 'Processor cores; 1 when left out' },
    memory: { type: 'string', value: 'GB', summary: 'Memory; 1.5 when left out' },
    'restart-policy': {
      type: 'string',
      value: 'policy',
      choices: ['Always', 'OnFailure', 'Never'],
      summary: 'When it is run again; Always when left out',
    },
    'ip-address': {
      type: 'string',
      value: 'type',
      choices: ['Public', 'Private'],
      summary: 'Public: its ports are published on the host',
    },
    location: {
      type: 'string',
      value: 'name',
      summary: 'Where; as its resource group when left out',
    },
    ...noWaitOption,
    ...connectionOptions,
  },
  examples: [
    'container-group create web -g demo --image docker.io/library/nginx:1 --port 80 --ip-address Public',
    'container-group create pair -g demo --body @pair.json',
  ],
  confirm: missingGroup,
  async run(context, values) {
    const { image, name, body: given } = values
    if ((given === undefined) === (image === undefined)) {
      throw new UsageError('give one of `--image` and `--body`')
    }
    const body = given === undefined ? bodyOf(values) : parsed(await context.readText(given))
    const connection = context.connect(values)
    const path = await groupPath(connection, values, name)
    const query = { 'api-version': containerVersion }
    const accepted = await connection.client.request('PUT', path, { query, body })
    if (values['no-wait']) {
      printRecord(context.terminal, accepted.body, summaryOf(accepted.body))
      return 0
    }
    await connection.client.waitForOperation(accepted)
    const made = (await connection.client.request('GET', path, { query })).body
    printRecord(context.terminal, made, summaryOf(made))
    return 0
  },
})

interface ContainerValues {
  readonly name: string
  readonly image: string | undefined
  readonly command: string | undefined
  readonly env: readonly string[]
  readonly 'secure-env': readonly string[]
  readonly port: readonly string[]
  readonly cpu: string | undefined
  readonly memory: string | undefined
  readonly 'restart-policy': string | undefined
  readonly 'ip-address': string | undefined
  readonly location: string | undefined
}

function bodyOf(values: ContainerValues): object {
  const ports = values.port.map((text) => ({ port: numberOf('port', text), protocol: 'TCP' }))
  const requests = {
    ...(values.cpu === undefined ? {} : { cpu: numberOf('cpu', values.cpu) }),
    ...(values.memory === undefined ? {} : { memoryInGB: numberOf('memory', values.memory) }),
  }
  const environmentVariables = [
    ...values.env.map((text) => pair(text, 'env', 'value')),
    ...values['secure-env'].map((text) => pair(text, 'secure-env', 'secureValue')),
  ]
  const type = values['ip-address']
  return {
    ...(values.location === undefined ? {} : { location: values.location }),
    properties: {
      osType: 'Linux',
      ...(values['restart-policy'] === undefined
        ? {}
        : { restartPolicy: values['restart-policy'] }),
      containers: [
        {
          name: values.name.toLowerCase(),
          properties: {
            image: values.image,
            ...(values.command === undefined ? {} : { command: ['/bin/sh', '-c', values.command] }),
            ...(environmentVariables.length === 0 ? {} : { environmentVariables }),
            ...(ports.length === 0 ? {} : { ports }),
            ...(Object.keys(requests).length === 0 ? {} : { resources: { requests } }),
          },
        },
      ],
      ...(type === undefined ? {} : { ipAddress: { type, ports } }),
    },
  }
}

function numberOf(option: string, text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number)) return number
  throw new UsageError(`\`--${option} ${text}\` is not a number`)
}

function pair(text: string, option: string, member: 'value' | 'secureValue'): object {
  const equals = text.indexOf('=')
  // The value may be secure, so the message does not repeat it.
  if (equals < 1) throw new UsageError(`\`--${option}\` is of the form \`name=value\``)
  return { name: text.slice(0, equals), [member]: text.slice(equals + 1) }
}

function parsed(text: string): object {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // JSON.parse reports bad text only by throwing.
  }
  throw new LocalProblem('InvalidBody', 'The body is not a JSON object.')
}
