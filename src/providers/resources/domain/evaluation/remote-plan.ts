/**
 * A plan whose expressions are evaluated in a thread. A thread may end or forget the plan at any time; then it is made
 * there once more out of the same template, arguments and context, and is the same plan.
 */

import type { Need, NodeBody, Plan, Tainted } from '#template/plan.ts'
import type {
  ExpandQuestion,
  LateAnswer,
  LateQuestion,
  NodeAnswer,
  ShownNode,
  ShownOutput,
  ShownPlan,
} from './questions.ts'
import type { Payer, TemplateThreads, Thread } from './template-threads.ts'

/** The result of a late expression with these answers, or what it needs first. */
type LateResult<T> = { readonly needs: readonly Need[] } | { readonly value: T }

export interface Late<T> {
  /** Throws `TemplateRefusal` when an expression fails. */
  late(answers: ReadonlyMap<string, Tainted>): Promise<LateResult<T>>
}

export type PlannedNode = ShownNode &
  Late<NodeBody> & {
    /** Whether the resource is ready, as it is read now. Present with `waitSeconds`. */
    readonly readiness?: Late<Tainted | undefined>
  }
type PlannedOutput = ShownOutput & Late<Tainted | undefined>

/** Like `Plan`, with asynchronous expressions. */
export interface Planned {
  readonly nodes: readonly PlannedNode[]
  readonly outputs: readonly PlannedOutput[]
  readonly parameters: Plan['parameters']
  /** The request was accepted: from now on its expressions wait for the quota and are not refused for it. */
  accept(): void
  /** Resolves when its principal owes no evaluations: the next one does not wait for the quota. */
  paid(): Promise<void>
  /** Nothing more is asked of it, so that its thread need not keep it. */
  release(): void
}

/**
 * A plan of at most so many characters has its bodies kept after they were given once: a preview asks for all of them, and
 * whoever carries the plan out asks once more.
 */
const keptCharactersMax = 1024 * 1024

/** The size of a node besides its texts, and of what it depends on. */
const nodeCharacters = 500
const edgeCharacters = 8

/** The approximate characters that nodes take in this process as long as their plan is held. */
export function heldBy(nodes: readonly PlannedNode[]): number {
  return nodes.reduce((sum, { key, id, dependsOn }) => {
    const edges = dependsOn.length * edgeCharacters
    return sum + nodeCharacters + key.length + id.length + edges
  }, 0)
}

export function remotePlan(
  threads: TemplateThreads,
  question: ExpandQuestion,
  by: Payer,
  made: { readonly plan: ShownPlan; readonly thread: Thread },
): Planned {
  let payer = by
  let { thread } = made
  /** Answers that came in advance with the last one, and the pending question that brings more. */
  let ahead = new Map<string, NodeAnswer>()
  const given = new Map<string, NodeAnswer>()
  const keys = made.plan.nodes.map(({ key }) => key)
  const keepsGiven = made.plan.characters <= keptCharactersMax
  let fetching: Promise<LateAnswer> | undefined

  async function late(
    of: LateQuestion['of'],
    answers: ReadonlyMap<string, Tainted>,
  ): Promise<LateAnswer> {
    const request: LateQuestion = { kind: 'late', plan: question.plan, of, answers }
    let at: Thread | undefined = thread
    let answered = await threads.ask<'late'>(request, payer, at)
    while (answered.answer.kind === 'gone') {
      // Another question may have had it made elsewhere by now.
      at = at === thread ? undefined : thread
      answered = await threads.ask<'late'>({ ...request, again: question }, payer, at)
    }
    thread = answered.thread
    return answered.answer
  }

  function byKey(
    key: string,
    answers: readonly (NodeAnswer | undefined)[] = [],
  ): Map<string, NodeAnswer> {
    const first = keys.indexOf(key) + 1
    const found = new Map<string, NodeAnswer>()
    for (const [at, answer] of answers.entries()) {
      const next = keys[first + at]
      if (next !== undefined && answer !== undefined) found.set(next, answer)
    }
    return found
  }

  async function lateNode(key: string, answers: ReadonlyMap<string, Tainted>): Promise<LateAnswer> {
    if (answers.size > 0) return await late({ node: key }, answers)
    const before = given.get(key)
    if (before !== undefined) {
      given.delete(key)
      return before
    }
    const answer = await firstAnswer(key, answers)
    if (keepsGiven && answer.kind === 'body') given.set(key, { kind: 'body', body: answer.body })
    return answer
  }

  async function firstAnswer(
    key: string,
    answers: ReadonlyMap<string, Tainted>,
  ): Promise<LateAnswer> {
    // Nodes are mostly asked for in the order of the plan, several at once: one question answers them all.
    for (;;) {
      const known = ahead.get(key)
      if (known !== undefined) {
        ahead.delete(key)
        return known
      }
      if (fetching === undefined) break
      await Promise.allSettled([fetching])
    }
    fetching = late({ node: key }, answers)
    try {
      const answer = await fetching
      if ('ahead' in answer) ahead = byKey(key, answer.ahead)
      return answer
    } finally {
      fetching = undefined
    }
  }

  const lateValue = (of: LateQuestion['of']): Late<Tainted | undefined> => ({
    async late(answers) {
      const answer = await late(of, answers)
      if (answer.kind === 'needs') return { needs: answer.needs }
      if (answer.kind === 'output') return { value: answer.value }
      throw new Error(`a value was answered with ${answer.kind}`)
    },
  })

  return {
    nodes: made.plan.nodes.map(({ dependsOn, ...node }) => ({
      ...node,
      dependsOn: dependsOn.flatMap((at) => keys[at] ?? []),
      async late(answers) {
        const answer = await lateNode(node.key, answers)
        if (answer.kind === 'needs') return { needs: answer.needs }
        if (answer.kind === 'body') return { value: answer.body }
        throw new Error(`a node was answered with ${answer.kind}`)
      },
      ...(node.waitSeconds === undefined ? {} : { readiness: lateValue({ ready: node.key }) }),
    })),
    outputs: made.plan.outputs.map((output, at) => ({ ...output, ...lateValue({ output: at }) })),
    parameters: made.plan.parameters,
    accept() {
      payer = { ...payer, accepted: true }
    },
    paid: () => threads.paid(payer),
    release() {
      ahead.clear()
      given.clear()
      threads.release(question.plan, thread)
    },
  }
}
