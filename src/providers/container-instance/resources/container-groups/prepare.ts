/**
 * What a body needs from elsewhere before it becomes a model: its profile, ids of its identities, and the location
 * in which its DNS label is unique. It runs before the transaction and stores nothing.
 */

import { refuse, refuseProblems } from '#kernel/error.ts'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import type { Ids, Seal } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import {
  fromSegments,
  nameOf,
  parseResourceId,
  type ResourceId,
  scopeOf,
} from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { actionOf, type DataUse } from '#plane/access.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { LentIdentities, SecretStore, ShareAccounts } from '../../dependencies.ts'
import { absentIdentity } from '../../domain/absent-identity.ts'
import { problemOf, refuseContainer } from '../../errors.ts'
import { type ContainerGroupProfile, openRevision } from '../container-group-profiles/model.ts'
import type { ContainerGroup } from './model.ts'

export interface PrepareDependencies {
  readonly tenantId: string
  readonly seal: Seal
  readonly ids: Ids
  readonly identities: LentIdentities | undefined
  readonly secrets: SecretStore | undefined
  readonly shareAccounts: ShareAccounts | undefined
}

/** Added to the members of the wire body. */
export interface Preparation {
  readonly place: string
  /** Compared without case and blanks. */
  readonly location: string
  readonly tenantId: string
  readonly systemPrincipalId?: string
  readonly userAssigned: Readonly<
    Record<string, { readonly clientId: string; readonly principalId: string }>
  >
  readonly missingProfile?: string
  /** Ids of the secrets that the caller may use, in lower case, by URI. */
  readonly secretIds?: Readonly<Record<string, string>>
  /** The caller, if there are secret references. */
  readonly writer?: Principal
  /** The resource group of a share's account by volume name, if it is not the container group's own. */
  readonly shareOwners?: Readonly<Record<string, string>>
}

export const profileType = 'ContainerInstance/containerGroupProfiles'

interface GivenBody extends JsonObject {
  readonly location?: string
  readonly identity?: {
    readonly type?: string
    readonly userAssignedIdentities?: Readonly<Record<string, object>>
  }
  readonly properties: {
    readonly containerGroupProfile?: { readonly id?: string; readonly revision?: number }
    readonly secretReferences?: readonly {
      readonly name: string
      readonly secretReferenceUri: string
    }[]
    readonly volumes?: readonly {
      readonly name: string
      readonly azureFile?: {
        readonly storageAccountName: string
        readonly storageAccountKey?: string
        readonly storageAccountKeyReference?: string
        readonly readOnly?: boolean
      }
    }[]
  }
}

type GroupContext = Context & {
  readonly id: ResourceId
  /** The group as it is stored. */
  readonly known: ContainerGroup | undefined
}

export async function prepareGroup(
  context: Context & { readonly id: ResourceId },
  body: GivenBody,
  deps: PrepareDependencies,
): Promise<object> {
  const { id } = context
  const { tenantId, seal, secrets } = deps
  const stored = await context.reader.get(id)
  // The id is of that type, and so is its model.
  const known = stored?.model as ContainerGroup | undefined
  const kinds = (body.identity?.type ?? '').toLowerCase()
  const systemPrincipalId = kinds.includes('systemassigned')
    ? // A group keeps its identity for life; a new group of the same name gets another.
      (known?.identity?.principalId ?? deps.ids.uuid())
    : undefined
  const userAssigned = await lentIdentities(
    context,
    Object.keys(body.identity?.userAssignedIdentities ?? {}),
    deps.identities,
  )
  const { properties, missingProfile } = await withProfile(context, body.properties, seal)
  const secretIds = await grantedSecrets({ ...context, known }, properties, secrets)
  const { volumes, owners: shareOwners } = await grantedShares(
    { ...context, known },
    properties,
    deps,
  )
  const preparation: Preparation = {
    place: id.key,
    location: await locationOf(context, body.location ?? stored?.location),
    tenantId,
    ...(systemPrincipalId === undefined ? {} : { systemPrincipalId }),
    userAssigned,
    ...(missingProfile === undefined ? {} : { missingProfile }),
    ...(secretIds === undefined ? {} : { secretIds, writer: context.principal }),
    ...(shareOwners === undefined ? {} : { shareOwners }),
  }
  const given = volumes === undefined ? properties : { ...properties, volumes }
  return { ...body, properties: given, preparation }
}

