/** Follows a migration: looks twice a second, draws or tells what changed, and passes on what is answered to it. */

import { setTimeout as sleep } from 'node:timers/promises'
import { ClientError } from '#client/client-error.ts'
import type { Connection } from './context.ts'
import { choicesFor, hear, type Said, silence, talkLines, waitReason } from './migration-choices.ts'
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
/** So many looks in a row have to say that it waits: what was answered just now takes effect at its next look. */
const waitingLooks = 4
/** As long before somebody is asked: keys that were typed ahead were meant for something else. */
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
  let talk = silence
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
      const asking = talkLines(status, talk, choices).map((line) =>
        cutLine(printable(line), size.columns),
      )
      // The line below the last one belongs to the cursor.
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
      const heard = hear(talk, character, choices)
      talk = heard.talk
      if (heard.said?.kind === 'leave') return { migration, exitCode: 0 }
      if (heard.said === undefined) continue
      talk = { ...talk, complaint: await say(connection, path, heard.said) }
      // What comes after it was typed in view of what is not so any more.
      break
    }
  }
}

/** What was wrong with it, or nothing. */
async function say(
  connection: Pick<Connection, 'client'>,
  path: string,
  { properties }: Extract<Said, { kind: 'patch' }>,
): Promise<string> {
  try {
    await patchMigration(connection, path, properties)
    return ''
  } catch (error) {
    // A refusal is an answer to whoever watches; the migration goes on.
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
  // Fewer lines than before leave none of the old ones behind.
  terminal.error(`${up}\u001b[0J${lines.map((line) => `${line}\n`).join('')}`)
  return lines.length
}

interface Listener extends AsyncDisposable {
  /**
   * What was typed within that time; undefined at the end of the input. The terminal is listened to only while
   * there is something to ask: at other times its keys do what they always do.
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
    // A key that moves the cursor comes as several characters.
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
