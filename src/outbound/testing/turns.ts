/** In how many turns of the loop calls get their answers that come in one moment. */

import type { ServerResponse } from 'node:http'
import { localServer } from './ways.ts'

/** `one`: a call of a server on this port; the server answers when all `calls` are there. */
export async function turnsOfAnswers(
  calls: number,
  one: (port: number) => Promise<unknown>,
): Promise<number> {
  const held: ServerResponse[] = []
  await using server = await localServer((_request, response) => {
    held.push(response)
    if (held.length === calls) for (const each of held) each.end('{}')
  })
  let turn = 0
  let next: NodeJS.Immediate | undefined
  const count = (): void => {
    turn++
    next = setImmediate(count)
  }
  count()
  const answered = async (): Promise<number> => {
    await one(server.port)
    return turn
  }
  const turns = await Promise.all(Array.from({ length: calls }, answered))
  clearImmediate(next)
  return new Set(turns).size
}
