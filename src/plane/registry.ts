/**
 * The table of everything that is served, made once at start from the providers' declarations: the type of a path,
 * its versions, and the action it needs. Knows no store and runs nothing.
 */

import { compareApiVersions, isApiVersion, nearestApiVersion } from '#kernel/api-version.ts'
import { type ErrorFamily, refuseProblems } from '#kernel/error.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { type CompiledStoredType, type CompiledType, isStored } from './compiled-type.ts'
import type { Source } from './declare/computed.ts'
import type { Provider, ResourceType } from './declare/provider.ts'
import type { ReconciledType } from './declare/reconciled.ts'
import type { StoredType, StoredVerb } from './declare/stored.ts'
import type { UnservedType } from './declare/unserved.ts'
import type { Version } from './declare/wire.ts'
import { describeActions } from './describe.ts'
import { providerOperations } from './provider-operations.ts'

const allVerbs: readonly StoredVerb[] = ['get', 'list', 'put', 'patch', 'delete']

/** `known`: a version that is not listed is refused. `nearest`: it is served in the nearest shape. */
export type VersionRule = 'known' | 'nearest'

/** The version in which a request is served. */
export interface ServedVersion {
  readonly version: string
  /** True when the requested version is not listed. */
  readonly isUnlisted: boolean
}

export interface Registry {
  readonly words: VendorWords
  readonly versionRule: VersionRule
  readonly types: readonly CompiledType[]
  readonly providers: readonly Provider[]
  /**
   * The type at a path; an undefined namespace means the implied types. Case does not matter. For a type that no
   * provider declares, the provider of unserved types is asked, where there is one.
   */
  find(namespace: string | undefined, types: readonly string[]): CompiledType | undefined
  /** The type of a row. */
  byKey(key: string): CompiledStoredType | undefined
  /**
   * A stored type by its name without the vendor word, as declarations write it. Throws when there is none: a fault.
   */
  byName(name: string): CompiledStoredType
  hasNamespace(namespace: string): boolean
  familyOf(namespace: string): ErrorFamily | undefined
}

