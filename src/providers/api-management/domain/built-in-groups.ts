/**
 * The groups that every service has by itself. Nothing is stored of them, and nobody changes them: they are there as
 * long as their service.
 */

import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import type { Definition } from '../resources/definitions/model.ts'

const builtIn: Readonly<Record<string, Definition>> = {
  administrators: {
    displayName: 'Administrators',
    description:
      'Built in: those who administer the service. Its members are managed by the system.',
  },
  developers: {
    displayName: 'Developers',
    description: 'Built in: every user of the service. Its members are managed by the system.',
  },
  guests: {
    displayName: 'Guests',
    description:
      'Built in: visitors who have not signed in. Its members are managed by the system.',
  },
}

export function isBuiltInGroup(id: ResourceId): boolean {
  return Object.hasOwn(builtIn, nameOf(id).toLowerCase())
}

/** A group of a service, stored or built in. */
export async function readGroup(reader: Reader, id: ResourceId): Promise<Resource | undefined> {
  const name = nameOf(id).toLowerCase()
  const model = Object.hasOwn(builtIn, name) ? builtIn[name] : undefined
  if (model === undefined) return reader.get(id)
  const service = await reader.get(parentOf(id))
  if (service === undefined) return undefined
  const { systemData, etag } = service
  return {
    id: childOf(service.id, 'groups', name),
    systemData,
    state: 'Succeeded',
    model: { ...model, builtIn: true, type: 'system' },
    etag,
    generation: 1,
  }
}

export async function builtInGroups(
  reader: Reader,
  service: ResourceId,
): Promise<readonly Resource<Definition>[]> {
  const found = await Promise.all(
    Object.keys(builtIn).map((name) => readGroup(reader, childOf(service, 'groups', name))),
  )
  // Their models are those above.
  return found.filter((one) => one !== undefined) as Resource<Definition>[]
}

/** A group as products and users show it. */
export function groupContract({ id, model }: Resource): object {
  const { displayName, description, externalId, type, ...rest } = model as Definition
  return {
    id: id.text,
    name: displayName,
    ...(description === undefined ? {} : { description }),
    builtIn: rest['builtIn'] === true,
    type,
    ...(externalId === undefined ? {} : { externalId }),
  }
}
