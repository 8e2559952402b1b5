/** Follows a migration: reads its status twice a second, draws or prints changes, and sends answers. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError } from '#client/client-error.ts'
import type { Connection } from './context.ts'
import {
  choicesFor,
  emptyPrompt,
  handleKey,
  type PromptDecision,
  promptLines,
  waitReason,
} from './migration-choices.ts'
import { exitEndedBadly, exitWaits } from './migration-outcome.ts'
import { changeLines, progressLines, progressOf } from './migration-progress.ts'
import {
  hasEnded,
  type MigrationStatus,
  migrationQuery,
  patchMigration,
  readyForCutover,
  statusOf,
} from './migrations.ts'
import { cutLine } from './output/bar.ts'
import { printable } from './output/table.ts'
import type { Terminal } from './terminal.ts'

const everyMilliseconds = 500
/**
 * The status must say so this many times in a row that it waits: an answer just given takes effect a moment later.
 */
const waitingLooks = 4
/** The same before a person is asked: keys typed ahead were meant for something else. */
const askingLooks = 3
const defaultSize = { rows: 24, columns: 80 }

interface Watched {
  readonly migration: unknown
  readonly exitCode: number
}

interface WatchOptions {
  readonly draws: boolean
  readonly untilCutover: boolean
}

export async function watchMigration(
  terminal: Terminal,
  connection: Pick<Connection, 'client'>,
  path: string,
  { draws, untilCutover }: WatchOptions,
): Promise<Watched> {
  const { client } = connection
  await using listener = openListener(terminal)
  let canAsk = draws && terminal.size() !== undefined
  let before: MigrationStatus | undefined
  let talk = emptyPrompt
  let drawn = 0
  let looksWaiting = 0
  let looksAsking = 0
  for (;;) {
    const migration = (await client.request('GET', path, { query: migrationQuery })).body
    const status = statusOf(migration, client.timing.now())
    const offered = canAsk && !(untilCutover && readyForCutover(status).length > 0)
    const answers = offered ? choicesFor(status) : []
    looksAsking = answers.length === 0 ? 0 : looksAsking + 1
    const choices = looksAsking >= askingLooks ? answers : []
    if (draws) {
      const answer = await client.request('GET', `${path}/progress`, { query: migrationQuery })
      const size = terminal.size() ?? defaultSize
      const asking = promptLines(status, talk, choices).map((line) =>
        cutLine(printable(line), size.columns),
      )
      // The line below the last one is for the cursor.
      const rows = Math.max(2, size.rows - asking.length - 2)
      drawn = draw(
        terminal,
        [...progressLines(status, progressOf(answer.body), { ...size, rows }), ...asking],
        drawn,
      )
    } else {
      terminal.error(
        changeLines(before, status)
          .map((line) => `${line}\n`)
          .join(''),
      )
    }
    before = status
    looksWaiting = waitReason(status) === undefined ? 0 : looksWaiting + 1
    const hasWaited = looksWaiting >= waitingLooks
    const exitCode = exitCodeOf(status, hasWaited, untilCutover, canAsk)
    if (exitCode !== undefined) return { migration, exitCode }
    const characters = await listener.next(choices.length > 0, everyMilliseconds)
    if (characters === undefined) canAsk = false
    for (const character of characters ?? '') {
      const heard = handleKey(talk, character, choices)
      talk = heard.talk
      if (heard.said?.kind === 'leave') return { migration, exitCode: 0 }
      if (heard.said === undefined) continue
      talk = { ...talk, complaint: await say(connection, path, heard.said) }
      // Keys after it were typed for a state that has passed.
      break
    }
  }
}

/** Sends the answer. Returns the refusal, or nothing. */
async function say(
  connection: Pick<Connection, 'client'>,
  path: string,
  { properties }: Extract<PromptDecision, { kind: 'patch' }>,
): Promise<string> {
  try {
    await patchMigration(connection, path, properties)
    return ''
  } catch (error) {
    // A refusal is shown to the person; the migration continues.
    if (error instanceof ClientError) return error.message
    throw error
  }
}

function exitCodeOf(
  status: MigrationStatus,
  hasWaited: boolean,
  untilCutover: boolean,
  canAsk: boolean,
): number | undefined {
  if (hasEnded(status)) return status.state === 'Succeeded' ? 0 : exitEndedBadly
  if (!hasWaited) return undefined
  if (untilCutover && status.subState === 'WaitingForCutoverTrigger') return 0
  return canAsk ? undefined : exitWaits
}

function draw(terminal: Terminal, lines: readonly string[], drawn: number): number {
  const up = drawn === 0 ? '' : `\u001b[${drawn}A`
  // Clears the old lines when there are fewer new ones.
  terminal.error(`${up}\u001b[0J${lines.map((line) => `${line}\n`).join('')}`)
  return lines.length
}

interface Listener extends AsyncDisposable {
  /**
   * The keys typed within that time; undefined at the end of the input. The terminal is read only while there is
   * something to ask; at other times its keys work as usual.
   */
  next(asks: boolean, milliseconds: number): Promise<string | undefined>
}

function openListener(terminal: Terminal): Listener {
  const decoder = new TextDecoder()
  let typed = ''
  let isOver = false
  let wake: () => void = () => {}
  let stop: (() => void) | undefined
  const take = async (bytes: Uint8Array | undefined): Promise<void> => {
    if (bytes === undefined) isOver = true
    // A cursor key arrives as several characters.
    else if (bytes.length === 1 || bytes[0] !== 0x1b) {
      typed += decoder.decode(bytes, { stream: true })
    }
    wake()
  }
  const quiet = (): void => {
    stop?.()
    stop = undefined
  }
  return {
    async next(asks, milliseconds) {
      if (!asks) {
        quiet()
        typed = ''
        await sleep(milliseconds)
        return ''
      }
      stop ??= terminal.listen(take)
      if (typed === '' && !isOver) {
        const woken = new Promise<void>((resolve) => {
          wake = resolve
        })
        const timer = new AbortController()
        await Promise.race([woken, sleep(milliseconds, undefined, { signal: timer.signal })])
        timer.abort()
      }
      const characters = typed
      typed = ''
      return characters === '' && isOver ? undefined : characters
    },
    async [Symbol.asyncDispose]() {
      quiet()
    },
  }
}