export function createRegistry(
  providers: readonly Provider[],
  words: VendorWords,
  versionRule: VersionRule = 'known',
): Registry {
  const byKey = new Map<string, CompiledType>()
  /** Keyed as declarations write the names: there are few. */
  const byName = new Map<string, CompiledStoredType>()
  const unserved = createUnservedTypes(providers)
  const namespaces = new Map<string, Provider>()
  for (const provider of providers) {
    const namespace = qualify(words, provider.namespace)
    if (namespaces.has(namespace.toLowerCase())) throw new Error(`${namespace} is declared twice`)
    namespaces.set(namespace.toLowerCase(), provider)
    const operations = providerOperations(provider.namespace, () => describeActions(registry))
    for (const declaration of [...provider.types, operations]) {
      const type = compile(provider, declaration, words)
      if (byKey.has(type.key)) throw new Error(`${type.fullType} is declared twice`)
      byKey.set(type.key, type)
    }
  }
  const asDeclared = createSpelledTypes(byKey.values())
  const impliedPrefix = `${qualify(words, 'Resources').toLowerCase()}/`
  const inAnyCase = (namespace: string | undefined, types: readonly string[]) => {
    const prefix = namespace === undefined ? impliedPrefix : `${namespace.toLowerCase()}/`
    return byKey.get(prefix + types.join('/').toLowerCase())
  }
  const unservedByName = (name: string): CompiledStoredType | undefined => {
    const [namespace = '', ...types] = name.split('/')
    return unserved(namespace, types)
  }
  const registry: Registry = {
    words,
    versionRule,
    types: [...byKey.values()],
    providers,
    find(namespace, types) {
      const found = asDeclared(namespace, types) ?? inAnyCase(namespace, types)
      // Implied types are reached without `providers`, all others only with it.
      const implied = found?.declaration.scope === 'implied'
      if (found !== undefined || namespace === undefined) {
        return implied === (namespace === undefined) ? found : undefined
      }
      return unserved(namespace, types)
    },
    byKey(key) {
      const found = byKey.get(key) ?? unservedByName(key)
      return isStored(found) ? found : undefined
    },
    byName(name) {
      const known = byName.get(name)
      if (known !== undefined) return known
      const full = qualify(words, name)
      const found = byKey.get(full.toLowerCase()) ?? unservedByName(name) ?? unservedByName(full)
      if (!isStored(found)) throw new Error(`no stored type ${name} is declared`)
      if (byKey.has(found.key)) byName.set(name, found)
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

/** The types whose words begin with those that led here. */
interface Spelled {
  type?: CompiledType
  readonly next: Map<string, Spelled>
}

/**
 * Finds types by their words as they are declared: most paths spell them so, and then no text is put together for one of
 * the several looks of each request. Undefined for any other spelling, and for an implied namespace.
 */
function createSpelledTypes(
  types: Iterable<CompiledType>,
): (namespace: string | undefined, words: readonly string[]) => CompiledType | undefined {
  const root: Spelled = { next: new Map() }
  for (const type of types) {
    let at = root
    for (const word of type.fullType.split('/')) {
      const next: Spelled = at.next.get(word) ?? { next: new Map() }
      at.next.set(word, next)
      at = next
    }
    at.type = type
  }
  return (namespace, words) => {
    let at = namespace === undefined ? undefined : root.next.get(namespace)
    for (const word of words) {
      if (at === undefined) return undefined
      at = at.next.get(word)
    }
    return at?.type
  }
}

function compile(provider: Provider, declaration: ResourceType, words: VendorWords): CompiledType {
  const slash = declaration.type.indexOf('/')
  const namespace = qualify(words, provider.namespace)
  if (declaration.type.slice(0, slash) !== provider.namespace) {
    throw new Error(`${declaration.type} is declared by ${provider.namespace}`)
  }
  const fullType = qualify(words, declaration.type)
  const { kind } = declaration
  const stored = kind === 'stored' || kind === 'reconciled' ? declaration : undefined
  const computed = kind === 'computed' ? declaration : undefined
  const versions = stored?.versions ?? []
  const dates =
    'apiVersions' in declaration
      ? declaration.apiVersions
      : declaration.versions.map((version) => version.date)
  if (dates.length === 0) throw new Error(`${declaration.type} has no version`)
  const permission = qualify(words, computed?.permission ?? declaration.type)
  return {
    declaration,
    stored,
    reconcile: kind === 'reconciled' ? declaration.reconcile : undefined,
    source: kind === 'action' ? undefined : declaration.source,
    answer: computed?.answer,
    actions: declaration.actions ?? {},
    collectionActions: kind === 'action' ? (declaration.collectionActions ?? {}) : {},
    isOpenList: computed?.openList === true || stored?.list?.open === true,
    isPartlyListed: computed?.partlyListed === true || stored?.list?.partly === true,
    namespace,
    fullType,
    key: fullType.toLowerCase(),
    wireType: qualify(words, (computed ?? stored)?.wireType ?? declaration.type),
    permission,
    permissions: {
      read: `${permission}/read`,
      write: `${permission}/write`,
      delete: `${permission}/delete`,
    },
    words: declaration.type.slice(slash + 1).split('/'),
    versions: new Map(versions.map((version) => [version.date, version])),
    dates: dates === 'any' ? dates : [...dates].sort(compareApiVersions),
    compatible: dates === 'any' ? [] : compatibleVersionsOf(provider, stored, dates),
    verbs: new Set(stored === undefined ? verbsOf(computed?.source) : (stored.verbs ?? allVerbs)),
    errorFamily: provider.errorFamily ?? 'resource-manager',
    refuseProblems: provider.refuseProblems ?? refuseProblems,
  }
}

/** Compiled types that no provider declares. When there are more, the least recently used is dropped. */
const unservedKeptMax = 1000

function createUnservedTypes(
  providers: readonly Provider[],
): (namespace: string, types: readonly string[]) => CompiledStoredType | undefined {
  const provider = providers.find((one) => one.unserved !== undefined)
  const kept = new Map<string, CompiledStoredType>()
  return (namespace, types) => {
    // Each spelling is kept by itself: what is shown of a resource is spelled as its path, whoever asked first.
    const key = `${namespace}/${types.join('/')}`
    const declared = kept.has(key) ? undefined : provider?.unserved?.(namespace, types)
    const found =
      kept.get(key) ??
      (provider === undefined || declared === undefined
        ? undefined
        : compileUnserved(provider, declared, namespace))
    if (found === undefined) return undefined
    kept.delete(key)
    kept.set(key, found)
    const [oldest] = kept.keys()
    if (kept.size > unservedKeptMax && oldest !== undefined) kept.delete(oldest)
    return found
  }
}

/** Iterates as empty: there are unboundedly many dates. */
class VersionsOfAnyDate extends Map<string, Version<unknown>> {
  readonly #versionOf: (date: string) => Version<unknown>

  constructor(versionOf: (date: string) => Version<unknown>) {
    super()
    this.#versionOf = versionOf
  }

  override get(date: string): Version<unknown> {
    return this.#versionOf(date)
  }
}

function compileUnserved(
  provider: Provider,
  { declaration, versionOf, action }: UnservedType,
  namespace: string,
): CompiledStoredType {
  const { type } = declaration
  return {
    declaration,
    stored: declaration,
    reconcile: undefined,
    source: declaration.source,
    actions: declaration.actions ?? {},
    findAction: action,
    collectionActions: {},
    isOpenList: false,
    isPartlyListed: false,
    namespace,
    fullType: type,
    key: type.toLowerCase(),
    wireType: type,
    permission: type,
    permissions: { read: `${type}/read`, write: `${type}/write`, delete: `${type}/delete` },
    words: type.split('/').slice(1),
    versions: new VersionsOfAnyDate(versionOf),
    dates: 'any',
    compatible: [],
    verbs: new Set(declaration.verbs ?? allVerbs),
    errorFamily: provider.errorFamily ?? 'resource-manager',
    refuseProblems: provider.refuseProblems ?? refuseProblems,
  }
}

function compatibleVersionsOf(
  provider: Provider,
  stored: StoredType | ReconciledType | undefined,
  dates: readonly string[],
): readonly string[] {
  const listed = stored?.compatibleVersions ?? provider.compatibleVersions ?? []
  return listed.filter((date) => !dates.includes(date)).sort(compareApiVersions)
}

/** Undefined where the version is refused. */
export function servedVersion(
  { dates, compatible }: Pick<CompiledType, 'dates' | 'compatible'>,
  asked: string,
  rule: VersionRule,
): ServedVersion | undefined {
  const version = asked.toLowerCase()
  if (dates === 'any') return isApiVersion(version) ? { version, isUnlisted: false } : undefined
  if (dates.includes(version)) return { version, isUnlisted: false }
  const isListed = compatible.includes(version)
  if (!isListed && (rule === 'known' || !isApiVersion(version))) return undefined
  const nearest = nearestApiVersion(dates, version)
  return nearest === undefined ? undefined : { version: nearest, isUnlisted: !isListed }
}

function verbsOf(source: Source | undefined): readonly StoredVerb[] {
  return (['get', 'list', 'put', 'patch', 'delete'] as const).filter(
    (verb) => source?.[verb] !== undefined,
  )
}
