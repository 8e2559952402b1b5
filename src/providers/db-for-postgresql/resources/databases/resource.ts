/** The databases of a registered server. Each request asks the server itself, and creates or drops them there. */

import Type, { type Static } from 'typebox'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { serverTextProblem } from '#kernel/server-text.ts'
import { qualify } from '#kernel/vendor.ts'
import { added } from '#plane/declare/added.ts'
import {
  type ComputedWriteContext,
  defineComputed,
  type GetContext,
} from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context } from '#plane/declare/resource.ts'
import { type PostgresDependencies, types, version } from '../../dependencies.ts'
import { failed, failureText } from '../../domain/engine-failure.ts'
import { openServer } from '../../domain/open-server.ts'
import { callServer, isPathName, pageOf, requireAnswer } from '../../domain/server-call.ts'
import { refuseParameters } from '../../errors.ts'
import { accessOf, findServer } from '../flexible-servers/model.ts'

const word = Type.String({ minLength: 1, maxLength: 100 })
const properties = Type.Object({
  charset: Type.Optional(word),
  collation: Type.Optional(word),
})
const body = Type.Object({ properties: Type.Optional(properties) })
type Wanted = Static<typeof properties>

interface Database {
  readonly id: string
  readonly name: string
  readonly type: string
  readonly properties: Required<Wanted>
}

/**
 * The collation that published clients send by default. A server whose system lacks it uses its own default (see
 * `README.md`).
 */
const usualCollation = /^en_us\.utf-?8$/i
/**
 * Clients and this process connect to these databases before they know another. New databases are made from them.
 */
const systemDatabases = ['postgres', 'template0', 'template1', 'azure_maintenance', 'azure_sys']
const nameMax = 63

export function serverDatabases({ engine, seal, words }: PostgresDependencies): ResourceType {
  const all = async ({ reader }: Context, server: ResourceId): Promise<readonly Database[]> => {
    const found = await findServer(reader, server)
    if (found === undefined) return []
    const facts = await requireAnswer(found, () => engine.inspect(accessOf(seal, found.model)))
    const named = facts.databases.filter(({ name }) => isPathName(name))
    return named.map(({ name, encoding, collation }) => ({
      id: childOf(found.id, 'databases', name).text,
      name,
      type: qualify(words, types.databases),
      properties: { charset: encoding, collation },
    }))
  }
  const get = async (context: GetContext): Promise<Database | undefined> => {
    const found = await all(context, parentOf(context.id))
    return found.find((one) => one.name === nameOf(context.id))
  }
  const make = async (
    context: ComputedWriteContext,
    wanted: Wanted,
  ): Promise<Database | undefined> => {
    const { id } = context
    const name = nameOf(id)
    const server = await openServer(context)
    const problem =
      Buffer.byteLength(name) > nameMax ? `at most ${nameMax} bytes` : serverTextProblem(name)
    if (problem !== undefined) throw refuseParameters([{ path: 'name', message: problem }])
    const known = await all(context, parentOf(id))
    const there = known.find((one) => one.name === name)
    if (there !== undefined) {
      requireSame(there, wanted)
      return there
    }
    // Rights and locks treat both names as one.
    const alike = known.find((one) => one.name.toLowerCase() === name.toLowerCase())
    if (alike !== undefined) {
      const message = `'${alike.name}' is there, and differs in case alone`
      throw refuseParameters([{ path: 'name', message }])
    }
    const { charset: encoding, collation } = wanted
    const create = (more: object): Promise<void> =>
      engine.createDatabase(accessOf(seal, server.model), {
        name,
        ...(encoding === undefined ? {} : { encoding }),
        ...more,
      })
    const given = collation === undefined ? {} : { collation }
    await context.authorizeAgain()
    await context.endEarlierRights()
    let made = await callServer(server, () => create(given))
    if (failed(made) && collation !== undefined && usualCollation.test(collation)) {
      made = await callServer(server, () => create({}))
    }
    if (failed(made)) {
      throw refuseParameters([{ path: 'properties', message: failureText(made) }])
    }
    return get(context)
  }

  return defineComputed({
    type: types.databases,
    description: 'A database of a registered server.',
    scope: 'resource-group',
    apiVersions: [version],
    answer: added(Type.Object({ properties })),
    source: {
      get,
      async list(context) {
        return pageOf(context, await all(context, context.parent))
      },
      put: {
        body,
        makes: true,
        apply: (context, given: Static<typeof body>) => make(context, given.properties ?? {}),
        async preview({ id, words: spoken }, { properties: shown = {} }: Static<typeof body>) {
          const type = qualify(spoken, types.databases)
          return { id: id.text, name: nameOf(id), type, properties: shown }
        },
      },
      delete: {
        makes: true,
        async apply(context) {
          const { id } = context
          const name = nameOf(id)
          const server = await openServer(context)
          if (systemDatabases.includes(name)) {
            throw refuseParameters([{ path: 'name', message: `'${name}' belongs to the server` }])
          }
          await context.authorizeAgain()
          const gone = await callServer(server, () =>
            engine.dropDatabase(accessOf(seal, server.model), name),
          )
          if (failed(gone)) {
            throw refuseParameters([{ path: 'name', message: failureText(gone) }])
          }
          return undefined
        },
      },
    },
  })
}

/** The encoding and the collation of a database cannot change. */
function requireSame({ properties: there }: Database, wanted: Wanted): void {
  const problems = (['charset', 'collation'] as const).flatMap((name) => {
    const given = wanted[name]
    const isSame =
      given === undefined ||
      plain(given) === plain(there[name]) ||
      (name === 'collation' && usualCollation.test(given))
    return isSame ? [] : [{ path: `properties.${name}`, message: `stays '${there[name]}'` }]
  })
  if (problems.length > 0) throw refuseParameters(problems)
}

/** `utf8` and `UTF-8` are the same encoding. */
function plain(text: string): string {
  return text.toLowerCase().replaceAll('-', '')
}
