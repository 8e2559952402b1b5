/** Reads lists page by page: follows `nextLink` exactly as given, and stops when there is none. */

import { isJsonObject } from '#kernel/patch.ts'
import { textOf } from './answer.ts'
import type { Client, RequestOptions } from './client.ts'
import { unreadable } from './client-error.ts'

export interface Page {
  readonly value: readonly unknown[]
  /** The whole body, for what a list holds besides its items. */
  readonly body: unknown
}

/** The bound ends a list whose links go in circles before memory is full. */
const pagesMax = 100_000

export async function* walkPages(
  client: Pick<Client, 'request'>,
  path: string,
  options: RequestOptions = {},
): AsyncGenerator<Page> {
  let next: string | undefined = path
  let asked = options
  for (let count = 0; next !== undefined && count < pagesMax; count++) {
    const answer = await client.request('GET', next, asked)
    const value = isJsonObject(answer.body) ? answer.body['value'] : undefined
    if (!Array.isArray(value)) throw unreadable(answer, 'a list')
    yield { value, body: answer.body }
    next = textOf(answer.body, 'nextLink') || undefined
    // The link contains the query already.
    asked = { ...options, query: {} }
  }
}
