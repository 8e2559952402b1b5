/** `demo`: creates sample resources through the public API, and prints calls that use them. */

import { createClient } from '#client/client.ts'
import { clientCredentialsToken } from '#client/oauth.ts'
import { didYouMean } from '../../config/nearest-name.ts'
import { type Command, defineCommand, UsageError } from '../command.ts'
import type { Person } from '../consent.ts'
import type { Connection, Context } from '../context.ts'
import { addressesOf } from '../credential.ts'
import { exitFailed } from '../failure.ts'
import { connectionOptions, subscriptionOption } from '../options.ts'
import { bold, dim, printData } from '../output/print.ts'
import { subscriptionOf } from '../resource-path.ts'
import type { Terminal } from '../terminal.ts'
import { areaNames, type DemoArea, type DemoCall, loadArea } from './demo/area.ts'
import { formatCurl, formatRest } from './demo/format-call.ts'
import { createDemoSetup, secretsIn } from './demo/setup.ts'

export const command: Command = defineCommand({
  name: 'demo',
  summary: 'Prepare a small sample world, and print calls to paste that work on it',
  notes:
    () => `Areas: ${areaNames().join(', ')}. When none is named all of them but migrations, which runs
servers of its own until it is ended; then the calls are only listed. What is prepared is kept; a second run finds it
and makes nothing twice. Delete it with \`armature resource-group delete demo\`.`,
  arguments: [{ name: 'area', required: false, summary: 'Only this part of the contract' }],
  options: {
    run: { type: 'boolean', summary: 'Run the printed calls too, and show their answers' },
    ...subscriptionOption,
    ...connectionOptions,
  },
  examples: ['demo', 'demo access', 'demo access --run'],
  async run(context, values) {
    const areas = (await Promise.all(chooseAreas(values.area).map(loadArea))).filter(
      ({ stays }) => stays !== true || values.area !== undefined,
    )
    areas.sort((a, b) => (a.operations[0] ?? 0) - (b.operations[0] ?? 0))
    const connection = context.connect(values)
    const { folder } = context.home()
    await using kept = new AsyncDisposableStack()
    const fixture = createDemoSetup(
      connection,
      await subscriptionOf(connection, values.subscription),
      secretsIn(folder),
      {
        home: folder,
        kept,
        owner: ownerHere(context, connection),
        say: (text) => context.terminal.error(`${text}\n`),
      },
    )
    const ended = areas.some(({ stays }) => stays === true) ? endOf(context.terminal) : undefined
    // The calls of all areas together are a thousand lines.
    const isOverview = values.area === undefined && !values.run
    const shown: Shown[] = []
    for (const area of areas) {
      const calls = await area.prepare(fixture)
      if (!context.terminal.output.isData)
        context.terminal.out(areaLines(context, area, fixture.takeNotes()))
      for (const call of calls) {
        if (!context.terminal.output.isData)
          context.terminal.out(
            isOverview ? `  - ${titleOf(call)}\n` : callLines(context, connection, call),
          )
        const answer = values.run ? await runCall(context, connection, call) : undefined
        if (!context.terminal.output.isData && answer !== undefined)
          context.terminal.out(answerLines(context, answer))
        shown.push({ area: area.name, ...call, url: `${connection.url}${call.path}`, ...answer })
      }
      if (!context.terminal.output.isData && isOverview)
        context.terminal.out(
          `\n  npx armature demo ${area.name}    prints these calls, to paste\n\n`,
        )
    }
    if (context.terminal.output.isData) printData(context.terminal, shown)
    await ended
    const failed = shown.some(({ status, expect }) =>
      expect === undefined ? status !== undefined && status >= 300 : (status ?? expect) !== expect,
    )
    return failed ? exitFailed : 0
  },
})

interface Shown extends DemoCall {
  readonly area: string
  readonly url: string
  readonly status?: number
  readonly answer?: unknown
}

/** One keystroke can send two signals, since `npx` forwards it. */
const keystrokeMilliseconds = 1_000

/** Resolves at the first signal to stop; another one ends the process at once. */
function endOf(terminal: Terminal): Promise<void> {
  return new Promise((resolve) => {
    let isImpatient = false
    terminal.onStop(() => {
      if (isImpatient) terminal.exit(exitFailed)
      setTimeout(() => {
        isImpatient = true
      }, keystrokeMilliseconds).unref()
      resolve()
    })
  })
}

function chooseAreas(named: string | undefined): readonly string[] {
  const known = areaNames()
  if (named === undefined) return known
  if (known.includes(named)) return [named]
  throw new UsageError(
    `there is no area \`${named}\`${didYouMean(named, known)} (areas: ${known.join(', ')})`,
  )
}

async function runCall(
  context: Context,
  connection: Connection,
  call: DemoCall,
): Promise<{ readonly status: number; readonly answer: unknown }> {
  const client = await clientOf(context, connection, call)
  const { body, headers } = call
  const told = {
    ...(body === undefined ? {} : { body }),
    ...(headers === undefined ? {} : { headers }),
  }
  const sent = await client.send(call.method, call.path, told)
  const ended = call.wait && sent.status < 300 ? await client.waitForOperation(sent) : sent
  return { status: ended.status, answer: ended.body }
}

async function clientOf(
  context: Context,
  { client }: Connection,
  { as }: DemoCall,
): Promise<Connection['client']> {
  if (as === undefined) return client
  const clientSecret = (await context.readText(`@${as.secretFile}`)).trim()
  const { url } = client
  const token = await clientCredentialsToken({ url, clientId: as.clientId, clientSecret })
  return createClient({
    url,
    token: async () => token.accessToken,
    wait: { firstPollSeconds: 0.05 },
  })
}

function areaLines(context: Context, area: DemoArea, notes: readonly string[]): string {
  const prepared = notes.map((note) => `  ${note}\n`).join('')
  return `${bold(context.terminal, `${area.name}: ${area.summary}`)}\n${prepared}\n`
}

function titleOf({ operation, title }: DemoCall): string {
  return operation === 0 ? title : `Operation ${operation}: ${title}`
}

function callLines({ terminal }: Context, { url, running }: Connection, call: DemoCall): string {
  // The authority of the home does not apply to the address of a proxy.
  const authority = url === running?.httpsUrl ? running.authorityFile : undefined
  return `${titleOf(call)}\n\n${formatCurl(url, call, authority)}\n\n${dim(terminal, 'or')}\n\n${formatRest(call)}\n\n`
}

function answerLines(
  { terminal }: Context,
  { status, answer }: { readonly status: number; readonly answer: unknown },
): string {
  const body = answer === undefined ? '' : `${JSON.stringify(answer, undefined, 2)}\n`
  return `${bold(terminal, `HTTP ${status}`)}\n${body}\n`
}

function ownerHere(context: Context, { running }: Connection): Person | undefined {
  const owner = running === undefined ? undefined : context.home().owner()
  return owner && { ...owner, at: addressesOf(running) }
}