/** The ids of the group's identities. The caller must be allowed to assign each. */
async function lentIdentities(
  context: Context & { readonly id: ResourceId },
  resourceIds: readonly string[],
  identities: LentIdentities | undefined,
): Promise<Preparation['userAssigned']> {
  const lent: Record<string, { clientId: string; principalId: string }> = {}
  for (const resourceId of resourceIds) {
    const id = parseResourceId(resourceId)
    // Checked before its existence, so that nobody learns of what they may not see.
    if (identities !== undefined && id !== undefined) {
      await requireLinked(context, identities.useAction, id, resourceId)
    }
    const found = await identities?.find(resourceId)
    // Defined, not assigned: a key may be `__proto__`.
    Object.defineProperty(lent, resourceId, {
      value: found ?? absentIdentity(resourceId),
      enumerable: true,
    })
  }
  return lent
}

/** Requires that the caller may do this to what the body refers to. `shown`: as the caller wrote it. */
export async function requireLinked(
  context: Pick<Context, 'may' | 'principal' | 'words'> & { readonly id: ResourceId },
  action: string | DataUse,
  on: ResourceId,
  shown: string,
): Promise<void> {
  if (await context.may(action, on)) return
  throw refuseContainer.LinkedAuthorizationFailed({
    client: context.principal.displayName,
    principalId: context.principal.id,
    scope: context.id.text,
    linkedAction: qualify(context.words, actionOf(action)),
    linkedScope: shown,
  })
}

async function locationOf(
  { reader, id }: Context & { readonly id: ResourceId },
  given: string | undefined,
): Promise<string> {
  const text = given ?? (await reader.get(scopeOf(id)))?.location ?? ''
  return text.replace(/\s/g, '').toLowerCase()
}

/** Merges the body over the profile's revision: the body's values win, container by container. */
async function withProfile(
  context: Context & { readonly id: ResourceId },
  properties: GivenBody['properties'],
  seal: Seal,
): Promise<{
  readonly properties: GivenBody['properties']
  readonly missingProfile?: string
}> {
  const named = properties.containerGroupProfile
  if (named?.id === undefined) return { properties }
  const id = profileIdOf(named.id, context)
  if (id === undefined) {
    const path = 'properties.containerGroupProfile.id'
    throw refuseProblems([problemOf('InvalidContainerGroupProfile', path, { id: named.id })])
  }
  // What a caller may not read must not get into their group, least of all secrets. Asked before it is looked for, so that
  // a refusal does not reveal what exists.
  if (!(await context.may(`${profileType}/read`, id))) {
    throw refuse.AuthorizationFailed({
      client: context.principal.displayName,
      principalId: context.principal.id,
      action: `${qualify(context.words, profileType)}/read`,
      scope: id.text,
    })
  }
  // The id is of that type, and so is its model.
  const profile = (await context.reader.get(id))?.model as ContainerGroupProfile | undefined
  const revision = profile?.revisions.find(
    (one) => one.revision === (named.revision ?? profile.revisions.at(-1)?.revision),
  )
  const base = revision === undefined ? undefined : openRevision(seal, id.key, revision)
  if (base === undefined) return { properties, missingProfile: named.id }
  // A group made from a profile runs with its secrets, and its creator chooses the command, so a reader must not
  // make one.
  const isSecret = JSON.stringify(base) !== JSON.stringify(revision?.shown)
  if (isSecret) await requireLinked(context, `${profileType}/write`, id, id.text)
  // Both sides have the schema of a group.
  return { properties: mergeProfile(base, properties) as GivenBody['properties'] }
}

