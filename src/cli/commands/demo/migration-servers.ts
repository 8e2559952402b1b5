/**
 * The two servers of the migration demo. A file of the home describes them, so that a demo that was killed can be
 * continued.
 */

import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { replaceFile } from '#files/replace-file.ts'
import { LocalProblem } from '../../command.ts'
import { findServerPrograms, howToGetServers, type ServerPrograms } from './postgres-binaries.ts'
import { type DemoServer, freePort, startServer } from './postgres-server.ts'

export interface ServerPair {
  readonly source: DemoServer
  readonly target: DemoServer
  readonly sourceMajor: number
  readonly targetMajor: number
  /** The name under which the target is registered. */
  readonly name: string
  /** The file with the password of both, for the reader's own commands. */
  readonly passwordFile: string
  /** Marks the data for removal after both servers have ended. Otherwise the demo can be continued. */
  discard(): void
}

/** The content of the file. */
interface PairRecord {
  readonly folder: string
  readonly sourcePort: number
  readonly targetPort: number
  readonly sourceMajor: number
  readonly targetMajor: number
  readonly name: string
}

/** The servers of a demo that was killed; undefined when there are none, or they cannot be started again. */
export async function findPair(
  home: string,
  kept: AsyncDisposableStack,
): Promise<ServerPair | undefined> {
  const file = fileIn(home)
  if (!existsSync(file)) return undefined
  // Only `makePair` writes this.
  const record = JSON.parse(readFileSync(file, 'utf8')) as PairRecord
  const programs = findServerPrograms()
  const source = programs.find(({ major }) => major === record.sourceMajor)
  const target = programs.find(({ major }) => major === record.targetMajor)
  if (source === undefined || target === undefined) return undefined
  if (!existsSync(record.folder) || !existsSync(passwordFileIn(home))) return undefined
  try {
    return await startPair(home, record, { sourcePrograms: source, targetPrograms: target }, kept)
  } catch (error) {
    // Usually another process has the port by now; then new servers are made.
    if (error instanceof LocalProblem) return undefined
    throw error
  }
}

/** Two new servers: the oldest installed version as the source, the newest as the target. Throws `LocalProblem`. */
export async function makePair(
  home: string,
  name: string,
  kept: AsyncDisposableStack,
): Promise<ServerPair> {
  const programs = findServerPrograms()
  const [source] = programs
  const target = programs.at(-1)
  if (source === undefined || target === undefined) {
    throw new LocalProblem('NoPostgres', howToGetServers)
  }
  removePair(home)
  const folder = mkdtempSync(join(tmpdir(), 'armature-demo-'))
  // The servers may run as another user, who must reach their folders below.
  chmodSync(folder, 0o711)
  const record: PairRecord = {
    folder,
    sourcePort: await freePort(),
    targetPort: await freePort(),
    sourceMajor: source.major,
    targetMajor: target.major,
    name,
  }
  const file = fileIn(home)
  writeFileSync(passwordFileIn(home), `${randomBytes(12).toString('hex')}\n`, { mode: 0o600 })
  replaceFile(file, JSON.stringify(record))
  return await startPair(home, record, { sourcePrograms: source, targetPrograms: target }, kept)
}

async function startPair(
  home: string,
  record: PairRecord,
  {
    sourcePrograms,
    targetPrograms,
  }: { readonly sourcePrograms: ServerPrograms; readonly targetPrograms: ServerPrograms },
  kept: AsyncDisposableStack,
): Promise<ServerPair> {
  await using starting = new AsyncDisposableStack()
  const { folder, sourcePort, targetPort, sourceMajor, targetMajor, name } = record
  const passwordFile = passwordFileIn(home)
  const password = readFileSync(passwordFile, 'utf8').trim()
  const start = async (programs: ServerPrograms, side: string, port: number): Promise<DemoServer> =>
    starting.use(await startServer(programs, { folder: join(folder, side), port, password }))
  const source = await start(sourcePrograms, 'source', sourcePort)
  const target = await start(targetPrograms, 'target', targetPort)
  let isDiscarded = false
  kept.defer(() => {
    if (isDiscarded) removePair(home)
  })
  kept.use(starting.move())
  const discard = (): void => {
    isDiscarded = true
  }
  return { source, target, sourceMajor, targetMajor, name, passwordFile, discard }
}

function removePair(home: string): void {
  const file = fileIn(home)
  if (!existsSync(file)) return
  // Only `makePair` writes this.
  const { folder } = JSON.parse(readFileSync(file, 'utf8')) as PairRecord
  rmSync(folder, { recursive: true, force: true })
  rmSync(passwordFileIn(home), { force: true })
  rmSync(file)
}

function fileIn(home: string): string {
  return join(home, 'demo-servers.json')
}

function passwordFileIn(home: string): string {
  return join(home, 'demo-servers.password')
}
