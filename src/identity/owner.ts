/**
 * The first account of an installation: a user named `owner`. It has a password for people and a secret for the
 * command line, which acts as the same user. It is created once; its rights are decided elsewhere.
 */

import type { Ids } from '#kernel/ports.ts'
import type { Sql } from '#stores/store.ts'
import type { IdentityDirectory } from './directory.ts'
import type { PrincipalRecord } from './principal-record.ts'

/** Credentials, shown once when they are made. */
interface OwnerCredentials {
  readonly principalId: string
  readonly signInName: string
  readonly password: string
  /** The client id for client credentials: the owner's own id, so that the token acts as the owner. */
  readonly clientId: string
  readonly clientSecret: string
}

type OwnerOutcome =
  | ({ readonly created: true } & OwnerCredentials)
  /** The owner exists: an earlier start made it, or another replica did at this moment. */
  | { readonly created: false; readonly principalId: string }

export interface Owner {
  ensure(options: { readonly displayName: string }): Promise<OwnerOutcome>
  /**
   * Makes a new password and a new secret, and ends the old password and the older secrets of the command line. An
   * operator needs this after losing them, or after a first start that ended before it showed them.
   */
  reset(): Promise<OwnerCredentials>
  /** The owner as it is in the directory now. */
  find(): Promise<PrincipalRecord | undefined>
}

const signInName = 'owner'
const secretName = 'command line'

export function createOwner(options: {
  readonly sql: Sql
  readonly directory: IdentityDirectory
  /** The first uuid is the owner's id, if this process creates the owner. */
  readonly ids: Ids
}): Owner {
  const { sql, directory, ids } = options

  async function ownerId(): Promise<string | undefined> {
    const [row] = await sql.all("select value from identity_settings where name = 'owner'")
    return row === undefined ? undefined : String(row['value'])
  }

  return {
    async ensure({ displayName }) {
      const known = await ownerId()
      if (known !== undefined) return { created: false, principalId: known }
      const password = ids.secret(18)
      const id = ids.uuid()
      // Of replicas that start at once, the others wait here for the first one's transaction.
      const claimed = await directory.createClaimant(
        { id, displayName, signInName, password },
        async (tx) => {
          const rows = await tx.run(
            "insert into identity_settings (name, value) values ('owner', ?) on conflict do nothing",
            id,
          )
          return rows === 1
        },
      )
      if (!claimed) {
        const winner = await ownerId()
        if (winner === undefined) throw new Error('an owner was claimed, yet there is none')
        return { created: false, principalId: winner }
      }
      const secret = await directory.addSecret(id, { displayName: secretName })
      return {
        created: true,
        principalId: id,
        signInName,
        password,
        clientId: id,
        clientSecret: secret.value,
      }
    },
    async reset() {
      const id = await ownerId()
      if (id === undefined) throw new Error('there is no owner to give new credentials to')
      const owner = await directory.get(id, 'User')
      const password = ids.secret(18)
      await directory.setPassword(id, password)
      for (const old of await directory.secrets(id)) {
        if (old.displayName === secretName) await directory.removeSecret(id, old.id)
      }
      const secret = await directory.addSecret(id, { displayName: secretName })
      return {
        principalId: id,
        signInName: owner.signInName ?? signInName,
        password,
        clientId: id,
        clientSecret: secret.value,
      }
    },
    async find() {
      const id = await ownerId()
      return id === undefined ? undefined : directory.record(id)
    },
  }
}