/**
 * The secrets that the group refers to, also through a profile. The caller must be allowed to use each: the group
 * runs with their values, and a reader of its logs may see them.
 */
async function grantedSecrets(
  context: GroupContext,
  { secretReferences = [] }: GivenBody['properties'],
  secrets: SecretStore | undefined,
): Promise<Readonly<Record<string, string>> | undefined> {
  if (secrets?.locate === undefined || secrets.use === undefined) return undefined
  const granted = new Map<string, string>()
  for (const { secretReferenceUri } of secretReferences) {
    const id = await secrets.locate(secretReferenceUri)
    if (id === undefined) continue
    const before = secretNow(context.known, secretReferenceUri)
    if (before !== undefined && isTakenOver(context.id, before.id, id)) {
      if (before.id !== undefined) granted.set(secretReferenceUri, before.id)
      continue
    }
    // As the caller wrote it: only those who may see the vault learn where it is.
    await requireLinked(context, secrets.use, id, secretReferenceUri)
    granted.set(secretReferenceUri, id.key)
  }
  // Sorted, so that the same references in another order give the same group.
  return granted.size === 0 ? undefined : Object.fromEntries([...granted].sort())
}

/** Which secret the group has by this reference; undefined without such a reference. */
function secretNow(
  known: ContainerGroup | undefined,
  uri: string,
): { readonly id: string | undefined } | undefined {
  const { secretReferences = [] } = known?.properties ?? {}
  if (!secretReferences.some((one) => one.secretReferenceUri === uri)) return undefined
  const { secretIds = {} } = known ?? {}
  return { id: Object.hasOwn(secretIds, uri) ? secretIds[uri] : undefined }
}

/** Names of vaults are given to whoever comes first: one of another resource group that came later is not what was meant. */
function isTakenOver(group: ResourceId, before: string | undefined, now: ResourceId): boolean {
  const owner = scopeOf(now).key
  if (owner === scopeOf(group).key) return false
  const id = before === undefined ? undefined : parseResourceId(before)
  return id === undefined || scopeOf(id).key !== owner
}

/**
 * The accounts of the group's file shares. A name means an account of the group's own resource group, registered or not. Another
 * group's is mounted with its key, or, by those who may use its files, where the body names it by its resource id: names are
 * given to whoever comes first, so a name alone must not say whose files a group runs with. What a group has, it keeps.
 */
async function grantedShares(
  context: GroupContext,
  properties: GivenBody['properties'],
  { shareAccounts, secrets }: PrepareDependencies,
): Promise<Shares> {
  const { volumes } = properties
  if (shareAccounts === undefined || volumes === undefined) return { volumes, owners: undefined }
  const own = scopeOf(context.id).key
  const ownerNow = shareOwnersNow(context)
  const owners: [string, string][] = []
  const named: Volume[] = []
  for (const [at, volume] of volumes.entries()) {
    const { name, azureFile } = volume
    if (azureFile === undefined) {
      named.push(volume)
      continue
    }
    const given = azureFile.storageAccountName
    const id = given.startsWith('/') ? parseResourceId(given) : undefined
    const accountName = id === undefined ? given : nameOf(id)
    named.push({ ...volume, azureFile: { ...azureFile, storageAccountName: accountName } })
    const account = await shareAccounts.find(accountName)
    const owner = account === undefined ? own : scopeOf(account.id).key
    const has = ownerNow(name, accountName)
    // A key that fits does not change it: whoever registers an account chooses its key.
    if (id === undefined && owner !== own && has === own) continue
    const uri = properties.secretReferences?.find(
      (one) => one.name === azureFile.storageAccountKeyReference,
    )?.secretReferenceUri
    // Using the secret was allowed before.
    const key =
      azureFile.storageAccountKey ?? (uri === undefined ? undefined : await secrets?.read(uri))
    const isNamed = id === undefined || id.key === account?.id.key
    const hasKey = isNamed && key !== undefined && account?.isKey(key) === true
    if (!hasKey) {
      const path = `properties.volumes[${at}].azureFile.storageAccountName`
      const on = id ?? account?.id
      // As the caller wrote it: only those who may see the account learn where it is.
      const use = shareAccounts.useOf({ isReadOnly: azureFile.readOnly === true })
      if (on !== undefined) await requireLinked(context, use, on, given)
      if (!isNamed) throw noSuchAccount(path, name)
      if (id === undefined && owner !== own && has !== owner) throw foreignAccount(path, name)
    }
    if (owner !== own) owners.push([name, owner])
  }
  return {
    volumes: named,
    owners: owners.length === 0 ? undefined : Object.fromEntries(owners.sort()),
  }
}

