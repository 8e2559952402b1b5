/**
 * What a resource was refused for want of. Whether somebody makes it is known only when a deployment was looked at with
 * all that is nested in it: until then it is no refusal, and where something could not be looked at it stays none.
 */

import type { ErrorDetail } from '#kernel/error.ts'
import { parseResourceId, resourceGroupOf } from '#kernel/resource-id.ts'
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
  /** In lower case: the names of groups that are made, and the ids of subscriptions in which anything is. */
  readonly #groups = new Set<string>()
  readonly #subscriptions = new Set<string>()
  #isWhole = true

  make({ id, type, existing, nested }: PlannedNode): void {
    if (stackType.test(type)) this.#isWhole = false
    if (existing || nested) return
    const key = id.toLowerCase()
    this.#made.add(key)
    const group = groupMadeAt(key)
    if (group !== undefined) this.#groups.add(group)
    const subscription = subscriptionStart.exec(key)?.[0]
    if (subscription !== undefined) this.#subscriptions.add(subscription)
  }

  lack(one: Lack): void {
    this.#lacks.push(one)
  }

  /** Something nested is not known: it may make anything. */
  missLevel(): void {
    this.#isWhole = false
  }

  /** Of those that nothing makes, each of a resource once. There may be thousands of both. */
  forGood(): readonly ErrorDetail[] {
    if (!this.#isWhole) return []
    return this.#lacks.flatMap((one) => (this.#isMade(one) ? [] : [one.error]))
  }

  #isMade({ missing }: Lack): boolean {
    switch (missing.kind) {
      case 'resource':
        return this.#isMadeAround(missing.key)
      case 'group':
        return this.#groups.has(missing.name)
      case 'subscription':
        return this.#subscriptions.has(missing.key)
      default:
        return missing satisfies never
    }
  }

  /** What hangs below something that is made may come with it. */
  #isMadeAround(key: string): boolean {
    for (let end = key.length; end > 0; end = key.lastIndexOf('/', end - 1)) {
      if (this.#made.has(key.slice(0, end))) return true
    }
    return false
  }
}

const subscriptionStart = /^\/subscriptions\/[^/]+/

function groupMadeAt(text: string): string | undefined {
  const id = parseResourceId(text)
  return id?.segments.length === 1 ? resourceGroupOf(id)?.toLowerCase() : undefined
}
