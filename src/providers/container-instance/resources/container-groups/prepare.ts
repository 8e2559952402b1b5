/**
 * What a body needs from elsewhere before it becomes a model: its profile, ids of its identities, and the location
 * in which its DNS label is unique. It runs before the transaction and stores nothing.
 */

import { refuse, refuseProblems } from '#kernel/error.ts'
import { isJsonObject, type JsonObject } from '#kernel/patch.ts'
import type { Ids, Seal } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { fromSegments, parseResourceId, type ResourceId, scopeOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { LentIdentities, SecretStore, ShareAccounts } from '../../dependencies.ts'
import { absentIdentity } from '../../domain/absent-identity.ts'
import { grantedSecrets } from '../../domain/granted-secrets.ts'
import { grantedShares } from '../../domain/granted-shares.ts'
import type { GivenBody } from '../../domain/group-body.ts'
import { requireAccess } from '../../domain/require-access.ts'
import { problemOf } from '../../errors.ts'
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
  // Where it has none yet: `toModel` keeps the one that a group has.
  const systemPrincipalId = kinds.includes('systemassigned') ? deps.ids.uuid() : undefined
  const userAssigned = await lentIdentities(
    context,
    Object.keys(body.identity?.userAssignedIdentities ?? {}),
    deps.identities,
  )
  const { properties, missingProfile } = await withProfile(context, body.properties, seal)
  const group = { ...context, known }
  const granted = await grantedSecrets(group, properties, secrets)
  const secretIds = granted?.ids
  const { volumes, owners: shareOwners } = await grantedShares(group, properties, {
    ...deps,
    mayRead: (uri) => granted === undefined || granted.readable.has(uri),
  })
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
      await requireAccess(context, identities.useAction, id, resourceId)
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
  if (isSecret) await requireAccess(context, `${profileType}/write`, id, id.text)
  // Both sides have the schema of a group.
  return { properties: mergeProfile(base, properties) as GivenBody['properties'] }
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
