/**
 * The storage accounts of a container group's file shares. A name means an account of the group's own resource group,
 * registered or not. Another group's is mounted with its key, or, by those who may use its files, where the body names
 * it by its resource id: names are given to whoever comes first, so a name alone must not say whose files a group runs
 * with. What a group has, it keeps.
 */

import { refuseProblems } from '#kernel/error.ts'
import { nameOf, parseResourceId, scopeOf } from '#kernel/resource-id.ts'
import type { SecretStore, ShareAccounts } from '../dependencies.ts'
import { problemOf } from '../errors.ts'
import type { GivenBody, GroupContext } from './group-body.ts'
import { requireAccess } from './require-access.ts'

interface ShareDependencies {
  readonly secrets: SecretStore | undefined
  readonly shareAccounts: ShareAccounts | undefined
  /** Of a secret, by its URI. */
  readonly mayRead: (uri: string) => boolean
}

export async function grantedShares(
  context: GroupContext,
  properties: GivenBody['properties'],
  { shareAccounts, secrets, mayRead }: ShareDependencies,
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
    const key =
      azureFile.storageAccountKey ??
      (uri === undefined || !mayRead(uri) ? undefined : await secrets?.read(uri))
    const isNamed = id === undefined || id.key === account?.id.key
    const hasKey = isNamed && key !== undefined && account?.isKey(key) === true
    if (!hasKey) {
      const path = `properties.volumes[${at}].azureFile.storageAccountName`
      const on = id ?? account?.id
      // As the caller wrote it: only those who may see the account learn where it is.
      const use = shareAccounts.useOf({ isReadOnly: azureFile.readOnly === true })
      if (on !== undefined) await requireAccess(context, use, on, given)
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
  readonly owners: Readonly<Record<string, string>> | undefined
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
