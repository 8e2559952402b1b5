/**
 * Every setting of an installation: one typed table, read once from the environment and
 * `armature.config.json`. The only reader of `process.env`; it decides nothing beyond what a setting means.
 */

import { closeSync, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type Limits, limitNotes } from '#kernel/limits.ts'
import { isJsonObject } from '#kernel/patch.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import { isVendorWord, type VendorWords } from '#kernel/vendor.ts'
import { type AccountsConfig, accountsSettings } from './config/accounts.ts'
import {
  arrangeContainers,
  type ContainersConfig,
  type ContainerVariables,
  containersSettings,
} from './config/containers.ts'
import { type ControlConfig, controlSettings } from './config/control.ts'
import { arrangeEdge, type EdgeConfig, edgeSettings } from './config/edge.ts'
import { arrangeKey, type KeyConfig, keySettings } from './config/key.ts'
import { arrangeMail, type MailConfig, mailSettings } from './config/mail.ts'
import {
  arrangeMigrations,
  type MigrationsConfig,
  migrationsSettings,
} from './config/migrations.ts'
import { didYouMean } from './config/nearest-name.ts'
import {
  arrangeOutbound,
  type OutboundConfig,
  outboundReplaced,
  outboundSettings,
} from './config/outbound.ts'
import {
  choice,
  isPublicUrl,
  isUrl,
  reasonOf,
  type Setting,
  text,
  Wrong,
  wholeNumber,
} from './config/setting.ts'
import { arrangeThrottle, type ThrottleConfig, throttleSettings } from './config/throttle.ts'
import { arrangeTls, findTlsProblem, type TlsConfig, tlsSettings } from './config/tls.ts'
import { arrangeTypes, type TypesConfig, typesSettings } from './config/types.ts'

type LogLevel = 'silent' | 'error' | 'warn' | 'info' | 'debug'

/** The settings, validated and grouped. */
export interface Config
  extends KeyConfig,
    ControlConfig,
    AccountsConfig,
    ContainersConfig,
    EdgeConfig,
    TlsConfig,
    OutboundConfig,
    TypesConfig,
    MailConfig,
    MigrationsConfig {
  /** An absolute path. */
  readonly home: string
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** `undefined`: SQLite in the home. It may contain a password; never print it. */
  readonly store: string | undefined
  /** The largest number of connections to a PostgreSQL store from this process. */
  readonly storeConnections: number
  /** Megabytes of rows that SQLite's store keeps in memory. */
  readonly storeRows: number
  /** Without a trailing slash. `undefined`: the address listened on. */
  readonly publicUrl: string | undefined
  readonly words: VendorWords
  readonly scopes: 'implicit' | 'declared'
  /** The folders of storage accounts, and of SQL servers that are DuckDB files; absolute paths. */
  readonly shareRoot: string
  readonly shareDatabases: string
  /** The business application's status for a stale tag. */
  readonly businessConflictStatus: 412 | 409
  readonly logLevel: LogLevel
  readonly throttle: ThrottleConfig
  readonly limits: Limits
  /** Warnings for the operator at start, such as variables without meaning. */
  readonly warnings: readonly string[]
}

/** All faults of the settings at once. */
export class ConfigError extends Error {
  readonly problems: readonly ConfigProblem[]
  constructor(problems: readonly ConfigProblem[]) {
    super(
      `The settings are wrong:\n${problems.map((p) => `  ${p.setting}: ${p.message}`).join('\n')}`,
    )
    this.name = 'ConfigError'
    this.problems = problems
  }
}

interface ConfigProblem {
  /** The name as the operator wrote it: a variable, a key of the file, or the file itself. */
  readonly setting: string
  readonly message: string
}

/** The documentation of a setting, for `--help` and the reference. */
export interface SettingDescription {
  /** Its key in `armature.config.json`. */
  readonly name: string
  readonly environment: string
  /** What a value looks like. */
  readonly expected: string
  /** As text; empty when there is none. */
  readonly default: string
  readonly description: string
  /** The value may hold a password: never print it. */
  readonly secret: boolean
}

const hostPattern = /^[A-Za-z0-9:._-]{1,255}$/

const none = '' // what an unset variable of a shell script looks like; the setting is then off

