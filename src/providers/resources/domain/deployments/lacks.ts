/**
 * What a resource was refused for want of. Whether somebody makes it is known only when a deployment was looked at with
 * all that is nested in it: until then it is no refusal, and where something could not be looked at it stays none.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { isWithin, parseResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
import type { PlannedNode } from '../evaluation/remote-plan.ts'

/** It makes what its own template says. */
const stackType = /\.resources\/deploymentStacks$/i

export interface Lack {
  readonly error: ErrorDetail
  /** The id, in lower case. */
  readonly missing:
    | { readonly kind: 'resource'; readonly key: string }
    | { readonly kind: 'group'; readonly name: string }
    | { readonly kind: 'subscription'; readonly key: string }
}

/** A quoted id, or a quoted name where the refusal gives no id. */
const quotedId = /'(\/[^']+)'/
const quotedName = /'([^']+)'/

/** `raw` is the refusal before anything in it was masked. Undefined: it was refused for something else. */
export function lackOf(raw: ErrorDetail, shown: ErrorDetail): Lack | undefined {
  const error = shown
  const [, name = ''] = quotedName.exec(raw.message) ?? []
  const key = quotedId.exec(raw.message)?.[1]?.toLowerCase()
  switch (raw.code) {
    case 'ResourceNotFound':
    case 'ParentResourceNotFound':
    case 'NotFound':
      return key === undefined ? undefined : { error, missing: { kind: 'resource', key } }
    case 'ResourceGroupNotFound':
      return { error, missing: { kind: 'group', name: name.toLowerCase() } }
    case 'SubscriptionNotFound':
      return {
        error,
        missing: { kind: 'subscription', key: `/subscriptions/${name.toLowerCase()}` },
      }
    default:
      return undefined
  }
}

/** Gathers what a deployment lacks and what it makes, at every depth. */
export class Lacks {
  readonly #lacks: Lack[] = []
  /** Ids in lower case. */
  readonly #made = new Set<string>()
  #isWhole = true

  make({ id, type, existing, nested }: PlannedNode): void {
    if (stackType.test(type)) this.#isWhole = false
    if (!existing && !nested) this.#made.add(id.toLowerCase())
  }

  lack(one: Lack): void {
    this.#lacks.push(one)
  }

  /** Something nested is not known: it may make anything. */
  missLevel(): void {
    this.#isWhole = false
  }

  /** Of those that nothing makes, each of a resource once. */
  forGood(): readonly ErrorDetail[] {
    if (!this.#isWhole) return []
    return this.#lacks.flatMap((one) => (this.#isMade(one) ? [] : [one.error]))
  }

  #isMade({ missing }: Lack): boolean {
    const made = [...this.#made]
    switch (missing.kind) {
      // What hangs below something that is made may come with it.
      case 'resource':
        return made.some((id) => isWithin(missing.key, id))
      case 'group':
        return made.some((id) => groupMadeAt(id) === missing.name)
      case 'subscription':
        return made.some((id) => isWithin(id, missing.key))
      default:
        return missing satisfies never
    }
  }
}

function groupMadeAt(text: string): string | undefined {
  const id = parseResourceId(text)
  return id?.segments.length === 1 ? resourceGroupOf(id)?.toLowerCase() : undefined
}
