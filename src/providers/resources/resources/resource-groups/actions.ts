/** What is done to a group by POST: a template of what it holds. It changes nothing. */

import Type, { type Static } from 'typebox'
import { refuse } from '#kernel/error.ts'
import { parseResourceId, type ResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { Action } from '#plane/declare/action.ts'
import { type ExportOptions, exportGroup } from '../../domain/export-template.ts'
import { refuseResources } from '../../errors.ts'
import type { ResourceGroup } from './model.ts'

const exportBody = Type.Object({
  resources: Type.Optional(Type.Array(Type.String({ maxLength: 2000 }), { maxItems: 1000 })),
  options: Type.Optional(Type.String({ maxLength: 500 })),
  outputFormat: Type.Optional(Type.String({ maxLength: 50 })),
})

const known = [
  'IncludeParameterDefaultValue',
  'IncludeComments',
  'SkipResourceNameParameterization',
  'SkipAllParameterization',
  'None',
]

export function groupActions(
  services: Pick<PlaneServices, 'caller' | 'reader' | 'describe' | 'moveResources'>,
): Readonly<Record<string, Action<ResourceGroup>>> {
  return {
    moveResources: move(services, false),
    validateMoveResources: move(services, true),
    exportTemplate: {
      method: 'POST',
      description: 'A template of what the group holds, as far as the caller may read it.',
      body: exportBody,
      answer: Type.Object({
        template: Type.Object({}, { additionalProperties: true }),
        error: Type.Optional(Type.Object({}, { additionalProperties: true })),
      }),
      countsAsRead: true,
      async run(context, given: Static<typeof exportBody>) {
        const { template, missing } = await exportGroup(services, context, optionsOf(given))
        const error = {
          code: 'ExportTemplateCompletedWithErrors',
          message: 'Some resources were not exported; see `details`.',
          details: missing,
        }
        return { status: 200, body: { template, ...(missing.length === 0 ? {} : { error }) } }
      },
    },
  }
}

const moveBody = Type.Object({
  resources: Type.Array(Type.String({ maxLength: 2000 }), { minItems: 1, maxItems: 800 }),
  targetResourceGroup: Type.String({ maxLength: 2000 }),
})

/** One transaction, done when it is answered: clients that know 202 know 204 as well. */
function move(
  { moveResources }: Pick<PlaneServices, 'moveResources'>,
  onlyValidate: boolean,
): Action<ResourceGroup> {
  return {
    method: 'POST',
    description: onlyValidate
      ? 'Whether resources can be moved to another group. Nothing is moved.'
      : 'Move resources, with all that is below them, to another group. Their ids change.',
    permission: onlyValidate ? 'validateMoveResources/action' : 'moveResources/action',
    body: moveBody,
    async run(context, { resources, targetResourceGroup }: Static<typeof moveBody>) {
      const to = parseResourceId(targetResourceGroup)
      if (to === undefined || !isResourceGroup(to)) {
        throw refuse.InvalidRequestContent({
          reason: 'targetResourceGroup: expected the id of a resource group',
        })
      }
      await moveResources({ from: context.id, to, resources, onlyValidate }, context)
      return { status: 204 }
    },
  }
}

/** The group itself, and nothing below it. */
function isResourceGroup(id: ResourceId): boolean {
  const [first, ...below] = id.segments
  return below.length === 0 && first?.types.length === 2 && resourceGroupOf(id) !== undefined
}

function optionsOf(given: Static<typeof exportBody>): ExportOptions {
  const format = given.outputFormat ?? 'Json'
  if (format.toLowerCase() !== 'json') throw refuseResources.ExportFormatUnknown({ format })
  const words = (given.options ?? '').split(',').map((word) => word.trim())
  const named = words.filter((word) => word !== '')
  for (const word of named) {
    if (!known.some((one) => sameWord(one, word))) {
      throw refuseResources.ExportOptionUnknown({ option: word, known: known.join(', ') })
    }
  }
  const has = (word: string): boolean => named.some((one) => sameWord(one, word))
  const only = given.resources ?? ['*']
  return {
    only: only.includes('*') ? undefined : new Set(only.map((id) => id.toLowerCase())),
    defaultValues: has('IncludeParameterDefaultValue'),
    comments: has('IncludeComments'),
    namesAsParameters: !has('SkipResourceNameParameterization') && !has('SkipAllParameterization'),
  }
}

function sameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
