/** Ours: the authorizer of the server, over rows in memory. Every question is new to it. */

import { parseResourceId, type ResourceId } from '../../src/kernel/resource-id.ts'
import { contractWords } from '../../src/kernel/vendor.ts'
import type { Resource } from '../../src/plane/declare/resource.ts'
import { createAuthorizer } from '../../src/providers/authorization/domain/authorizer.ts'
import { type Assignment, type Decider, type DecisionFixture, things } from './fixture.ts'

type AuthorizerDependencies = Parameters<typeof createAuthorizer>[0]

export const ours: Decider = {
  name: 'Armature',
  note: 'the authorizer of the server, asked only what it has not been asked before; its look at the store is not in it',
  asks: () => 20_000,
  async open(fixture) {
    const authorizer = createAuthorizer({
      words: contractWords,
      feed: { position: () => 0, since: async () => ({ position: 0, keys: [] }) },
      directoryFeed: { position: () => 0 },
      directory: { groupsOf: async (id) => fixture.groupsOf(id) },
      reader: readerOf(fixture),
      rememberedMax: Math.max(20_000, fixture.users.length),
    })
    // A server that has been running for a while knows memberships, but not decisions.
    for (const id of fixture.users) {
      await authorizer.allows({ principal: principalOf(id), action: 'a/b/read', scope: idOf('/') })
    }
    // The plane has parsed the path before it authorizes.
    const ids = new Map(fixture.questions.map(({ scope }) => [scope, idOf(scope)]))
    return ({ userId, action, scope, env }) => {
      const verdict = authorizer.allows({
        principal: principalOf(userId),
        action,
        scope: ids.get(scope) ?? idOf(scope),
      })
      if (verdict instanceof Promise) throw new Error('a membership was not known')
      if (typeof verdict === 'boolean') return verdict
      const resource = new Map([[`${things.toLowerCase()}/tags:env`, env]])
      return verdict.holds({ now: 0, request: resource, resource })
    }
  },
}

function idOf(path: string): ResourceId {
  const id = parseResourceId(path)
  if (id === undefined) throw new Error(path)
  return id
}

function principalOf(id: string) {
  return { id, type: 'User', tenantId: '', displayName: '', clientId: '', groups: [] } as const
}

function rowOf({ id, scope, principalId, role, env }: Assignment): Resource {
  const condition = `@Resource[${things}/tags:env] StringEquals '${env}'`
  return {
    id: idOf(`${scope}/providers/Vendor.Authorization/roleAssignments/${id}`),
    model: {
      principalId,
      roleId: role,
      principalType: 'User',
      ...(env === undefined ? {} : { condition, conditionVersion: '2.0' }),
    },
    systemData: {},
    state: 'Succeeded',
    etag: '',
    generation: 1,
  } as unknown as Resource
}

/** Rows made on demand, so that memory holds only what the authorizer keeps. */
function readerOf(fixture: DecisionFixture): AuthorizerDependencies['reader'] {
  return {
    get: async () => undefined,
    async *each({ type }) {
      if (!type.endsWith('roleDefinitions')) {
        for (const one of fixture.assignments) yield rowOf(one)
        return
      }
      for (const [id, role] of Object.entries(fixture.roles)) {
        const permissions = [{ ...role, dataActions: [], notDataActions: [] }]
        yield {
          id: idOf(`/providers/Vendor.Authorization/roleDefinitions/${id}`),
          model: { permissions },
        } as unknown as Resource
      }
    },
  }
}
