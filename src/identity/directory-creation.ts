/** Creates users, groups and service principals, each with its first credential. */

import type { RecordedTx } from '#activity/recorded-sql.ts'
import type { SqlTx } from '#stores/store.ts'
import type { Credentials } from './credentials.ts'
import { recordPrincipalChange } from './directory-activity.ts'
import { type DirectoryContext, freshPrincipal } from './directory-rows.ts'
import { refuseIdentity } from './errors.ts'
import { insertPrincipal } from './insert-principal.ts'
import { checkPassword } from './password-rules.ts'
import type { Passwords } from './passwords.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { checkClientId, checkRedirectUris, checkSignInName } from './principal-rules.ts'

export interface PrincipalCreation {
  /** Refuses a sign-in name that is taken (`PrincipalExists`) and a weak password (`InvalidPassword`). */
  createUser(user: {
    readonly displayName: string
    readonly signInName: string
    readonly password?: string
    /**
     * The server generated the password. It satisfies every rule, and checking it would load the list of common
     * passwords.
     */
    readonly generated?: boolean
  }): Promise<PrincipalRecord>
  /**
   * Creates a user with a generated password, in one transaction with `claim`. Creates nothing when `claim` returns
   * false.
   */
  createClaimant(
    user: {
      readonly id: string
      readonly displayName: string
      readonly signInName: string
      readonly password: string
    },
    claim: (tx: SqlTx) => Promise<boolean>,
  ): Promise<boolean>
  createGroup(group: { readonly displayName: string }): Promise<PrincipalRecord>
  /** The first secret is shown this once. A public client has none and may choose its client id. */
  createServicePrincipal(principal: {
    readonly displayName: string
    readonly redirectUris?: readonly string[]
    readonly publicClient?: { readonly clientId?: string }
    /** It gets its secrets later. The answer has one that was kept nowhere. */
    readonly secret?: 'none'
  }): Promise<{ readonly principal: PrincipalRecord; readonly clientSecret: string }>
}

export function principalCreation(
  context: DirectoryContext,
  credentials: Credentials,
  passwords: Passwords,
): PrincipalCreation {
  const { ids, limits, sql } = context

  async function insertUser(
    tx: RecordedTx,
    user: PrincipalRecord,
    hash: string | undefined,
  ): Promise<void> {
    const { signInName = '' } = user
    if (!(await insertPrincipal(tx, user))) throw refuseIdentity.PrincipalExists({ signInName })
    if (hash !== undefined) await credentials.storePassword(tx, user.id, hash)
    recordPrincipalChange(tx, undefined, user)
  }

  return {
    async createUser({ displayName, signInName, password, generated = false }) {
      const user = {
        ...freshPrincipal('User', displayName, context),
        signInName: checkSignInName(signInName, limits),
      }
      if (password !== undefined && !generated) await checkPassword(password, user, limits)
      // The hash is computed outside the transaction: it takes long and depends on nothing in the store.
      const origin = generated ? 'generated' : 'chosen'
      const hash = password === undefined ? undefined : await passwords.hash(password, origin)
      await sql.transact((tx) => insertUser(tx, user, hash))
      return user
    },

    async createClaimant({ id, displayName, signInName, password }, claim) {
      const user = { ...freshPrincipal('User', displayName, context), id, signInName }
      const hash = await passwords.hash(password, 'generated')
      return sql.transact(async (tx) => {
        if (!(await claim(tx))) return false
        await insertUser(tx, user, hash)
        return true
      })
    },

    async createGroup({ displayName }) {
      const group = freshPrincipal('Group', displayName, context)
      await sql.transact(async (tx) => {
        await insertPrincipal(tx, group)
        recordPrincipalChange(tx, undefined, group)
      })
      return group
    },

    async createServicePrincipal({ displayName, redirectUris, publicClient, secret: wanted }) {
      const principal = {
        ...freshPrincipal('ServicePrincipal', displayName, context),
        clientId: checkClientId(publicClient?.clientId) ?? ids.uuid(),
        redirectUris: checkRedirectUris(redirectUris ?? [], limits),
        publicClient: publicClient !== undefined,
      }
      const clientSecret = ids.secret(32)
      const secret = credentials.freshSecret('first', undefined)
      await sql.transact(async (tx) => {
        // A user with a secret signs in under the user's own id, so that id cannot be anyone's client id.
        const [taken] = await tx.all(
          'select 1 from identity_principals where id = ?',
          principal.clientId,
        )
        if (taken !== undefined || !(await insertPrincipal(tx, principal))) {
          throw refuseIdentity.ClientIdExists({ clientId: principal.clientId })
        }
        recordPrincipalChange(tx, undefined, principal)
        if (publicClient !== undefined || wanted === 'none') return
        await credentials.storeSecret(tx, principal.id, clientSecret, secret)
      })
      return { principal, clientSecret }
    },
  }
}
