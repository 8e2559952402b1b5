/**
 * Identity as the rest of the tree sees it: the directory, the authenticator, and a handler for the OAuth
 * routes. Opening it reads nothing and loads no OAuth library; both wait for the first use.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { recordedSql } from '#activity/recorded-sql.ts'
import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import type { Clock, Ids, Log } from '#kernel/ports.ts'
import type { RequestOrigin } from '#kernel/request-origin.ts'
import type { Outbound } from '#outbound/outbound.ts'
import type { IdentitySeal } from '#sealing/keyring.ts'
import type { Feed, Sql } from '#stores/store.ts'
import { type Authenticator, createAuthenticator } from './authenticate.ts'
import { type IdentityDirectory, openDirectory } from './directory.ts'
import type { FederatedTrust } from './federated-credentials.ts'
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
  /** The clock that the OAuth library reads for itself; the same as `clock` when left out. */
  readonly libraryClock?: Clock
  readonly ids: Ids
  readonly log: Log
  /** Seals with a key that every replica holds and the store never sees. */
  readonly seal: IdentitySeal
  readonly tenantId: string
  /** The vendor word, in the audit trail. */
  readonly namespace?: string
  /** Where clients reach this installation; asked for again each time, since a port may be picked late. */
  readonly publicUrl: () => string
  /** The address by which a caller came, where that need not be the public URL: then tokens name it as their issuer. */
  readonly publicUrlOf?: (req: IncomingMessage) => string
  /** What tokens are for; the public URL when left out. Both are accepted in tokens. */
  readonly audience?: string
  readonly issuers?: readonly ExternalIssuer[]
  readonly limits?: Partial<IdentityLimits>
  /** Lets whoever sends it have tokens of the owner; `undefined` turns that endpoint off. */
  readonly localTokenSecret?: string
  /** Where a request came from, behind proxies the edge trusts; the socket's address when left out. */
  readonly originOf?: (req: IncomingMessage) => RequestOrigin
  /** What counts as one caller where failures are counted by address; each address alone when left out. */
  readonly addressGroupOf?: (address: string) => string
  /** Told of every sign-in and every token asked for, good or bad. */
  readonly onSignIn?: OnSignIn
  /** To the documents of external issuers. */
  readonly outbound: Outbound
  readonly passwordCost?: PasswordCost
  /** The pair of the first signing key; a new one when left out. */
  readonly firstPair?: typeof makeSigningPair
  /** Federated credentials that are resources, by the key of the resource that a principal stands for. */
  readonly federatedOf?: (resourceKey: string) => Promise<readonly FederatedTrust[]>
}

export interface Identity {
  readonly directory: IdentityDirectory
  readonly authenticator: Authenticator
  /** Is this path (without query) one for `handleOAuth`? */
  servesPath(path: string): boolean
  /** Reads the body itself: give it the request untouched. Always answers, never throws. */
  handleOAuth(req: IncomingMessage, res: ServerResponse): void
  /** A new signing key; tokens signed before stay good. Answers the new key's id. */
  rotateKeys(): Promise<string>
  /** The first account, made once; its credentials are answered only then. */
  ensureOwner: Owner['ensure']
  /** New credentials for the owner, ending the old ones. */
  resetOwner: Owner['reset']
  /** A token for a principal of the directory, for those who hold the process (never from a request). */
  issueToken(principalId: string): Promise<{ readonly token: string; readonly expiresAt: number }>
}

export function openIdentity(options: IdentityOptions): Identity {
  const { sql, clock, ids, log, tenantId, seal } = options
  const limits: IdentityLimits = { ...defaultIdentityLimits, ...options.limits }
  const publicUrl = (): string => options.publicUrl().replace(/\/+$/, '')
  const audience = (): string => options.audience ?? publicUrl()
  const aliases = (): readonly string[] => [audience(), publicUrl()]
  const directory = openDirectory({ ...options, limits })
  const recorded = recordedSql(sql, clock, options.namespace)
  const keys = openKeyRing({ ...options, sql: recorded, watch: directory.watch, limits })
  const owner = createOwner({ sql, directory, ids })

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
      recorded,
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
        outbound: options.outbound,
        federatedOf: options.federatedOf ?? (async () => []),
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
          // The next request may find what this one did not.
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

/** An identity that stands for a resource: whoever holds the home may act as any of them. */
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
