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
import type { ConditionalGrant, Permission } from './access.ts'

export type Method = 'GET' | 'HEAD' | 'PUT' | 'PATCH' | 'DELETE' | 'POST'

/** Where a request goes, found from its path and method alone, before anything of it is trusted. */
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
  /** Fully qualified type, for logs and metrics: bounded in number. */
  readonly type: string
  /** What the caller needs, and where. Empty where any signed-in caller may. */
  readonly action: string
  /** What the audit trail calls it: the action, also where nobody is asked for it. */
  readonly operation: string
  /** A request for it leaves a record in the audit trail: it may change something, or it reveals a secret. */
  readonly leavesRecord: boolean
  readonly scope: ResourceId
  readonly errorFamily: ErrorFamily
  readonly body: 'required' | 'optional' | 'none'
  /** The version that answers, where the one that was asked for is not listed. */
  readonly nearestVersion?: string
  /** Headers of its answer, also of a refusal. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** What its answer lacks may be invented for whoever reads it. */
  readonly isOpen?: true
  /** `relaxed`: JSON as people write it, with comments and names without quotes. */
  readonly bodySyntax: 'strict' | 'relaxed'
  /** How throttling counts it. */
  readonly counts: 'reads' | 'writes' | 'deletes'
  /** The lower-case path that identifies the collection, for continuation tokens. */
  readonly path: string
}

export interface RunInput {
  readonly principal: Principal
  readonly query: URLSearchParams
  /** Parsed JSON, or undefined when there was none. */
  readonly body: unknown
  /** The body is of the installation's own making: what it is by its type, no schema has to say, which takes long to compile. */
  readonly isOwnBody?: true
  readonly preconditions: Preconditions
  readonly correlationId: string
  /** The answer may be JSON text, which needs no object. */
  readonly takesText?: true
  /** Where the request came from; left out by calls from inside, and where no record can be left. */
  readonly from?: RequestFrom
  /** Aborted when nobody waits for the answer any more: what is not done by then is not done. */
  readonly signal?: AbortSignal
  /** The address by which the caller came, for links in answers; left out by calls from inside. Never stored. */
  readonly publicUrl?: string
  /**
   * What `authorize` answered for this very route and principal. Never left out: forgetting a condition
   * would turn a narrow grant into a wide one.
   */
  readonly pending: ConditionalGrant | undefined
  /** For what goes on after the answer. Requests that the installation makes itself have none. */
  readonly permission?: Permission | undefined
}

/** A long-running operation that the answer points at. Paths, to be made absolute by the edge. */
export interface OperationLink {
  readonly statusPath: string
  readonly resultPath: string
  readonly retryAfterSeconds: number
}

export interface Outcome {
  readonly status: number
  /** A JSON value, ready text, or a stream; undefined for an empty body. */
  readonly body?: object | string | AsyncIterable<Uint8Array>
  /** Unquoted entity tag of the resource in the answer. */
  readonly etag?: string
  readonly operation?: OperationLink
  /** Of a write: it changes nothing, and the body is the resource as it stands. */
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
  /** What OPTIONS answers of a path; undefined where nothing is served. */
  methodsOf(path: string, query: URLSearchParams): readonly string[] | undefined
  /**
   * Throws `AuthorizationFailed` (403), or `SubscriptionNotFound` where the order of facts 9.7 has it first.
   * Answers a pending grant where it depends on more than the route; `run` settles it.
   */
  authorize(
    route: Route,
    principal: Principal,
    correlationId: string,
  ): ConditionalGrant | undefined | Promise<ConditionalGrant | undefined>
  /**
   * Asks again for a right that `authorize` granted. A grant with a condition is settled with the resource as it is
   * stored now; of the request nothing is known any more.
   */
  stillAllows(route: Route, principal: Principal): Promise<StillAllowed>
  /** Checks the body against the schema and does the deed. Throws refusals; anything else is a fault. */
  run(route: Route, input: RunInput): Promise<Outcome>
  /** The family of error bodies for a path that could not be located. */
  errorFamilyOf(path: string): ErrorFamily
  /** Schemas and routes as data, for OpenAPI and for tests that walk every route. */
  describe(): readonly RouteDescription[]
}

export interface StillAllowed {
  readonly allowed: boolean
  /** It depends on a condition, so it may change without a change of role assignments. */
  readonly conditional: boolean
}

/** One route of the table, as documentation and as something to walk in tests. */
export interface RouteDescription {
  readonly namespace: string
  readonly type: string
  /** Those that have shapes of their own. */
  readonly versions: readonly string[]
  /** Those that are answered in one of these shapes. */
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
  /** Of an action: what it answers besides 200 and 204. */
  readonly statuses?: readonly number[]
  /** Names in its query besides `api-version`. */
  readonly query?: readonly string[]
  /** Nothing of it is in the store. */
  readonly isComputed?: true
  /** What stands around the answer of an item. `loose`: its type makes it, and may leave some of it out. Absent of actions. */
  readonly envelope?: 'plain' | 'tracked' | 'loose'
  readonly errorFamily: ErrorFamily
}
