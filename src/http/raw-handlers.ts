/**
 * What holds for the areas that answer requests themselves, past the pipeline: the sign-in, pages, documents. They ask
 * the store in the name of the caller's address, a body that they leave is dropped slowly, and an answer that is not read
 * is bounded as every other one.
 */

import { inNameOf, ownerAt } from '#plane/behalf-of.ts'
import { type AddressOf, addressGroupOf } from './client-address.ts'
import type { Edge } from './exchange.ts'
import { strictTransportHeader } from './respond.ts'
import type { RawHandler } from './routes.ts'
import { dropBody } from './unread-body.ts'

export function bounded(
  handle: RawHandler,
  addressOf: AddressOf,
  {
    limits,
    slowReaders,
    strictTransport,
  }: Pick<Edge, 'limits' | 'slowReaders' | 'strictTransport'>,
): RawHandler {
  return (request, response) => {
    if (strictTransport) response.setHeader(...strictTransportHeader)
    const address = addressGroupOf(addressOf(request))
    const { end } = response
    response.end = function (this: typeof response, ...given: Parameters<typeof end>) {
      dropBody(request, limits)
      end.apply(this, given)
      slowReaders.note(this, () => address)
      return this
    } as typeof end
    const answered = () =>
      new Promise<void>((resolve) => {
        response.once('close', resolve)
        handle(request, response)
      })
    void inNameOf(ownerAt(address), answered)
  }
}
