/**
 * An application writing to a database while it is migrated: inserts, updates, deletes, sequences, at a
 * steady rate. It counts what was committed, and goes on after errors, as applications do.
 */

import { openWay } from '#outbound/testing/ways.ts'
import { codeOf, connect, type Session } from '../postgres/connect.ts'
import type { TestServer } from './servers.ts'

interface Load {
  /** Committed so far. */
  readonly committed: () => number
  /** What its statements failed with, other than by being shut out. */
  readonly failures: () => readonly string[]
  /** Sees to it that nothing is written any more. */
  stop(): Promise<void>
}

/** Works on the tables of `oddThings`. */
const oddWrites: readonly string[] = [
  `INSERT INTO public.child (parent_id, note) VALUES (1 + (random() * 100)::int, 'written ' || clock_timestamp())`,
  `UPDATE public.parent SET t = 'updated ' || clock_timestamp() WHERE id = 1 + (random() * 1000)::int`,
  `UPDATE public.no_key SET b = 'y' || a WHERE a = (random() * 50)::int`,
  `DELETE FROM public.child WHERE id = (SELECT max(id) - 20 FROM public.child)`,
  `INSERT INTO public.measure VALUES (1 + (random() * 4)::int, date '2021-01-01' + (random() * 3000)::int, 1)
   ON CONFLICT DO NOTHING`,
  `UPDATE public.everything SET mood = 'sad', j = j || '{"seen": true}' WHERE id = 1 + (random() * 100)::int`,
  `UPDATE public.generated_key SET x = x + 1000 WHERE x = (SELECT min(x) FROM public.generated_key)`,
  `UPDATE public.generated_index SET t = t || '+' WHERE x = 1 + (random() * 49)::int`,
  `SELECT nextval('public.counted')`,
  `UPDATE public.scratch SET t = t || '+' WHERE id = 1`,
]

const stepMilliseconds = 20
/** A transaction that only reads, and a session that was ended. */
const shutOut: ReadonlySet<string> = new Set(['25006', '57P01'])
const failuresMax = 20

export function startLoad(
  server: TestServer,
  database: string,
  options: {
    readonly perSecond: number
    readonly statements?: readonly string[]
    /** Ends by itself when it is shut out, as an application in maintenance; else it tries again. */
    readonly endsWhenShutOut?: boolean
  },
): Load {
  const statements = options.statements ?? oddWrites
  let committed = 0
  let stopping = false
  const failures: string[] = []
  const work = async (): Promise<void> => {
    let session: Session | undefined
    const started = process.hrtime.bigint()
    let made = 0
    while (!stopping) {
      const seconds = Number(process.hrtime.bigint() - started) / 1e9
      const due = Math.floor(seconds * options.perSecond)
      try {
        session ??= await openAsApplication(server, database)
        while (made < due && !stopping) {
          await session.run(statements[made % statements.length] ?? 'SELECT 1')
          made += 1
          committed += 1
        }
      } catch (error) {
        // Fenced, ended or away: an application tries again. The end of a session is known a moment after its error.
        await new Promise((done) => setTimeout(done, stepMilliseconds))
        const isLost = session === undefined || session.lost() !== undefined
        const isOut = isLost || shutOut.has(codeOf(error) ?? '')
        if (!isOut && failures.length < failuresMax) {
          failures.push(`${statements[made % statements.length]}: ${error}`)
        }
        made += 1
        if (isOut && options.endsWhenShutOut === true) stopping = true
        if (isLost) session = undefined
      }
      await new Promise((done) => setTimeout(done, stepMilliseconds))
    }
    await session?.client.end()
  }
  const working = work()
  return {
    committed: () => committed,
    failures: () => failures,
    stop: async () => {
      stopping = true
      await working
    },
  }
}

/** A session that a fence holds for, as it does for an application's own. */
async function openAsApplication(server: TestServer, database: string): Promise<Session> {
  const session = await connect(
    { address: server.address, password: server.password, outbound: openWay },
    { database, applicationName: 'load' },
  )
  await session.run('RESET default_transaction_read_only; RESET search_path')
  return session
}
