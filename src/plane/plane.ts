/**
 * The plane as the edge sees it: locate, authorize, run. Plain data in, plain data out; nothing here knows
 * HTTP beyond method names and status numbers that the contract itself prints.
 */

import type { TSchema } from 'typebox'
import type { RequestFrom } from '#activity/record.ts'
import type { ErrorFamily } from '#kernel/error.ts'
import type { Preconditions } from '#kernel/etag.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { FeedPositions } from '#stores/store.ts'
import type { ConditionalGrant, Permission } from './access.ts'

export type Method = 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'DELETE' | 'POST'

/** The target of a request, found from its path and method alone, before anything else of it is read. */
export interface Route {
  readonly kind:
    | 'put'
    | 'patch'
    | 'write-computed'
    | 'get'
    | 'head'
    | 'delete'
    | 'list'
    | 'action'
    | 'operation-status'
    | 'operation-result'
  /** The resource, or the parent scope of a collection or action. */
  readonly id: ResourceId
  /** The fully qualified type, for logs and metrics: bounded in number. */
  readonly type: string
  /** The permission the caller needs, and where. Empty where any signed-in caller may. */
  readonly action: string
  /** The action name in the audit trail, also where no permission is needed. */
  readonly operation: string
  /** True when the audit trail gets a record: the request may change something, or reveals a secret. */
  readonly leavesRecord: boolean
  readonly scope: ResourceId
  readonly errorFamily: ErrorFamily
  readonly body: 'required' | 'optional' | 'none'
  /** The version that answers, where the requested one is not listed. */
  readonly nearestVersion?: string
  /** Headers of its answer, also when it is a refusal. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** True when an expression that reads something the answer lacks gets an invented value. */
  readonly isOpen?: true
  /** `exact`: integers of 64 bits are kept. `relaxed`: also comments, and names without quotes. */
  readonly bodySyntax: 'strict' | 'exact' | 'relaxed'
  /** How throttling counts it. */
  readonly counts: 'reads' | 'writes' | 'deletes'
  /** The lower-case path of the collection, for continuation tokens. */
  readonly path: string
}

export interface RunInput {
  readonly principal: Principal
  readonly query: URLSearchParams
  /** Parsed JSON, or undefined when there was none. */
  readonly body: unknown
  /**
   * True for a body that the installation made itself. It is not checked against the schema, whose compilation is
   * slow.
   */
  readonly isOwnBody?: true
  /** The body as a dry run of the same PUT has checked it: it is not checked again. */
  readonly checkedBody?: Readonly<Record<string, unknown>>
  readonly preconditions: Preconditions
  readonly correlationId: string
  /** True when the answer may be JSON text, which saves building an object. */
  readonly takesText?: true
  /** The origin of the request; left out by internal calls and where no record can be written. */
  readonly from?: RequestFrom
  /** Aborted when nobody waits for the answer any more: steps that have not begun are not done. */
  readonly signal?: AbortSignal
  /** The address that the caller used, for links in answers; left out by internal calls. Never stored. */
  readonly publicUrl?: string
  /**
   * The result of `authorize` for this route and principal. Required: leaving out a condition would turn a narrow
   * grant into a wide one.
   */
  readonly pending: ConditionalGrant | undefined
  /**
   * Checks the caller and the right again, for a request that waited for others. Throws 401 or 403.
   */
  readonly authorizeAgain?: () => Promise<ConditionalGrant | undefined>
  /** As `Plane.rightsAsOf` was before the caller was authenticated and authorized. */
  readonly rightsAsOf?: FeedPositions | undefined
  /** For work that continues after the answer. Requests of the installation itself have none. */
  readonly permission?: Permission | undefined
}

/** The long-running operation that the answer refers to. Paths; the edge makes them absolute. */
export interface OperationLink {
  readonly statusPath: string
  readonly resultPath: string
  readonly retryAfterSeconds: number
  readonly startTime: string
}

