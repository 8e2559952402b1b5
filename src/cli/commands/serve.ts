/** `serve`: runs the server until it is stopped. Only this command loads server code. */

import { resolve } from 'node:path'
import { applySeed, type Seed } from '#client/seed.ts'
import { type Config, describeSettings } from '../../config.ts'
import { type Command, defineCommand, LocalProblem } from '../command.ts'
import { type Context, connectHome } from '../context.ts'
import { serveDetached } from '../detached-server.ts'
import { exitFailed } from '../failure.ts'
import { openHome } from '../home.ts'
import { bold, printData } from '../output/print.ts'
import { formatPairs } from '../output/table.ts'
import { readSeedFile } from '../seed-file.ts'
import type { Terminal } from '../terminal.ts'
import { quote } from './demo/format-call.ts'

/** The part of the result of `start` that this command uses. */
interface Started {
  /** For the code that started it. */
  readonly inside: { readonly states: { save(name: string): Promise<unknown> } }
  readonly url: string
  readonly listensAt: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  readonly signInUrl: string
  /** The certificate authority that https clients must trust; undefined when there is none. */
  readonly authorityFile: string | undefined
  readonly firstStart: boolean
  readonly home: string
  /** The store's address, without a password. */
  readonly store: string
  /** The container engine, and whether it really runs containers. */
  readonly containers: string
  readonly startedInMilliseconds: number
  /** Logs an unhandled error with its stack, and counts it. */
  noteUnhandled(kind: 'rejection' | 'exception', error: unknown): void
  /** Waits for running requests, then closes everything. */
  close(): Promise<void>
}

export const command: Command = defineCommand({
  name: 'serve',
  summary: 'Run the server, in the foreground unless told otherwise',
  notes: settingsTable,
  arguments: [],
  options: {
    home: {
      type: 'string',
      value: 'folder',
      summary: 'Data directory [env: ARMATURE_HOME, default: .armature]',
    },
    host: {
      type: 'string',
      value: 'address',
      summary: 'Address to listen on [env: ARMATURE_HOST]',
    },
    port: {
      type: 'string',
      value: 'number',
      summary: 'Port to listen on; 0 takes a free one [env: ARMATURE_PORT]',
    },
    store: {
      type: 'string',
      value: 'address',
      summary: 'PostgreSQL to store everything in [env: ARMATURE_STORE]',
    },
    'public-url': {
      type: 'string',
      value: 'address',
      summary: 'Address that clients use [env: ARMATURE_PUBLIC_URL]',
    },
    'log-level': {
      type: 'string',
      value: 'level',
      summary: 'How much is logged [env: ARMATURE_LOG_LEVEL]',
    },
    detach: {
      type: 'boolean',
      summary: 'Return when it is ready; `stop` ends it, `logs` shows what it wrote',
    },
    seed: {
      type: 'string',
      value: 'file',
      summary: 'What the first start makes, as YAML or JSON: principals, groups, resources, roles',
    },
  },
  examples: [
    'serve',
    'serve --port 0 --home /var/lib/armature',
    'serve --store postgres://armature@db/armature',
  ],
  async run(context, values) {
    const config = context.config({
      home: values.home,
      host: values.host,
      port: values.port,
      store: values.store,
      publicUrl: values['public-url'],
      logLevel: values['log-level'],
    })
    for (const warning of config.warnings) context.terminal.error(`Warning: ${warning}\n`)
    const seed = values.seed === undefined ? undefined : await readSeedFile(values.seed)
    if (values.detach) return serveDetached(context.terminal, openHome(config.home))
    const { idsForSeed, start } = await import('../../main.ts')
    return runUntilStopped(context, config, async (settings) => {
      if (seed === undefined) return start(settings)
      // Beside a PostgreSQL store others may start at the same time, and would make the same ids.
      const isAlone = config.store === undefined && openHome(config.home).owner() === undefined
      const { idsFor, state } = idsForSeed(isAlone ? 'start' : 'over')
      const server = await start(settings, { idsFor })
      state.phase = 'seed'
      if (server.firstStart) await sow(server, seed, config)
      state.phase = 'over'
      return server
    })
  },
})

/** The name of the state after the first start (`control/states.ts`). */
const firstState = 'initial'

/**
 * Two signals closer than this are one: a service manager or a terminal signals the launcher and the server at
 * once, and the launcher passes its own on. A person who asks twice takes longer.
 */
const sameSignalMilliseconds = 500

