/** The databases of a registered server, asked of the server itself at each request. */

import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context } from '#plane/declare/resource.ts'
import { type PostgresDependencies, types, version } from '../../dependencies.ts'
import { attempt, failed, failureText } from '../../domain/engine-failure.ts'
import { refusePostgres } from '../../errors.ts'
import { accessOf, findServer } from '../flexible-servers/model.ts'

export function serverDatabases({ engine, seal, words }: PostgresDependencies): ResourceType {
  const all = async ({ reader }: Context, server: ResourceId): Promise<readonly object[]> => {
    const found = await findServer(reader, server)
    if (found === undefined) return []
    const facts = await attempt(() => engine.inspect(accessOf(seal, found.model)))
    if (failed(facts)) {
      throw refusePostgres.ServerNotReachable({ name: nameOf(server), reason: failureText(facts) })
    }
    return facts.databases.map(({ name, encoding, collation }) => ({
      id: childOf(found.id, 'databases', name).text,
      name,
      type: qualify(words, types.databases),
      properties: { charset: encoding, collation },
    }))
  }
  return defineComputed({
    type: types.databases,
    description: 'A database of a registered server.',
    scope: 'resource-group',
    apiVersions: [version],
    source: {
      async get(context) {
        const found = await all(context, parentOf(context.id))
        return found.find((one) => 'name' in one && one.name === nameOf(context.id))
      },
      async list(context) {
        const found = await all(context, context.parent)
        const from = context.cursor === undefined ? 0 : Number(context.cursor)
        const items = found.slice(from, from + context.limit)
        const next = from + items.length
        return { items, ...(next < found.length ? { next: String(next) } : {}) }
      },
    },
  })
}
