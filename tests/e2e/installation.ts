/**
 * An installation for a test: the launcher's `serve` as a process, in a new home, on a port that the system picks.
 * Tests talk to it over HTTP only.
 */

import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requireDeclared } from '../answers.ts'
import { launcher } from '../launcher.ts'
import { isLong } from '../long.ts'

/** Processes that end with this one, however it ends. */
const children = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})

export interface InstallationOptions {
  /** A `postgres://` address. Default: SQLite in the home. */
  readonly store?: string
  /** An existing home, which stays. Default: a new one that is removed with the installation. */
  readonly home?: string
  /** For replicas that share a store: the content of `installation.key` of the first home. */
  readonly key?: string
  /** Default: a port that the system picks. */
  readonly port?: string
  /** Further arguments of `serve`. */
  readonly words?: readonly string[]
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>
}

interface RequestOptions {
  /** Sent as JSON; a text is sent unchanged. */
  readonly body?: unknown
  /** Default: the owner's token. `null` sends none. */
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Parsed if it is JSON. */
  readonly body: unknown
  /** The value at a path of the body, such as `error.code` or `value.0.name`; undefined if there is none. */
  at(path: string): unknown
  /** The items of a list. */
  items(): readonly Readonly<Record<string, unknown>>[]
}

interface Ran {
  readonly code: number
  readonly out: string
  readonly error: string
}

export interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

export interface Owner extends Credentials {
  readonly principalId: string
  readonly signInName: string
  readonly password: string
}

export interface Installation extends AsyncDisposable {
  /** The address where it listens. */
  readonly url: string
  /** Its own address, if a public one was set. */
  readonly publicUrl: string
  readonly home: string
  readonly tenantId: string
  readonly subscriptionId: string
  readonly principalId: string
  /** An access token of the owner. */
  readonly ownerToken: string
  readonly owner: Owner
  readonly process: ChildProcess
  request(method: string, path: string, options?: RequestOptions): Promise<Answer>
  /** Runs the command line as a user would, with the home of this installation. */
  cli(words: readonly string[], input?: string): Promise<Ran>
  /** Everything it has printed on standard output and standard error. */
  output(): string
  log(): string
  /** Sends SIGKILL, as in a crash. */
  kill(): Promise<void>
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>
}

/** The server ended instead of becoming ready. */
export class StartRefused extends Error {
  readonly code: number | null
  readonly output: string
  constructor(code: number | null, output: string) {
    super(`serve ended with ${code}:\n${output}`)
    this.code = code
    this.output = output
  }
}

/** Throws `StartRefused` if the server refuses to start. */
export async function startInstallation(options: InstallationOptions = {}): Promise<Installation> {
  const home = options.home ?? freshHome()
  const environment = {
    ...process.env,
    ARMATURE_HOME: home,
    ARMATURE_LOG_LEVEL: 'warn',
    ...(options.store === undefined ? {} : { ARMATURE_STORE: options.store }),
    ...(options.key === undefined ? {} : { ARMATURE_KEY: options.key }),
    ...options.environment,
  }
  const child = spawn(
    process.execPath,
    [launcher, 'serve', '--port', options.port ?? '0', ...(options.words ?? [])],
    {
      cwd: home,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  children.add(child)
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  let output = ''
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk
  })
  const dispose = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
    children.delete(child)
    if (options.home === undefined) rmSync(home, { recursive: true, force: true })
  }
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk
        // The last line that a start prints.
        if (/npx armature demo\n/.test(output)) resolve()
      })
      void ended.then((code) => reject(new StartRefused(code, output + log)))
    })
  } catch (error) {
    await dispose()
    throw error
  }
  return {
    ...(await attachInstallation(home, environment)),
    process: child,
    output: () => output,
    log: () => log,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    stop() {
      child.kill('SIGTERM')
      return ended
    },
    [Symbol.asyncDispose]: dispose,
  }
}

/** Calls for an installation that somebody else started, by the files of its home. */
export type Attached = Omit<
  Installation,
  'process' | 'output' | 'log' | 'kill' | 'stop' | typeof Symbol.asyncDispose
>

