/**
 * The table of everything that is served, made once at start from the providers' declarations: which type a
 * path means, in which versions, and what action it takes. Knows no store and runs nothing.
 */

import { compareApiVersions, isApiVersion, nearestApiVersion } from '#kernel/api-version.ts'
import { type ApiError, type ErrorFamily, type Problem, refuseProblems } from '#kernel/error.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Provider, ResourceType, StoredVerb, Version } from './define.ts'
import { describe } from './describe.ts'
import { providerOperations } from './provider-operations.ts'

/** A declaration with everything that can be known of it ahead of any request. */
export interface CompiledType {
  readonly declaration: ResourceType
  /** `Vendor.Authorization` */
  readonly namespace: string
  /** `Vendor.Authorization/roleAssignments`: identity of the type, as in rows (there in lower case). */
  readonly fullType: string
  readonly key: string
  /** What `type` says on the wire. */
  readonly wireType: string
  /** `Vendor.Authorization/roleAssignments`, to which `/read` and so on are added. */
  readonly permission: string
  /** `['accounts', 'shares']` */
  readonly words: readonly string[]
  readonly versions: ReadonlyMap<string, Version<unknown>>
  /** Of its shapes, newest first; `any` for types that have no shape. */
  readonly dates: readonly string[] | 'any'
  /** Served in one of these shapes besides, newest first. */
  readonly alike: readonly string[]
  readonly verbs: ReadonlySet<StoredVerb>
  readonly errorFamily: ErrorFamily
  readonly refuseProblems: (problems: readonly Problem[]) => ApiError
}

const allVerbs: readonly StoredVerb[] = ['get', 'list', 'put', 'patch', 'delete']

/** Whether a version that is not listed is refused or served in the nearest shape. */
export type VersionRule = 'known' | 'nearest'

/** The version in which a request is served. */
export interface ServedVersion {
  readonly version: string
  /** The one that was asked for is not listed. */
  readonly isUnlisted: boolean
}

export interface Registry {
  readonly words: VendorWords
  readonly versionRule: VersionRule
  readonly types: readonly CompiledType[]
  readonly providers: readonly Provider[]
  /** The type at a path: `undefined` namespace for the implied ones. Case does not matter. */
  find(namespace: string | undefined, types: readonly string[]): CompiledType | undefined
  /** The type of a row. */
  byKey(key: string): CompiledType | undefined
  /** By the name without the vendor word, as declarations use it. Throws when there is none: a fault. */
  byName(name: string): CompiledType
  hasNamespace(namespace: string): boolean
  familyOf(namespace: string): ErrorFamily | undefined
}

export function createRegistry(
  providers: readonly Provider[],
  words: VendorWords,
  versionRule: VersionRule = 'known',
): Registry {
  const byKey = new Map<string, CompiledType>()
  const namespaces = new Map<string, Provider>()
  for (const provider of providers) {
    const namespace = qualify(words, provider.namespace)
    if (namespaces.has(namespace.toLowerCase())) throw new Error(`${namespace} is declared twice`)
    namespaces.set(namespace.toLowerCase(), provider)
    const operations = providerOperations(provider.namespace, () => describe(registry))
    for (const declaration of [...provider.types, operations]) {
      const type = compile(provider, declaration, words)
      if (byKey.has(type.key)) throw new Error(`${type.fullType} is declared twice`)
      byKey.set(type.key, type)
    }
  }
  const impliedPrefix = `${qualify(words, 'Resources').toLowerCase()}/`
  const registry: Registry = {
    words,
    versionRule,
    types: [...byKey.values()],
    providers,
    find(namespace, types) {
      const prefix = namespace === undefined ? impliedPrefix : `${namespace.toLowerCase()}/`
      const found = byKey.get(prefix + types.join('/').toLowerCase())
      // Implied types are reached without `providers`, all others only with it.
      const implied = found?.declaration.scope === 'implied'
      return implied === (namespace === undefined) ? found : undefined
    },
    byKey: (key) => byKey.get(key),
    byName(name) {
      const found = byKey.get(qualify(words, name).toLowerCase())
      if (found === undefined) throw new Error(`no type ${name} is declared`)
      return found
    },
    hasNamespace: (namespace) => namespaces.has(namespace.toLowerCase()),
    familyOf: (namespace) => {
      const provider = namespaces.get(namespace.toLowerCase())
      return provider === undefined ? undefined : (provider.errorFamily ?? 'resource-manager')
    },
  }
  return registry
}

function compile(provider: Provider, declaration: ResourceType, words: VendorWords): CompiledType {
  const slash = declaration.type.indexOf('/')
  const namespace = qualify(words, provider.namespace)
  if (declaration.type.slice(0, slash) !== provider.namespace) {
    throw new Error(`${declaration.type} is declared by ${provider.namespace}`)
  }
  const fullType = qualify(words, declaration.type)
  const stored = declaration.versions.length > 0
  const dates = declaration.apiVersions ?? declaration.versions.map((version) => version.date)
  if (dates.length === 0) throw new Error(`${declaration.type} has no version`)
  return {
    declaration,
    namespace,
    fullType,
    key: fullType.toLowerCase(),
    wireType: qualify(words, declaration.wireType ?? declaration.type),
    permission: qualify(words, declaration.permission ?? declaration.type),
    words: declaration.type.slice(slash + 1).split('/'),
    versions: new Map(declaration.versions.map((version) => [version.date, version])),
    dates: dates === 'any' ? dates : [...dates].sort(compareApiVersions),
    alike: dates === 'any' ? [] : alikeOf(provider, declaration, dates),
    verbs: new Set(declaration.verbs ?? (stored ? allVerbs : sourceVerbs(declaration))),
    errorFamily: provider.errorFamily ?? 'resource-manager',
    refuseProblems: provider.refuseProblems ?? refuseProblems,
  }
}

function alikeOf(
  provider: Provider,
  declaration: ResourceType,
  dates: readonly string[],
): readonly string[] {
  const alike = declaration.alikeVersions ?? provider.alikeVersions ?? []
  return alike.filter((date) => !dates.includes(date)).sort(compareApiVersions)
}

/** Undefined where the version is refused. */
export function servedVersion(
  { dates, alike }: Pick<CompiledType, 'dates' | 'alike'>,
  asked: string,
  rule: VersionRule,
): ServedVersion | undefined {
  const version = asked.toLowerCase()
  if (dates === 'any') return isApiVersion(version) ? { version, isUnlisted: false } : undefined
  if (dates.includes(version)) return { version, isUnlisted: false }
  const isListed = alike.includes(version)
  if (!isListed && (rule === 'known' || !isApiVersion(version))) return undefined
  const nearest = nearestApiVersion(dates, version)
  return nearest === undefined ? undefined : { version: nearest, isUnlisted: !isListed }
}

function sourceVerbs(declaration: ResourceType): readonly StoredVerb[] {
  const verbs: StoredVerb[] = []
  if (declaration.source?.get !== undefined) verbs.push('get')
  if (declaration.source?.list !== undefined || declaration.list !== undefined) verbs.push('list')
  if (declaration.source?.patch !== undefined) verbs.push('patch')
  return verbs
}
