/** Finds the container that an action addresses. */

import { refuse } from '#kernel/error.ts'
import { nameOf, parentOf } from '#kernel/resource-id.ts'
import type { ActionContext } from '#plane/declare/action.ts'
import { groupToken } from '../../../domain/groups/group-index.ts'
import { refuseContainer } from '../../../errors.ts'
import { allContainers, type ContainerGroup } from '../../container-groups/model.ts'

/** The engine's names of its group and container. Throws when there is none. */
export async function addressedContainer({
  id,
  reader,
}: Pick<ActionContext<unknown>, 'id' | 'reader'>): Promise<{
  readonly token: string
  readonly name: string
}> {
  const groupId = parentOf(id)
  const group = await reader.get(groupId)
  if (group === undefined) throw refuse.ResourceNotFound({ id: groupId.text })
  const name = nameOf(id).toLowerCase()
  // Rows of groups hold their model.
  if (!allContainers(group.model as ContainerGroup).some((one) => one.name === name)) {
    throw refuseContainer.ContainerNotFound({ group: nameOf(groupId), name })
  }
  return { token: groupToken(group), name }
}