export async function attachInstallation(
  home: string,
  environment: NodeJS.ProcessEnv = { ...process.env, ARMATURE_HOME: home },
): Promise<Attached> {
  const running = readJson(join(home, 'running.json'))
  const url = String(running['localUrl'])
  const owner = readOwner(home)
  const ownerToken = owner === undefined ? '' : await clientToken(url, owner)
  // With generic resources, served types answer properties that no document declares.
  const isDeclared = environment['ARMATURE_GENERIC_RESOURCES'] !== 'on'
  return {
    url,
    publicUrl: String(running['url']),
    home,
    tenantId: String(running['tenantId']),
    subscriptionId: String(running['subscriptionId']),
    principalId: String(running['principalId']),
    ownerToken,
    owner: owner ?? nobody,
    async request(method, path, given = {}) {
      // Links in answers are absolute. A path is used literally, even one that begins with two slashes.
      const target = new URL(path.startsWith('/') ? url + path : path)
      const answer = await send(target, method, { token: ownerToken, ...given })
      const asked = target.pathname + target.search
      if (isDeclared) requireDeclared({ method, path: asked, ...answer })
      return answer
    },
    cli: (words, input) => runCli(environment, words, input),
  }
}

/** A home for more than one start. The caller removes it. */
export function freshHome(): string {
  return mkdtempSync(join(tmpdir(), 'armature-e2e-'))
}

/** The home of a second replica has no owner: the first one created it. */
const nobody: Owner = {
  principalId: '',
  clientId: '',
  clientSecret: '',
  signInName: '',
  password: '',
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  // The server's own files. Assertions fail if the shape is wrong.
  return JSON.parse(readFileSync(path, 'utf8')) as Readonly<Record<string, unknown>>
}

function readOwner(home: string): Owner | undefined {
  try {
    // Written by the server of this test.
    return readJson(join(home, 'owner.json')) as unknown as Owner
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}

/** An application's token, by its secret. Throws with the server's message if it is refused. */
export async function clientToken(url: string, credentials: Credentials): Promise<string> {
  const answer = await askToken(url, credentials)
  const token = answer.at('access_token')
  if (typeof token !== 'string') throw new Error(`no token: ${answer.status} ${answer.text}`)
  return token
}

export function askToken(url: string, { clientId, clientSecret }: Credentials): Promise<Answer> {
  const form = { grant_type: 'client_credentials', client_id: clientId }
  return send(new URL('/common/oauth2/token', url), 'POST', {
    body: new URLSearchParams({ ...form, client_secret: clientSecret }).toString(),
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

/** Sends one request and follows no redirects. */
export async function send(url: URL, method: string, options: RequestOptions): Promise<Answer> {
  const { body, token, headers } = options
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return answerOf(response.status, response.headers, text, isJson)
}

function answerOf(status: number, headers: Headers, text: string, isJson: boolean): Answer {
  const body: unknown = isJson && text !== '' ? JSON.parse(text) : undefined
  const at = (path: string): unknown => {
    let found: unknown = body
    for (const key of path.split('.')) {
      // Any object may be read by any key.
      found =
        typeof found === 'object' ? (found as Record<string, unknown> | null)?.[key] : undefined
    }
    return found
  }
  return {
    status,
    headers,
    text,
    body,
    at,
    items() {
      const value = at('value')
      if (!Array.isArray(value)) throw new Error(`no list: ${status} ${text}`)
      return value
    },
  }
}

/**
 * In this process, since starting one costs twenty times what most commands do. A start reads the certificates that Node
 * trusts, so commands by TLS have a process. In the long suite all have one; `src/cli/cli.e2e.test.ts` starts the program, too.
 */
async function runCli(
  environment: NodeJS.ProcessEnv,
  words: readonly string[],
  input: string | undefined,
): Promise<Ran> {
  if (isLong || environment['ARMATURE_TLS'] !== undefined)
    return startCli(environment, words, input)
  const { runCli: runHere } = await import('../../src/cli/testing/run-cli.ts')
  const set = Object.entries(environment).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return runHere(words, {
    environment: Object.fromEntries(set),
    ...(input === undefined ? {} : { input }),
  })
}

function startCli(
  environment: NodeJS.ProcessEnv,
  words: readonly string[],
  input: string | undefined,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [launcher, ...words],
      { env: environment, timeout: 240_000 },
      (error, out, said) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1
        resolve({ code, out, error: said })
      },
    )
    child.stdin?.end(input ?? '')
  })
}
