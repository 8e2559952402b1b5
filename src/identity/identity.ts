/**
 * Identity as the rest of the tree sees it: the directory, the authenticator, and a handler for the OAuth routes.
 * Opening it reads nothing and does not load the OAuth library; both happen on first use.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import { withoutTrailing } from '#kernel/trailing.ts'
import type { Outbound } from '#outbound/outbound.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Feed, Sql } from '#stores/store.ts'
import { type Authenticator, createAuthenticator } from './authenticate.ts'
import { type IdentityDirectory, openDirectory } from './directory.ts'
import { directorySql } from './directory-sql.ts'
import type { FederatedOf } from './federated-credentials.ts'
import { openKeyRing } from './keys.ts'
import { defaultIdentityLimits, type IdentityLimits } from './limits.ts'
import type { WantedIdentity } from './local-token.ts'
import type { OAuthHandler } from './oauth-handler.ts'
import { createOwner, type Owner } from './owner.ts'
import type { PasswordCost } from './passwords.ts'
import type { PrincipalRecord } from './principal-record.ts'
import { canonicalPath } from './rewrite.ts'
import type { OnSignIn } from './sign-in-events.ts'
import type { makeSigningPair } from './signing-pair.ts'
import { createTokenIssuer } from './token-issuer.ts'

export interface IdentityOptions {
  readonly sql: Sql
  /** `store.feed('directory')`. */
  readonly feed: Feed
  readonly clock: Clock
  /** The clock that the OAuth library reads; the same as `clock` when left out. */
  readonly libraryClock?: Clock
  readonly ids: Ids
  /** Ids of the owner; the same as `ids` when left out. */
  readonly ownerIds?: Ids
  readonly log: Log
  /** Seals with a key that every replica has and the store never sees. */
  readonly seal: IdentitySeal
  readonly tenantId: string
  /** The vendor word that the audit trail uses. */
  readonly namespace?: string
  /**
   * The address by which clients reach this installation. It is read each time, since the port may be chosen late.
   */
  readonly publicUrl: () => string
  /** The address the caller used, where it may differ from the public URL. Tokens then name it as their issuer. */
  readonly publicUrlOf?: (req: IncomingMessage) => string
  /** The audience of tokens; the public URL when left out. Both are accepted in tokens. */
  readonly audience?: string
  readonly issuers?: readonly ExternalIssuer[]
  readonly limits?: Partial<IdentityLimits>
  /** A caller who sends this secret gets tokens of the owner; `undefined` turns that endpoint off. */
  readonly localTokenSecret?: string
  /** The origin of a request behind trusted proxies; the socket's address when left out. */
  readonly originOf?: (req: IncomingMessage) => RequestOrigin
  /**
   * Maps an address to the group in which sign-in failures are counted; each address is its own group when left
   * out.
   */
  readonly addressGroupOf?: (address: string) => string
  /** Called for every sign-in and every token request, successful or not. */
  readonly onSignIn?: OnSignIn
  /** The outbound policy for documents of external issuers. */
  readonly outbound: Outbound
  readonly passwordCost?: PasswordCost
  /** Makes the pair of the first signing key. Tests share one. */
  readonly firstPair?: typeof makeSigningPair
  readonly federatedOf?: FederatedOf
}

export interface Identity {
  readonly directory: IdentityDirectory
  readonly authenticator: Authenticator
  /** Whether `handleOAuth` serves this path (without query). */
  servesPath(path: string): boolean
  /**
   * Handles a request. It reads the body itself, so the request must be untouched. It always answers and never
   * throws.
   */
  handleOAuth(req: IncomingMessage, res: ServerResponse): void
  /** Makes a new signing key and returns its id. Tokens signed before stay valid. */
  rotateKeys(): Promise<string>
  /** Creates the first account. Its credentials are returned only when it was created. */
  ensureOwner: Owner['ensure']
  /** Replaces the owner's credentials. */
  resetOwner: Owner['reset']
  /** A token for a principal of the directory. Only code of this process may call it, never a request. */
  issueToken(principalId: string): Promise<{ readonly token: string; readonly expiresAt: number }>
}

