/**
 * Federated credentials of applications: tokens of another issuer that are accepted instead of a secret. They are
 * stored beside secrets and removed with them; what is stored is not secret.
 */

import { createHash } from 'node:crypto'
import type { Sql, SqlRow, SqlTx } from '#stores/store.ts'
import { recordCredentialChange } from './directory-activity.ts'
import { type DirectoryContext, readPrincipal } from './directory-rows.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import { parseObjectId } from './principal-rules.ts'

/**
 * The tokens that are accepted: issuer and subject must be equal, and the token's audience must be one of the list.
 */
export interface FederatedTrust {
  readonly issuer: string
  readonly subject: string
  readonly audiences: readonly string[]
}

/** A trust whose id goes into the tokens that it gives: they end when no trust has that id. */
interface IdentifiedTrust extends FederatedTrust {
  readonly id: string
}

/** The federated credentials that are resources, by the key of the resource that a principal belongs to. */
export type FederatedOf = (resourceKey: string) => Promise<readonly IdentifiedTrust[]>

export interface FederatedCredential extends IdentifiedTrust {
  readonly name: string
  readonly description: string
}

type GivenCredential = Omit<FederatedCredential, 'id'>

export interface FederatedCredentials {
  federated(principalId: string): Promise<readonly FederatedCredential[]>
  addFederated(principalId: string, given: GivenCredential): Promise<FederatedCredential>
  /** Changes the credential, found by its id or name, as it is when it is written. The name cannot change. */
  changeFederated(
    principalId: string,
    idOrName: string,
    change: Partial<Omit<GivenCredential, 'name'>>,
  ): Promise<FederatedCredential>
  removeFederated(principalId: string, idOrName: string): Promise<void>
  resourceOf(principalId: string): Promise<string | undefined>
}

export function openFederatedCredentials({
  sql,
  ids,
  clock,
  limits,
}: DirectoryContext): FederatedCredentials {
  async function put(
    principalId: string,
    wanted: (all: readonly FederatedCredential[]) => FederatedCredential,
    isThere = false,
  ): Promise<FederatedCredential> {
    return sql.transact(async (tx) => {
      const principal = await readPrincipal(tx, principalId, 'ServicePrincipal')
      const all = await credentialsOf(tx, principal.id)
      const given = wanted(all)
      const { id, name } = given
      const kept = trustOf(given)
      const others = all.filter((one) => one.id !== id)
      requireRoom(others, given, limits.federatedCredentialsMax)
      if (isThere) await removeRow(tx, principal.id, id)
      await tx.run(
        `insert into identity_credentials
          (id, principal_id, kind, hash, display_name, created_at, expires_at)
          values (?, ?, 'federated', ?, ?, ?, null)`,
        id,
        principal.id,
        JSON.stringify(kept),
        name,
        clock.now(),
      )
      await tx.follow(directoryFeed, principal.id)
      recordCredentialChange(tx, principal, {
        action: 'federatedCredentials/write',
        path: `federatedCredentials/${id}`,
      })
      return { id, name, ...kept }
    })
  }

  return {
    async federated(principalId) {
      const id = parseObjectId(principalId)
      return id === undefined ? [] : credentialsOf(sql, id)
    },

    addFederated: (principalId, given) => put(principalId, () => ({ ...given, id: ids.uuid() })),

    changeFederated: (principalId, idOrName, change) =>
      put(
        principalId,
        (all) => {
          const { id, name, ...before } = foundIn(all, idOrName)
          // A body may hold more than it declares.
          return { ...before, ...change, id, name }
        },
        true,
      ),

    async removeFederated(principalId, idOrName) {
      await sql.transact(async (tx) => {
        const principal = await readPrincipal(tx, principalId, 'ServicePrincipal')
        const found = foundIn(await credentialsOf(tx, principal.id), idOrName)
        await removeRow(tx, principal.id, found.id)
        await tx.follow(directoryFeed, principal.id)
        recordCredentialChange(tx, principal, {
          action: 'federatedCredentials/delete',
          path: `federatedCredentials/${found.id}`,
        })
      })
    },

    resourceOf: (principalId) => resourceOf(sql, principalId),
  }
}

/** What a token by this trust names: another text after every change of what is trusted, so the tokens of before end. */
export function groundOf({ id, issuer, subject, audiences }: IdentifiedTrust): string {
  const text = JSON.stringify([id, issuer, subject, audiences])
  return createHash('sha256').update(text).digest('base64url')
}

/** All that tokens of a principal may name. Earlier versions put the id of a federated credential into them. */
export async function credentialGroundsOf(
  from: Pick<Sql, 'all'>,
  principalId: string,
): Promise<readonly string[]> {
  const rows = await from.all(
    `select id, display_name, case when kind = 'federated' then hash end as hash
      from identity_credentials where principal_id = ?`,
    principalId,
  )
  return rows.flatMap((row) => {
    const id = String(row['id'])
    return (row['hash'] ?? null) === null ? [id] : [id, groundOf(read(row))]
  })
}

/** The key of the resource that a principal belongs to. */
export async function resourceOf(
  from: Pick<Sql, 'all'>,
  principalId: string,
): Promise<string | undefined> {
  const [row] = await from.all(
    'select resource_key from identity_workloads where principal_id = ?',
    principalId,
  )
  return row === undefined ? undefined : String(row['resource_key'])
}

export function foundIn(
  all: readonly FederatedCredential[],
  idOrName: string,
): FederatedCredential {
  const found = all.find(({ id, name }) => id === idOrName || name === idOrName)
  if (found === undefined) throw noCredential(idOrName)
  return found
}

function noCredential(id: string): Error {
  return refuseIdentity.FederatedCredentialNotFound({ id: id.slice(0, 120) })
}

function requireRoom(
  others: readonly FederatedCredential[],
  given: Omit<FederatedCredential, 'id'>,
  limit: number,
): void {
  if (others.length >= limit) throw refuseIdentity.TooManyFederatedCredentials({ limit })
  const isTaken = others.some(
    ({ name, issuer, subject }) =>
      name === given.name || (issuer === given.issuer && subject === given.subject),
  )
  if (isTaken) throw refuseIdentity.FederatedCredentialExists({ name: given.name })
}

async function credentialsOf(
  from: Pick<Sql, 'all'>,
  principalId: string,
): Promise<readonly FederatedCredential[]> {
  const rows = await from.all(
    `select id, display_name, hash from identity_credentials
      where principal_id = ? and kind = 'federated' order by created_at, id`,
    principalId,
  )
  return rows.map(read)
}

/** The statement names the principal and the kind: an id alone does not say whose credential it is. */
async function removeRow(tx: SqlTx, principalId: string, id: string): Promise<void> {
  const removed = await tx.run(
    "delete from identity_credentials where id = ? and principal_id = ? and kind = 'federated'",
    id,
    principalId,
  )
  if (removed === 0) throw noCredential(id)
}

type Kept = FederatedTrust & Pick<FederatedCredential, 'description'>

/** The stored part of a credential besides its id and name. Bodies and earlier rows may hold more. */
function trustOf({ issuer, subject, audiences, description }: Kept): Kept {
  return { issuer, subject, audiences, description }
}

function read(row: SqlRow): FederatedCredential {
  return {
    id: String(row['id']),
    name: String(row['display_name']),
    // Only `put` writes this.
    ...trustOf(JSON.parse(String(row['hash'])) as Kept),
  }
}