export interface Outcome {
  readonly status: number
  /** A JSON value, ready text, or a stream; undefined for an empty body. */
  readonly body?: object | string | AsyncIterable<Uint8Array>
  /** Unquoted entity tag of the resource in the answer. */
  readonly etag?: string
  readonly operation?: OperationLink
  /** For a write: nothing changed, and the body is the resource as it is. */
  readonly isUnchanged?: true
  /** A continuation token: the edge makes the absolute `nextLink` and puts it into the body. */
  readonly nextToken?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface Plane {
  /**
   * The route of a request. Throws the refusals of path, version, namespace, type and method (400, 404,
   * 405 with `Allow`).
   */
  locate(method: Method, path: string, query: URLSearchParams): Route
  /** The methods that OPTIONS answers; undefined where nothing is served. */
  methodsOf(path: string, query: URLSearchParams): readonly string[] | undefined
  /**
   * Throws `AuthorizationFailed` (403), or `SubscriptionNotFound` where facts 9.7 puts it first. Returns a pending
   * grant where the decision depends on more than the route; `run` settles it.
   */
  authorize(
    route: Route,
    principal: Principal,
    correlationId: string,
    refreshed?: Promise<unknown>,
  ): ConditionalGrant | undefined | Promise<ConditionalGrant | undefined>
  /**
   * Begins what `authorize` would wait for, for one call of it with the result: so that a caller is identified meanwhile.
   * The answer is by rights that are not older than this call.
   */
  refreshRights?(): Promise<unknown> | undefined
  /** What later answers of `authorize` rest on at least, and the caller's account with them. */
  rightsAsOf?(): FeedPositions | undefined
  /**
   * Checks again a right that `authorize` granted. A conditional grant is settled with the resource as stored now;
   * the attributes of the request are unknown by then.
   */
  stillAllows(route: Route, principal: Principal): Promise<StillAllowed>
  /** Whether there is a subscription of this id. */
  hasSubscription(id: string): Promise<boolean>
  /** Characters of what is known to be large at and above the resource; 0 for all others. */
  largeAt(id: ResourceId): number
  /** Checks the body against the schema and runs the request. Throws refusals; any other error is a fault. */
  run(route: Route, input: RunInput): Promise<Outcome>
  /** The family of error bodies for a path that could not be located. */
  errorFamilyOf(path: string): ErrorFamily
  /** Schemas and routes as data, for OpenAPI and for tests that visit every route. */
  describe(): readonly RouteDescription[]
}

export interface StillAllowed {
  readonly allowed: boolean
  /** True when the right depends on a condition, so that it may change without a change of role assignments. */
  readonly conditional: boolean
}

/** One route of the table, for documentation and for tests. */
export interface RouteDescription {
  readonly namespace: string
  readonly type: string
  /** The versions that have shapes of their own. */
  readonly versions: readonly string[]
  /** The versions that are answered in one of these shapes. */
  readonly compatibleVersions: readonly string[]
  readonly method: Method
  /** `/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/…` */
  readonly path: string
  readonly action: string
  readonly summary: string
  readonly operationName: string
  readonly body?: (version: string) => TSchema | undefined
  readonly answer?: (version: string) => TSchema | undefined
  readonly longRunning: boolean
  /** Its successful answers have the entity tag of the resource. */
  readonly hasEtag?: boolean
  /** The patterns of variables in the path, by their names. A name that is free has none. */
  readonly names?: Readonly<Record<string, string>>
  /** What a 202 that the type declares shows. */
  readonly accepted?: 'resource' | 'none' | 'operation'
  /** An action that never answers 204. */
  readonly always200?: true
  /** Statuses of an action besides 200 and 204. */
  readonly statuses?: readonly number[]
  /** The 202 of an action shows its answer. */
  readonly acceptedShows?: true
  /** Names of query parameters besides `api-version`. */
  readonly query?: readonly string[]
  /** True when nothing of it is stored. */
  readonly isComputed?: true
  /** The envelope around an item. `loose`: its type builds it and may leave out members. Absent for actions and bare items. */
  readonly envelope?: 'plain' | 'tracked' | 'loose'
  readonly errorFamily: ErrorFamily
}
