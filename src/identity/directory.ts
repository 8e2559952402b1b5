/**
 * The directory: users, groups and service principals, their memberships and credentials. Every change that can
 * alter permissions is written to the feed in the same transaction. The directory decides nothing about permissions
 * and never returns a stored credential.
 */

import { refuse } from '#kernel/error.ts'
import type { Clock, Ids } from '#kernel/ports.ts'
import type { WorkloadIdentities } from '#kernel/principal.ts'
import type { Feed, Sql } from '#stores/store.ts'
import { openCredentials } from './credentials.ts'
import { createDirectoryCache, type DirectoryCache } from './directory-cache.ts'
import { type PrincipalCreation, principalCreation } from './directory-creation.ts'
import { openPrincipalCredentials, type PrincipalCredentials } from './directory-credentials.ts'
import { type Memberships, openMemberships } from './directory-members.ts'
import { openPrincipals, type Principals } from './directory-principals.ts'
import type { DirectoryContext } from './directory-rows.ts'
import { directorySql } from './directory-sql.ts'
import { openWorkloads } from './directory-workloads.ts'
import {
  type FederatedCredentials,
  type FederatedOf,
  openFederatedCredentials,
} from './federated-credentials.ts'
import { type FeedWatch, watchFeed } from './feed-watch.ts'
import { defaultIdentityLimits, type IdentityLimits } from './limits.ts'
import { createPasswords, type PasswordCost } from './passwords.ts'

/** Refuses with `PrincipalNotFound` wherever an id names nothing of the expected type. */
export interface IdentityDirectory
  extends DirectoryCache,
    WorkloadIdentities,
    PrincipalCreation,
    Principals,
    Memberships,
    PrincipalCredentials,
    FederatedCredentials {
  readonly watch: FeedWatch
}

interface DirectoryOptions {
  readonly sql: Sql
  /** `store.feed('directory')`. */
  readonly feed: Feed
  readonly clock: Clock
  readonly ids: Ids
  /** The vendor word that the audit trail uses. */
  readonly namespace?: string
  readonly limits?: Partial<IdentityLimits>
  readonly federatedOf: FederatedOf
  /** The cost of password hashes. Tests of other things lower it. */
  readonly passwordCost?: PasswordCost
}

export function openDirectory(options: DirectoryOptions): IdentityDirectory {
  const { clock, ids } = options
  const sql = directorySql(options.sql, clock, options.namespace)
  const limits: IdentityLimits = { ...defaultIdentityLimits, ...options.limits }
  const context: DirectoryContext = { sql, clock, ids, limits }
  const passwords = createPasswords(limits, options.passwordCost)
  const credentials = openCredentials({ sql, clock, ids, passwords })
  const watch = watchFeed(options.feed)
  const cache = createDirectoryCache({
    ...{ sql, watch, federatedOf: options.federatedOf },
    remembered: limits.principalsRemembered,
  })
  return {
    ...cache,
    ...principalCreation(context, credentials, passwords),
    ...openPrincipals(context),
    ...openWorkloads(context),
    ...openMemberships(context),
    ...openFederatedCredentials(context),
    ...openPrincipalCredentials(context, { cache, credentials, passwords }),
    watch,
  }
}

/** The id in a continuation token. Refuses a token that this directory never issued. */
export function parseAfter(token: string): string {
  if (!/^[0-9a-f-]{36}$/.test(token)) throw refuse.InvalidContinuationToken()
  return token
}
