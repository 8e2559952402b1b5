/**
 * The settings of a registered server. Each request asks the server itself. Only the server's operator changes
 * them.
 */

import Type from 'typebox'
import type { ServerSetting } from '#engines/databases/engine.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import { defineComputed } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context } from '#plane/declare/resource.ts'
import { type PostgresDependencies, types, version } from '../../dependencies.ts'
import { isPathName, look, pageOf } from '../../domain/server-call.ts'
import { accessOf, findServer } from '../flexible-servers/model.ts'

const text = Type.String()
const answer = Type.Object({
  properties: Type.Object({
    value: text,
    description: text,
    defaultValue: text,
    dataType: Type.Enum(['Boolean', 'Enumeration', 'Integer', 'Numeric', 'String']),
    allowedValues: text,
    source: text,
    isDynamicConfig: Type.Boolean(),
    isReadOnly: Type.Boolean(),
    isConfigPendingRestart: Type.Boolean(),
    unit: Type.Optional(text),
  }),
})

const dataTypes = {
  bool: 'Boolean',
  enum: 'Enumeration',
  integer: 'Integer',
  real: 'Numeric',
  string: 'String',
} as const

export function serverConfigurations({ engine, seal, words }: PostgresDependencies): ResourceType {
  const all = async ({ reader }: Context, server: ResourceId) => {
    const found = await findServer(reader, server)
    if (found === undefined) return []
    const settings = await look(found, () => engine.settings(accessOf(seal, found.model)))
    const named = settings.filter(({ name }) => isPathName(name))
    return named.map((setting) => ({
      id: childOf(found.id, 'configurations', setting.name).text,
      name: setting.name,
      type: qualify(words, types.configurations),
      properties: show(setting),
    }))
  }
  return defineComputed({
    type: types.configurations,
    description: 'A setting of a registered server.',
    scope: 'resource-group',
    apiVersions: [version],
    answer,
    source: {
      async get(context) {
        const found = await all(context, parentOf(context.id))
        const wanted = nameOf(context.id).toLowerCase()
        return found.find(({ name }) => name.toLowerCase() === wanted)
      },
      list: async (context) => pageOf(context, await all(context, context.parent)),
    },
  })
}

function show(setting: ServerSetting) {
  const { value, type, builtIn, unit, description, words, least, most, source } = setting
  const range = least === null || most === null ? '.*' : `${least}-${most}`
  return {
    value,
    description,
    defaultValue: builtIn,
    dataType: dataTypes[type],
    allowedValues: type === 'bool' ? 'on,off' : type === 'enum' ? words.join(',') : range,
    source: source === 'default' ? 'system-default' : 'user-override',
    isDynamicConfig: !setting.needsRestart && !setting.isFixed,
    // The server belongs to somebody else.
    isReadOnly: true,
    isConfigPendingRestart: setting.awaitsRestart,
    ...(unit === '' ? {} : { unit }),
  }
}
