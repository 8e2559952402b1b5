/** A row of the table that the edge mounts the directory from. Shared by the files that have rows. */

import type { TSchema } from 'typebox'
import type { IdentityDirectory } from './directory.ts'

export interface DirectoryRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `{id}` and the like in the place of parameters. */
  readonly path: string
  /** Needed at the scope `/`; without a vendor word. `undefined` for what everyone may do with what is theirs. */
  readonly action: string | undefined
  /** The body must fit; a route without one takes none. */
  readonly body?: TSchema
  /** Of the answer when `run` does not refuse; 204 answers have no body. */
  readonly status: 200 | 201 | 204
  /**
   * Lists answer `{ value, nextSkipToken? }`; the edge turns the token into an absolute `nextLink`. Refusals are
   * `ApiError`s.
   */
  readonly run: (
    directory: IdentityDirectory,
    request: DirectoryRequest,
  ) => Promise<object | undefined>
}

interface DirectoryRequest {
  readonly params: Readonly<Record<string, string>>
  /** It has passed the schema. */
  readonly body: unknown
  readonly query: Readonly<Record<string, string | undefined>>
  /** `Ids.secret`: for passwords that are made up here. */
  secret(bytes: number): string
  readonly callerId: string
}

export function param(params: Readonly<Record<string, string>>, name: string): string {
  const value = params[name]
  if (value === undefined) throw new Error(`the route has no parameter ${name}`)
  return value
}