async function runUntilStopped(
  context: Context,
  config: Config,
  start: (config: Config) => Promise<Started>,
): Promise<number> {
  const { terminal } = context
  // Registered before the start, so that a stop during the start does not leave half an installation.
  let stoppedAt: number | undefined
  const stopped = new Promise<void>((resolve) => {
    terminal.onStop(() => {
      const now = performance.now()
      if (stoppedAt !== undefined && now - stoppedAt > sameSignalMilliseconds) terminal.exit(130)
      stoppedAt ??= now
      resolve()
    })
  })
  const server = await start(config).catch((error: unknown) => {
    throw startFailure(error)
  })
  if (terminal.output.isData) printData(terminal, startFacts(server))
  else terminal.out(startLines(context, server))
  terminal.started?.()
  const failed = watchUnhandled(terminal, server)
  const isOrdinary = await Promise.race([stopped.then(() => true), failed.then(() => false)])
  terminal.error(
    isOrdinary
      ? 'Shutting down gracefully. Press Ctrl-C again to force quit.\n'
      : 'Shutting down after an error that nobody handled; the log has it.\n',
  )
  await server.close()
  const code = isOrdinary ? 0 : exitFailed
  // A connection that somebody else keeps open, such as that of a probe, is nothing to wait for.
  setTimeout(() => terminal.exit(code), leaveMilliseconds).unref()
  return code
}

/** How long a process without a server may take to end by itself. */
const leaveMilliseconds = 1000

/**
 * A promise that was forgotten is a fault of one piece of work: it is told of, and the server goes on. An exception that
 * nobody caught may have left anything half done: the server ends in order, and whoever runs it starts it anew.
 */
function watchUnhandled(terminal: Terminal, server: Started): Promise<void> {
  return new Promise((resolve) => {
    let isEnding = false
    terminal.onUnhandled((kind, error) => {
      server.noteUnhandled(kind, error)
      if (kind === 'rejection') return
      // Another error occurred while closing.
      if (isEnding) terminal.exit(exitFailed)
      isEnding = true
      resolve()
    })
  })
}

/** The next start would take half a seed for a whole one, so the server ends and says what to do. */
async function sow(server: Started, seed: Seed, { words }: Config): Promise<void> {
  try {
    const { client } = connectHome(openHome(server.home), {}, words)
    const { tenantId, subscriptionId } = server
    await applySeed(client, seed, { tenantId, subscriptionId, words })
    // The state that `reset` restores.
    await server.inside.states.save(firstState)
  } catch (error) {
    await server.close()
    const reason = error instanceof Error ? error.message : String(error)
    throw new LocalProblem(
      'SeedRefused',
      `The seed was not taken: ${reason.replace(/\.?$/, '.')} What it made before stays: begin with an empty home or database.`,
      { cause: error },
    )
  }
}

/** The message of a failed start for the operator, without a stack. Bugs keep their stack. */
function startFailure(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const code = 'code' in error ? String(error.code) : ''
  const meant = error.name === 'Error' || error.name === 'StoreUnavailable'
  if (!meant || code.startsWith('ERR_')) return error
  const advice =
    code === 'EADDRINUSE'
      ? '. Another program has this address: end it (`armature stop`, if it is one of these), or give `--port` another number; 0 takes a free one.'
      : ''
  return new LocalProblem('StartFailed', `${error.message}${advice}`, { cause: error })
}

function startFacts(server: Started): object {
  const { url, listensAt, subscriptionId, signInUrl, home, store, containers, firstStart } = server
  return { url, listensAt, subscriptionId, signInUrl, home, store, containers, firstStart }
}

function startLines(context: Context, server: Started): string {
  const { terminal } = context
  const list = `${server.url}/subscriptions/${server.subscriptionId}/resourcegroups?api-version=2021-04-01`
  const pairs = formatPairs([
    ...(server.listensAt === server.url ? [] : [['Listens at', server.listensAt] as const]),
    ['Subscription', server.subscriptionId],
    ['Sign-in page', server.signInUrl],
    ['Home', server.home],
    ['Store', server.store],
    ['Containers', server.containers],
  ])
  const seconds = (server.startedInMilliseconds / 1000).toFixed(2)
  const first = server.firstStart
    ? `\nFirst start: the owner's name and password are in ${server.home}/owner.json\n`
    : ''
  // The commands use the home of the settings. A home that only this process knows must be given to them.
  const elsewhere =
    server.home === resolve('.armature') ? '' : `  export ARMATURE_HOME=${quote(server.home)}\n`
  const trusting =
    server.authorityFile === undefined ? '' : ` --cacert ${quote(server.authorityFile)}`
  // Only the home of the first start holds an owner, as long as nobody deletes the file.
  const files = openHome(server.home)
  const hasCredential = files.owner() !== undefined || files.session() !== undefined
  const signIn = hasCredential ? '' : `  npx armature login --url ${server.url}\n`
  return `${bold(terminal, `Armature is ready at ${server.url}`)} (${seconds} s)

${pairs}
${first}
Try it in another terminal, in this folder:

${elsewhere}${signIn}  curl${trusting} -H "Authorization: Bearer $(npx armature token)" "${list}"
  npx armature demo

`
}

function settingsTable(): string {
  const pairs = describeSettings().map(
    (setting) =>
      [
        setting.environment,
        `${setting.description}\nExpected: ${setting.expected}. Default: ${setting.default === '' ? 'empty' : setting.default}`,
      ] as const,
  )
  return `Settings, from the environment, or by key in armature.config.json (ARMATURE_CONFIG names another
file), where a key is the variable's name in the form \`publicUrl\`:
${formatPairs(pairs)}`
}