const settings = {
  home: text('a folder', (v) => v !== '' && !v.includes('\0'), {
    default: '.armature',
    description:
      'The home folder: the embedded store, keys and the owner’s credentials. Made on the first start.',
  }),
  host: text('a host name or address', (v) => hostPattern.test(v), {
    default: '127.0.0.1',
    description:
      'The address listened on. `0.0.0.0` is every network: serve https (`ARMATURE_TLS`) or put it in front.',
  }),
  port: wholeNumber(0, 65_535, {
    default: '8900',
    description: 'The port listened on. 0 picks a free one.',
  }),
  store: text(
    'empty, `memory`, or `postgres://user:password@host:port/database`',
    (v) =>
      v === none ||
      v === 'memory' ||
      isUrl(v, ['postgres:', 'postgresql:']) ||
      v.startsWith('postgres:///'),
    {
      default: none,
      description:
        'Where everything is kept. Empty is SQLite in the home folder; `memory` ends with the process.',
      secret: true,
    },
  ),
  // One that runs alone holds a connection while it asks again who its caller is; one of rights may meet one of the directory.
  storeConnections: wholeNumber(3, 1000, {
    default: '10',
    description: 'Connections to PostgreSQL that one process holds at the most.',
  }),
  storeRows: wholeNumber(1, 4096, {
    default: '32',
    description:
      'Megabytes of resources that the embedded store keeps in memory once they were read. Their answers take up to twice as much beside it.',
  }),
  ...keySettings,
  publicUrl: text(
    'empty, or an http or https address without a query',
    (v) => v === none || isPublicUrl(v),
    {
      default: none,
      description:
        'The address clients use, where a proxy stands in front. Links in answers begin with it.',
    },
  ),
  vendorNamespace: text('a word of letters and digits that begins with a capital', isVendorWord, {
    default: 'Vendor',
    description: 'The namespace word: `Vendor.Authorization`. Fixed once the store is made.',
  }),
  vendorBrand: text('a word of letters and digits that begins with a capital', isVendorWord, {
    default: 'Vendor',
    description: 'The brand word: `Vendor-AsyncOperation`. Fixed once the store is made.',
  }),
  scopes: choice(['implicit', 'declared'], {
    default: 'implicit',
    description:
      'Whether a write by someone allowed it at the root brings a missing subscription or resource group into being.',
  }),
  ...typesSettings,
  ...accountsSettings,
  ...containersSettings,
  shareRoot: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: none,
    description:
      'The folder that storage accounts of folders are in: `{account}/{container}` below it. Empty is `storage` in the home.',
  }),
  shareDatabases: text('empty, or a folder', (v) => !v.includes('\0'), {
    default: none,
    description:
      'The folder that SQL servers of DuckDB files are in: `{server}/{database}.duckdb` below it. Empty is `databases` in the home.',
  }),
  businessConflictStatus: choice(['412', '409'], {
    default: '412',
    description:
      'The status of the business application’s answer to a tag in `If-Match` that is stale. `409` is for clients that expect it.',
  }),
  ...mailSettings,
  ...edgeSettings,
  ...tlsSettings,
  ...controlSettings,
  ...outboundSettings,
  ...migrationsSettings,
  logLevel: choice(['silent', 'error', 'warn', 'info', 'debug'], {
    default: 'info',
    description: 'How much is logged, as JSON lines on standard error.',
  }),
  ...throttleSettings,
}

type Named = {
  [K in keyof typeof settings]: Exclude<ReturnType<(typeof settings)[K]['parse']>, Wrong>
}

/** `bodyBytesMax` has the key `limitBodyBytesMax`, so that all keys are in one flat list. */
const limitSettings: ReadonlyMap<string, Setting<number>> = new Map(
  Object.entries(limitNotes).map(([key, [value, note]]) => [
    `limit${key.charAt(0).toUpperCase()}${key.slice(1)}`,
    wholeNumber(1, Math.max(1_000_000, value * 100), {
      default: String(value),
      description: `Limit: ${note}.`,
    }),
  ]),
)

const table: ReadonlyMap<string, Setting<unknown>> = new Map([
  ...Object.entries<Setting<unknown>>(settings),
  ...limitSettings,
])

