/** The type of a row in the route table of the directory. */

import type { TSchema } from 'typebox'
import type { IdentityDirectory } from './directory.ts'

export interface DirectoryRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Parameters are written as `{id}`. */
  readonly path: string
  /**
   * The action the caller needs at the scope `/`, without the vendor word. `undefined` for what everyone may do
   * with their own data.
   */
  readonly action: string | undefined
  /** The schema of the body. A route without one takes no body. */
  readonly body?: TSchema
  /** The status of the answer when `run` does not refuse. A 204 answer has no body. */
  readonly status: 200 | 201 | 204
  /** It reads many principals. A caller may do that a few times at once. */
  readonly readsMany?: true
  /**
   * Lists answer `{ value, nextSkipToken? }`; the edge turns the token into an absolute `nextLink`. Refusals are
   * `ApiError`s.
   */
  readonly run: (directory: IdentityDirectory, request: DirectoryRequest) => Promise<unknown>
}

interface DirectoryRequest {
  readonly params: Readonly<Record<string, string>>
  /** The body, validated by the schema. */
  readonly body: unknown
  readonly query: Readonly<Record<string, string | undefined>>
  /** `Ids.secret`, for generated passwords. */
  secret(bytes: number): string
  readonly callerId: string
}

export function param(params: Readonly<Record<string, string>>, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`the route has no parameter ${name}`)
  return value
}
