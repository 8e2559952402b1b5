/**
 * The part of oidc-provider 9.13 that this folder uses; the package brings no types of its own. Nothing
 * outside `src/identity` may import it.
 */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http'

  export interface Context {
    readonly req: IncomingMessage
    readonly res: ServerResponse
    readonly path: string
    status: number
    type: string
    body: unknown
    set(name: string, value: string): void
    redirect(url: string): void
    readonly oidc: {
      readonly route: string
      readonly params: Record<string, string | undefined>
      readonly client?: Client
      readonly account?: Account
      readonly grant?: Grant
      readonly entities: {
        readonly RefreshToken?: TokenSource
        readonly AuthorizationCode?: TokenSource
        readonly DeviceCode?: TokenSource
      }
      readonly result?: {
        readonly login?: unknown
        readonly consent?: { readonly grantId?: string }
        /** Ours, beside the library's own. */
        readonly signIn?: {
          readonly credentialId: string
          readonly origin: { readonly address: string; readonly userAgent: string }
        }
      }
      readonly session?: {
        readonly uid: string
        /** Of one that was stored. */
        readonly exp?: number
        readonly destroyed?: boolean
        readonly accountId?: string
        grantIdFor(clientId: string): string | undefined
        readonly state?: { readonly secret?: string }
      }
      readonly requestParamScopes: Set<string>
      readonly requestParamOIDCScopes: Set<string>
      readonly resourceServers: Record<string, { readonly scopes: Set<string> }>
      readonly provider: Provider
    }
  }

  export interface Account {
    readonly accountId: string
    claims(use: string, scope: string): Promise<Record<string, unknown>>
  }

  export interface Client {
    readonly clientId: string
    readonly clientName?: string
    readonly clientAuthMethod: string
    readonly applicationType: string
    readonly redirectUris: readonly string[]
    grantTypeAllowed(type: string): boolean
  }

  export interface ClientClass {
    readonly prototype: {
      compareClientSecret(actual: string): Promise<boolean>
      redirectUriAllowed(uri: string): boolean
      postLogoutRedirectUriAllowed(uri: string): boolean
    }
    find(id: string): Promise<Client | undefined>
  }

  export interface Grant {
    readonly jti: string
    readonly accountId: string
    readonly clientId: string
    getOIDCScopeEncountered(): string
    getResourceScopeEncountered(resource: string): string
    addOIDCScope(scope: string): void
    addResourceScope(resource: string, scope: string): void
    save(): Promise<string>
  }

  export interface GrantClass {
    new (options: { readonly accountId: string; readonly clientId: string }): Grant
    find(id: string): Promise<Grant | undefined>
  }

  export interface TokenSource {
    readonly accountId?: string
    readonly clientId: string
    readonly grantId?: string
    readonly sessionUid?: string
    readonly expiresWithSession?: boolean
    /** In seconds since 1970. */
    readonly iat?: number
  }

  export interface Token extends TokenSource {
    readonly kind: string
    readonly scope?: string
    readonly scopes: Set<string>
  }

  export interface Interaction {
    readonly uid: string
    readonly returnTo: string
    readonly prompt: {
      readonly name: string
      readonly details: {
        readonly missingOIDCScope?: readonly string[]
        readonly missingResourceScopes?: Readonly<Record<string, readonly string[]>>
      }
    }
    readonly params: Readonly<Record<string, string | undefined>>
    readonly session?: { readonly accountId?: string }
    readonly grantId?: string
  }

  export interface Adapter {
    upsert(id: string, payload: Record<string, unknown>, expiresIn?: number): Promise<void>
    find(id: string): Promise<Record<string, unknown> | undefined>
    findByUid(uid: string): Promise<Record<string, unknown> | undefined>
    findByUserCode(userCode: string): Promise<Record<string, unknown> | undefined>
    consume(id: string): Promise<void>
    destroy(id: string): Promise<void>
    revokeByGrantId(grantId: string): Promise<void>
  }

  export class Provider {
    constructor(issuer: string, configuration: Record<string, unknown>)
    proxy: boolean
    readonly issuer: string
    static readonly ctx: Context | undefined
    readonly Client: ClientClass
    readonly Grant: GrantClass
    callback(): (req: IncomingMessage, res: ServerResponse) => Promise<void>
    use(middleware: (ctx: Context, next: () => Promise<void>) => Promise<void>): this
    on(event: 'grant.revoked', listener: (ctx: Context, grantId: string) => void): this
    on(event: 'server_error', listener: (ctx: Context, error: Error) => void): this
    /** Of the library below it, which has them the other way round. */
    on(event: 'error', listener: (error: Error, ctx: Context) => void): this
    registerResponseMode(
      name: string,
      handler: (ctx: Context, redirectUri: string, payload: Record<string, string>) => void,
    ): void
    interactionDetails(req: IncomingMessage, res: ServerResponse): Promise<Interaction>
    interactionResult(
      req: IncomingMessage,
      res: ServerResponse,
      result: Record<string, unknown>,
      options?: { readonly mergeWithLastSubmission?: boolean },
    ): Promise<string>
  }

  export const errors: {
    readonly InvalidGrant: new (detail: string) => Error
    readonly InvalidTarget: new () => Error
    readonly SessionNotFound: new (detail: string) => Error
  }

  export class Check {
    constructor(
      reason: string,
      description: string,
      check: (ctx: Context) => boolean | Promise<boolean>,
    )
  }

  export interface Prompt {
    readonly checks: {
      remove(reason: string): void
      add(check: Check): void
    }
  }

  export const interactionPolicy: {
    readonly Check: typeof Check
    base(): { get(name: string): Prompt }
  }
}
