/** The stored form of a link: its target when the link was made. Lists read the target again. */

import type { Resource } from '#plane/declare/resource.ts'

export type LinkTarget = Readonly<Record<string, unknown>>

/** Besides the members of the target. Links of earlier versions have none. */
interface StoredLink {
  /** When the target was created. */
  readonly targetCreatedAt?: string
}

export function linkTo({ model, systemData }: Resource): LinkTarget {
  // Models of targets are objects.
  return { ...(model as LinkTarget), targetCreatedAt: systemData.createdAt }
}

export function targetIn(model: LinkTarget): LinkTarget {
  const { targetCreatedAt: _, ...target } = model
  return target
}

/** False for a link to another target of the same name, which is gone: nobody linked what has its name now. */
export function isLinkTo(link: Resource, target: Resource): boolean {
  const { targetCreatedAt } = link.model as StoredLink
  const { createdAt } = target.systemData
  return targetCreatedAt === undefined
    ? link.systemData.lastModifiedAt >= createdAt
    : targetCreatedAt === createdAt
}
