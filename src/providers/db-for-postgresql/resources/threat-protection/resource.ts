/** Whether a server is watched for attacks: it is not, and says so. Computed. */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import { defineComputed, type GetContext } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { types, version } from '../../dependencies.ts'
import { findServer } from '../flexible-servers/model.ts'

const type = `${types.servers}/advancedThreatProtectionSettings`
const only = 'Default'
const properties = Type.Object({ state: Type.Enum(['Enabled', 'Disabled']) })
const body = Type.Object({ properties: Type.Optional(properties) })

function off(server: ResourceId, words: VendorWords): object {
  const { text } = childOf(server, 'advancedThreatProtectionSettings', only)
  return { id: text, name: only, type: qualify(words, type), properties: { state: 'Disabled' } }
}

export function threatProtection(): ResourceType {
  const get = async ({ id, reader, words }: GetContext): Promise<object | undefined> => {
    const server = await findServer(reader, parentOf(id))
    return server === undefined || nameOf(id).toLowerCase() !== only.toLowerCase()
      ? undefined
      : off(server.id, words)
  }
  const write = {
    body,
    async apply(context: GetContext, { properties: given }: { properties?: { state: string } }) {
      if (given?.state !== 'Enabled') return get(context)
      const reason = 'Nothing here watches a server: its operator may.'
      throw refuse.NotImplemented({ type: qualify(context.words, type), reason })
    },
  }
  return defineComputed({
    type,
    description: 'Whether a server is watched for attacks. It is not.',
    scope: 'resource-group',
    apiVersions: [version],
    answer: Type.Object({ properties }),
    source: {
      get,
      list: async ({ parent, words }) => ({ items: [off(parent, words)] }),
      put: write,
      patch: write,
    },
  })
}