/** `publicUrl` → `ARMATURE_PUBLIC_URL`. */
function environmentName(name: string): string {
  return `ARMATURE_${name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

export function describeSettings(): readonly SettingDescription[] {
  return [...table].map(([name, setting]) => ({
    name,
    environment: environmentName(name),
    expected: setting.expected,
    default: setting.default,
    description: setting.description,
    secret: setting.secret === true,
  }))
}

export type Environment = Readonly<Record<string, string | undefined>>

export interface ConfigSources {
  /** Default: the process's. */
  readonly environment?: Environment
  /** Where relative paths start and the file is searched. Default: the working directory. */
  readonly directory?: string
  /** Values from the command line, by setting name. They override all others. */
  readonly overrides?: Readonly<Record<string, string | undefined>>
  /** Replaces `armature.config.json`, with the same names, for a program that starts a server. */
  readonly settings?: Readonly<Record<string, unknown>>
}

/** Reads and validates everything. Throws `ConfigError` with all problems. */
export function readConfig(sources: ConfigSources = {}): Config {
  const environment = sources.environment ?? process.env
  const directory = sources.directory ?? process.cwd()
  const problems: ConfigProblem[] = []
  const file =
    sources.settings === undefined
      ? readConfigFile(environment['ARMATURE_CONFIG'], directory, problems)
      : { directory, values: knownSettings(sources.settings, 'settings', problems) }
  const values = new Map<string, unknown>()
  for (const [name, setting] of table) {
    const [source, raw] = pick(name, setting, {
      overrides: sources.overrides ?? {},
      environment,
      file: file.values,
    })
    const value = setting.parse(raw)
    if (!(value instanceof Wrong)) {
      values.set(name, value)
      continue
    }
    const shown = setting.secret ? '' : `, got ${shorten(JSON.stringify(raw) ?? String(raw))}`
    problems.push({
      setting: source,
      message: value.message ?? `expected ${setting.expected}${shown}`,
    })
  }
  for (const [name, message] of Object.entries(outboundReplaced)) {
    const variable = environmentName(name)
    if (environment[variable]) problems.push({ setting: variable, message })
  }
  const message = findTlsProblem(values)
  if (message !== undefined) problems.push({ setting: 'ARMATURE_TLS', message })
  const isHomeNamed = Boolean(environment['ARMATURE_HOME'] || sources.overrides?.['home'])
  const inFile = file.values.has('home') && !isHomeNamed
  const home = resolve(directory, settings.home.default)
  if (!isHomeNamed && !inFile && isOfAnotherUser(home)) {
    const other = `${home} belongs to another user; if it is meant, name it here`
    problems.push({ setting: 'ARMATURE_HOME', message: other })
  }
  if (problems.length > 0) throw new ConfigError(problems)
  // Every entry of the two tables was parsed without a problem, so each name has a value of its type.
  const named = Object.fromEntries(values) as Named & Record<string, number>
  return arrange(named, inFile ? file.directory : directory, findWarnings(environment), {
    dockerHost: environment['DOCKER_HOST'] || undefined,
    runtimeFolder: environment['XDG_RUNTIME_DIR'] || undefined,
  })
}

function arrange(
  named: Named & Record<string, number>,
  directory: string,
  warnings: string[],
  otherPrograms: ContainerVariables,
): Config {
  const limits = Object.fromEntries(
    Object.keys(limitNotes).map((key) => [
      key,
      named[`limit${key.charAt(0).toUpperCase()}${key.slice(1)}`],
    ]),
  )
  return {
    home: resolve(directory, named.home),
    host: named.host,
    port: named.port,
    store: named.store === none ? undefined : named.store,
    storeConnections: named.storeConnections,
    storeRows: named.storeRows,
    ...arrangeKey(named, directory),
    publicUrl: named.publicUrl === none ? undefined : withoutTrailing(named.publicUrl, '/'),
    words: { namespace: named.vendorNamespace, brand: named.vendorBrand },
    scopes: named.scopes,
    issuers: named.issuers,
    sessionHours: named.sessionHours,
    sessionIdleHours: named.sessionIdleHours,
    passwordLength: named.passwordLength,
    ...arrangeContainers(named, directory, otherPrograms),
    shareRoot: resolve(directory, named.shareRoot || join(named.home, 'storage')),
    shareDatabases: resolve(directory, named.shareDatabases || join(named.home, 'databases')),
    businessConflictStatus: named.businessConflictStatus === '409' ? 409 : 412,
    ...arrangeMail(named, directory),
    ...arrangeTypes(named, directory),
    ...arrangeMigrations(named, directory),
    control: named.control,
    clock: named.clock,
    ...arrangeEdge(named),
    ...arrangeTls(named, directory),
    outbound: arrangeOutbound(named),
    templateLinks: named.templateLinks,
    consentRedirects: named.consentRedirects,
    activityDays: named.activityDays,
    logLevel: named.logLevel,
    throttle: arrangeThrottle(named),
    // The keys are those of `limitNotes`, which are those of `Limits`.
    limits: limits as unknown as Limits,
    warnings,
  }
}

/** The sources of a value, the first one first. */
interface Given {
  readonly overrides: Readonly<Record<string, string | undefined>>
  readonly environment: Environment
  readonly file: ReadonlyMap<string, unknown>
}

function pick(
  name: string,
  setting: Setting<unknown>,
  { overrides, environment, file }: Given,
): readonly [source: string, raw: unknown] {
  const variable = environmentName(name)
  if (overrides[name] !== undefined)
    return [`--${variable.slice(9).toLowerCase().replaceAll('_', '-')}`, overrides[name]]
  // An empty variable counts as not set, as in `VAR= command` and in container tools.
  if (environment[variable]) return [variable, environment[variable]]
  if (file.has(name)) return [`${configFileName}: ${name}`, file.get(name)]
  return [variable, setting.default]
}

const configFileName = 'armature.config.json'

interface ConfigFile {
  readonly directory: string
  readonly values: ReadonlyMap<string, unknown>
}

function readConfigFile(
  named: string | undefined,
  directory: string,
  problems: ConfigProblem[],
): ConfigFile {
  const path = resolve(directory, named || configFileName)
  const empty = { directory: dirname(path), values: new Map<string, unknown>() }
  let content: string
  try {
    content = named ? readFileSync(path, 'utf8') : readOwnFile(path)
  } catch (error) {
    // The file is optional unless it was named explicitly.
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!absent || named)
      problems.push({ setting: path, message: `cannot be read: ${reasonOf(error)}` })
    return empty
  }
  let parsed: unknown
  try {
    parsed = JSON.parse(content)
  } catch (error) {
    problems.push({ setting: path, message: `is not JSON: ${reasonOf(error)}` })
    return empty
  }
  if (!isJsonObject(parsed)) {
    problems.push({ setting: path, message: 'expected a JSON object of settings' })
    return empty
  }
  return { directory: dirname(path), values: knownSettings(parsed, configFileName, problems) }
}

/**
 * A file that was only found may be anybody's, in a folder where others write, and settings name commands and programs that
 * run. So it has to be of the user who runs, or of the system's.
 */
function readOwnFile(path: string): string {
  const descriptor = openSync(path, 'r')
  try {
    const { uid, mode } = fstatSync(descriptor)
    const own = process.getuid?.()
    const isSafe = (uid === own || uid === 0) && (mode & 0o002) === 0
    // Some systems know no owners.
    if (own !== undefined && !isSafe) {
      throw new Error(
        'it belongs to another user, or everybody may write it; if it is meant, name it by ARMATURE_CONFIG',
      )
    }
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Whether a folder is there and belongs to somebody else. A home that was only found must not: what is in it names the address
 * that commands send the owner's credentials to.
 */
export function isOfAnotherUser(folder: string): boolean {
  const owner = statSync(folder, { throwIfNoEntry: false })?.uid
  const own = process.getuid?.()
  return owner !== undefined && own !== undefined && owner !== own
}

function knownSettings(
  given: Readonly<Record<string, unknown>>,
  from: string,
  problems: ConfigProblem[],
): ReadonlyMap<string, unknown> {
  for (const key of Object.keys(given)) {
    if (table.has(key)) continue
    problems.push({
      setting: `${from}: ${key}`,
      message: outboundReplaced[key] ?? `unknown setting${didYouMean(key, [...table.keys()])}`,
    })
  }
  return new Map(Object.entries(given).filter(([, value]) => value !== undefined))
}

/** Variables that are not settings: the path of the file, and variables of this repository's tests. */
const otherVariables = /^ARMATURE_(CONFIG|TEST_\w+|BENCH_\w+)$/

function findWarnings(environment: Environment): string[] {
  const known = [...table.keys()].map(environmentName)
  return Object.keys(environment)
    .filter(
      (key) => key.startsWith('ARMATURE_') && !known.includes(key) && !otherVariables.test(key),
    )
    .map((key) => `${key} is not a setting and has no effect${didYouMean(key, known)}`)
}

function shorten(value: string): string {
  return value.length > 80 ? `${value.slice(0, 80)}…` : value
}

/** A variable that an operator named, such as one that holds a password. */
export function readVariable(name: string, from: Environment = process.env): string | undefined {
  return from[name]
}

/** What the terminal's user wants about colours (https://no-color.org); `undefined` lets the terminal decide. */
export function readColourWish(environment: Environment = process.env): boolean | undefined {
  if (environment['NO_COLOR']) return false
  return environment['FORCE_COLOR'] ? environment['FORCE_COLOR'] !== '0' : undefined
}
