/** What every command gets: the terminal, the settings, the home, and a connection on request. */

import { readFileSync } from 'node:fs'
import { type Client, createClient } from '#client/client.ts'
import { parseExactJson } from '#kernel/exact-json.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import { trustAuthority } from '#tls/trust.ts'
import { type Config, type ConfigSources, readConfig } from '../config.ts'
import { LocalProblem } from './command.ts'
import { addressesOf, chooseCredential } from './credential.ts'
import { type Home, nearestHome, openHome, type RunningFile } from './home.ts'
import { httpFetch } from './http-fetch.ts'
import type { Terminal } from './terminal.ts'

export interface Connection {
  readonly client: Client
  readonly url: string
  readonly words: VendorWords
  /** Facts about the installation, if it is the one of this home. */
  readonly running: RunningFile | undefined
  /** The token of requests; another than the one that was refused, if there can be another. */
  token(refused?: string): Promise<string>
}

export interface ConnectionValues {
  readonly url: string | undefined
  readonly token: string | undefined
}

export interface Context {
  readonly terminal: Terminal
  readonly program: ProgramFacts
  /** The settings, overridden by the command line. Throws `ConfigError`. */
  config(overrides?: ConfigSources['overrides']): Config
  home(): Home
  /** Finds the installation and a credential for it, without a request. Throws `LocalProblem`. */
  connect(values: ConnectionValues): Connection
  /** The text of `--body`: `@file`, `-` for standard input, or the argument itself. */
  readText(argument: string): Promise<string>
}

export interface ProgramFacts {
  readonly version: string
  /** The sources of settings; the process's when left out. */
  readonly sources?: ConfigSources
}

/** Connects to the installation of a home, or to the one the values name. */
export function connectHome(
  home: Home,
  values: Partial<ConnectionValues>,
  words: VendorWords,
): Connection {
  const authority = home.running()?.authorityFile
  if (authority !== undefined) trustAuthority(authority)
  const chosen = chooseCredential(home, { url: values.url, token: values.token })
  const { url, reach, running, token } = chosen
  const alsoAt = [url, ...addressesOf(running)]
  const client = createClient({
    url: reach,
    token,
    fetch: httpFetch,
    alsoAt,
    parseJson: parseExactJson,
    wait: { firstPollSeconds: 0.05 },
  })
  return { client, url, words: running?.words ?? words, running, token }
}

export function createContext(terminal: Terminal, program: ProgramFacts): Context {
  let known: Config | undefined
  const settings = (): Config => {
    known ??= readConfig(program.sources)
    return known
  }
  const context: Context = {
    terminal,
    program,
    config: (overrides) =>
      overrides === undefined ? settings() : readConfig({ ...program.sources, overrides }),
    home: () => openHome(nearestHome(settings().home)),
    connect(values) {
      return connectHome(context.home(), values, settings().words)
    },
    async readText(argument) {
      if (argument === '-' || argument === '@-') return terminal.readInput()
      if (!argument.startsWith('@')) return argument
      const path = argument.slice(1)
      try {
        return readFileSync(path, 'utf8')
      } catch (error) {
        // Converts errors of the file system.
        const reason = error instanceof Error ? error.message : String(error)
        throw new LocalProblem('FileUnreadable', `${path} cannot be read: ${reason}`, {
          cause: error,
        })
      }
    },
  }
  return context
}
