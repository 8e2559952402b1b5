/**
 * Which deployment a nested one belongs to. One request may begin a tree of deployments: a template can hold itself, so
 * the depth of the tree and the number of deployments in it are bounded here.
 */

import { refuseDeployment } from '../../errors.ts'

export const nestingLimits = {
  /** Levels below a client's deployment. */
  depth: 8,
  /** Nested deployments that one request may start, on all levels together. Each replica counts for itself. */
  deployments: 800,
} as const

/** Trees whose deployments are counted at the same time; the oldest is forgotten. */
const treesMax = 1000

export interface Nesting {
  /** The run of the client's deployment. */
  readonly root: string
  /** 1 for a deployment directly inside it. */
  readonly depth: number
  readonly parent: { readonly id: string; readonly run: string }
  /** The resources it may have with everything nested in it; see `nested-share.ts`. */
  readonly share?: number
}

interface NestedRun {
  readonly run: string
  readonly nesting: Nesting
  /** Texts that the outer template gives and calls secure, whatever the nested one calls them. */
  readonly secrets: readonly string[]
}

const nestedRuns = new WeakMap<object, NestedRun>()

/** Records the run that the PUT of this very body starts, and the deployment that contains it. */
export function assignNestedRun(body: object, nested: NestedRun): void {
  nestedRuns.set(body, nested)
}

/** Undefined for a body from a client. */
export function nestedRunIn(body: unknown): NestedRun | undefined {
  return typeof body === 'object' && body !== null ? nestedRuns.get(body) : undefined
}

const runs = new WeakMap<object, string>()

/** Records the run that the PUT of this very body starts: that of a stack's deployment. */
export function assignRun(body: object, run: string): void {
  runs.set(body, run)
}

/** Undefined for a body from a client. */
export function runIn(body: unknown): string | undefined {
  return typeof body === 'object' && body !== null ? runs.get(body) : undefined
}

export class DeploymentTrees {
  readonly #runs = new Map<string, Set<string>>()

  /** Throws when the tree is too deep or too large. Admitting the same run again counts once. */
  admit({ run, nesting: { root, depth } }: NestedRun): void {
    if (depth > nestingLimits.depth) {
      throw refuseDeployment.NestedDeploymentDepth({ limit: nestingLimits.depth })
    }
    const runs = this.#runs.get(root) ?? new Set<string>()
    if (!runs.has(run) && runs.size >= nestingLimits.deployments) {
      throw refuseDeployment.NestedDeploymentQuota({ limit: nestingLimits.deployments })
    }
    runs.add(run)
    this.#runs.set(root, runs)
    const [oldest] = this.#runs.keys()
    if (this.#runs.size > treesMax && oldest !== undefined) this.#runs.delete(oldest)
  }
}
