/**
 * The settings of a registered server. Each request asks the server itself, and changes them there (decision 0169). Those
 * that could reach beyond the server's data are read only.
 */

import Type, { type Static } from 'typebox'
import type { ServerSetting } from '#engines/databases/engine.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { serverTextProblem } from '#kernel/server-text.ts'
import { qualify } from '#kernel/vendor.ts'
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

const valueMax = 1000
const body = Type.Object({
  properties: Type.Optional(
    Type.Object({
      value: Type.Optional(Type.String({ maxLength: valueMax })),
      source: Type.Optional(
        Type.String({
          maxLength: 100,
          description: '`system-default` goes back to what the server has without this.',
        }),
      ),
    }),
  ),
})
type Body = Static<typeof body>

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
    const settings = await requireAnswer(found, () => engine.settings(accessOf(seal, found.model)))
    const named = settings.filter(({ name }) => isPathName(name))
    return named.map((setting) => ({
      id: childOf(found.id, 'configurations', setting.name).text,
      name: setting.name,
      type: qualify(words, types.configurations),
      properties: show(setting),
    }))
  }
  const get = async (context: GetContext) => {
    const found = await all(context, parentOf(context.id))
    const name = nameOf(context.id).toLowerCase()
    return found.find((one) => one.name.toLowerCase() === name)
  }
  const change = async (context: ComputedWriteContext, { properties: given = {} }: Body) => {
    const server = await openServer(context)
    const found = await get(context)
    if (found === undefined) return undefined
    const { value, source } = given
    const isDefault = source?.toLowerCase() === 'system-default'
    if (!isDefault && value === undefined) return found
    await context.authorizeAgain()
    const write = async (to: string | undefined) => {
      const problem = to === undefined ? undefined : serverTextProblem(to)
      const outcome =
        problem ??
        (await callServer(server, () =>
          engine.changeSetting(accessOf(seal, server.model), found.name, to),
        ))
      const message =
        typeof outcome === 'string' ? outcome : failed(outcome) && failureText(outcome)
      if (message) throw refuseParameters([{ path: 'properties.value', message }])
      return get(context)
    }
    // Older clients go back to the default by its value, and expect no value of their own there then.
    if (isDefault || value === found.properties.defaultValue) {
      const there = await write(undefined)
      if (isDefault || there?.properties.value === value) return there
    }
    return write(value)
  }
  const writes = {
    body,
    apply: change,
    async preview(context: GetContext, { properties: given = {} }: Body) {
      const found = await get(context)
      return found && { ...found, properties: { ...found.properties, ...given } }
    },
  }
  return defineComputed({
    type: types.configurations,
    description: 'A setting of a registered server.',
    scope: 'resource-group',
    apiVersions: [version],
    answer,
    source: {
      get,
      list: async (context) => pageOf(context, await all(context, context.parent)),
      put: writes,
      patch: writes,
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
    isReadOnly: !setting.mayChange,
    isConfigPendingRestart: setting.awaitsRestart,
    ...(unit === '' ? {} : { unit }),
  }
}