export function openIdentity(options: IdentityOptions): Identity {
  const { sql, clock, ids, log, tenantId, seal } = options
  const limits: IdentityLimits = { ...defaultIdentityLimits, ...options.limits }
  const publicUrl = (): string => withoutTrailing(options.publicUrl(), '/')
  const audience = (): string => options.audience ?? publicUrl()
  const aliases = (): readonly string[] => [audience(), publicUrl()]
  const federatedOf = options.federatedOf ?? (async () => [])
  const directory = openDirectory({ ...options, limits, federatedOf })
  const own = directorySql(sql, clock, options.namespace)
  const keys = openKeyRing({ ...options, sql: own, watch: directory.watch, limits })
  const owner = createOwner({ sql, directory, ids: options.ownerIds ?? ids })

  const authenticator = createAuthenticator({
    ...options,
    directory,
    keys,
    limits,
    publicUrl,
    followsCaller: options.publicUrlOf !== undefined,
    audiences: aliases,
    issuers: options.issuers ?? [],
  })

  const issue = createTokenIssuer({ keys, clock, ids, limits, tenantId, publicUrl, audience })

  let handler: Promise<OAuthHandler> | undefined

  async function loadHandler(): Promise<OAuthHandler> {
    const { createOAuthHandler } = await import('./oauth-handler.ts')
    const { createTokenExchange } = await import('./token-exchange.ts')
    return createOAuthHandler({
      sql,
      directorySql: own,
      directory,
      keys,
      clock,
      libraryClock: options.libraryClock ?? clock,
      ids,
      log,
      seal,
      limits,
      tenantId,
      publicUrl,
      publicUrlOf: options.publicUrlOf ?? publicUrl,
      audience,
      aliases,
      originOf:
        options.originOf ??
        (({ socket }) => ({ address: socket.remoteAddress ?? '', userAgent: '' })),
      addressGroupOf: options.addressGroupOf ?? ((address) => address),
      onSignIn: options.onSignIn ?? (() => {}),
      exchange: createTokenExchange({
        ...{ clock, log, limits, directory, authenticator, tenantId, issue },
        ...{ outbound: options.outbound, federatedOf, keys },
      }),
      localToken: {
        secret: options.localTokenSecret,
        issue: async (wanted) => {
          const principal =
            wanted === undefined ? await owner.find() : await findWorkload(directory, wanted)
          return principal === undefined ? undefined : issue(principal)
        },
      },
    })
  }

  return {
    directory,
    authenticator,
    servesPath: (path) => canonicalPath(path, tenantId) !== undefined,
    handleOAuth(req, res) {
      handler ??= loadHandler()
      const mine = handler
      mine.then(
        (handle) => handle(req, res),
        (error: unknown) => {
          // The next request tries again and may succeed.
          if (handler === mine) handler = undefined
          log.error({ error: String(error) }, 'the OAuth routes cannot be loaded')
          res.writeHead(500, { 'Content-Type': 'application/json' })
          res.end('{"error":"server_error"}')
        },
      )
    },
    rotateKeys: () => keys.rotate(),
    ensureOwner: (first) => owner.ensure(first),
    resetOwner: () => owner.reset(),
    async issueToken(principalId) {
      const principal = await directory.get(principalId)
      if (principal.type === 'Group') throw new Error('a group cannot act')
      const { token, expiresAt } = await issue(principal)
      return { token, expiresAt }
    },
  }
}

/** The identity that belongs to a resource. Whoever holds the home may act as any of them. */
async function findWorkload(
  directory: IdentityDirectory,
  { kind, value }: WantedIdentity,
): Promise<PrincipalRecord | undefined> {
  if (kind === 'resource') {
    const id = await directory.of(value.toLowerCase())
    return id === undefined ? undefined : directory.record(id)
  }
  const found =
    kind === 'client' ? await directory.clientPrincipal(value) : await directory.record(value)
  const isWorkload = found !== undefined && (await directory.resourceOf(found.id)) !== undefined
  return isWorkload ? found : undefined
}
