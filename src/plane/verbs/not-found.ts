/** The refusal for a resource that is not there. */

import { refuse } from '#kernel/error.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { CompiledType } from '../compiled-type.ts'
import { missingScope } from '../scopes.ts'

export function notFound(compiled: CompiledType, id: ResourceId): Error {
  if (compiled.declaration.scope === 'implied') return missingScope(id)
  return compiled.stored?.notFound?.(id) ?? refuse.ResourceNotFound({ id: id.text })
}