type Volume = NonNullable<GivenBody['properties']['volumes']>[number]

interface Shares {
  /** With names in the place of resource ids. */
  readonly volumes: GivenBody['properties']['volumes']
  readonly owners: Preparation['shareOwners']
}

/**
 * In which resource group the account lies whose share a volume of the group has now: by the names of both, and of another
 * volume where all of the account agree. Undefined: the group has none of it.
 */
function shareOwnersNow({
  known,
  id,
}: GroupContext): (volume: string, account: string) => string | undefined {
  const { shareOwners = {} } = known ?? {}
  const ownerOf = (name: string): string =>
    (Object.hasOwn(shareOwners, name) ? shareOwners[name] : undefined) ?? scopeOf(id).key
  return (volume, account) => {
    const ofAccount = (known?.properties.volumes ?? []).filter(
      ({ azureFile }) => azureFile?.storageAccountName.toLowerCase() === account.toLowerCase(),
    )
    const same = ofAccount.find(({ name }) => name === volume)
    if (same !== undefined) return ownerOf(same.name)
    const owners = new Set(ofAccount.map(({ name }) => ownerOf(name)))
    return owners.size === 1 ? [...owners][0] : undefined
  }
}

function noSuchAccount(path: string, name: string): Error {
  const reason = 'there is no such storage account'
  return refuseProblems([problemOf('InvalidVolume', path, { name, reason })])
}

function foreignAccount(path: string, name: string): Error {
  const reason =
    'a storage account of this name is in another resource group: name it by its resource id, or send its key'
  return refuseProblems([problemOf('InvalidVolume', path, { name, reason })])
}

function profileIdOf(text: string, { words }: Context): ResourceId | undefined {
  const id = parseResourceId(text)
  const last = id?.segments.at(-1)
  if (id === undefined || last === undefined) return undefined
  const type = `${last.namespace ?? ''}/${last.types.join('/')}`
  return type.toLowerCase() === qualify(words, profileType).toLowerCase()
    ? fromSegments(id.segments)
    : undefined
}

/** Members of `over` win. Containers and volumes are matched by name, and the profile's others follow. */
function mergeProfile(base: JsonObject, over: JsonObject): JsonObject {
  const lists = ['containers', 'initContainers', 'volumes', 'imageRegistryCredentials']
  const merged = lists.flatMap((name) => {
    const mine = over[name]
    const theirs = base[name]
    if (!Array.isArray(mine) || !Array.isArray(theirs)) return []
    return [[name, mergeNamed(theirs, mine)] as const]
  })
  return { ...base, ...over, ...Object.fromEntries(merged) }
}

function mergeNamed(theirs: readonly unknown[], mine: readonly unknown[]): readonly unknown[] {
  const nameOf = (item: unknown): unknown =>
    isJsonObject(item) ? (item['name'] ?? item['server']) : undefined
  const both = mine.map((item) => {
    const other = theirs.find((each) => nameOf(each) === nameOf(item))
    if (!isJsonObject(item) || !isJsonObject(other)) return item
    const a = other['properties']
    const b = item['properties']
    return isJsonObject(a)
      ? { ...other, ...item, properties: { ...a, ...(isJsonObject(b) ? b : {}) } }
      : { ...other, ...item }
  })
  return [...both, ...theirs.filter((item) => !mine.some((each) => nameOf(each) === nameOf(item)))]
}
