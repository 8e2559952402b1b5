/**
 * A plan whose expressions are evaluated in a thread. A thread may end or forget the plan at any time; then it is made
 * there once more out of the same template, arguments and context, and is the same plan.
 */

import {
  type Need,
  type NodeBody,
  type Plan,
  type Tainted,
  TemplateRefusal,
} from '#template/plan.ts'
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

/** What a late expression comes to with these answers, or what it asks for first. */
type LateResult<T> = { readonly needs: readonly Need[] } | { readonly value: T }

export interface Late<T> {
  /** Throws `TemplateRefusal` when an expression fails. */
  late(answers: ReadonlyMap<string, Tainted>): Promise<LateResult<T>>
}

export type PlannedNode = ShownNode & Late<NodeBody>
type PlannedOutput = ShownOutput & Late<Tainted | undefined>

/** As `Plan`, with expressions that are waited for. */
export interface Planned {
  readonly nodes: readonly PlannedNode[]
  readonly outputs: readonly PlannedOutput[]
  readonly parameters: Plan['parameters']
  /** The request was accepted: from now on its expressions wait for the allowance and are not refused for it. */
  accept(): void
}

/** Times a plan is made again for one question. */
const triesMax = 3

export function remotePlan(
  threads: TemplateThreads,
  question: ExpandQuestion,
  by: Payer,
  made: { readonly plan: ShownPlan; readonly thread: Thread },
): Planned {
  let payer = by
  let place: Promise<Thread> = Promise.resolve(made.thread)
  /** Answers that came ahead with the last one, and the question under way that brings more. */
  let ahead = new Map<string, NodeAnswer>()
  let fetching: Promise<LateAnswer> | undefined

  async function makeAgain(): Promise<Thread> {
    const { answer, thread } = await threads.ask<'expand'>(question, payer)
    if (!answer.ok) throw new TemplateRefusal(answer.problems)
    return thread
  }

  async function late(
    of: LateQuestion['of'],
    answers: ReadonlyMap<string, Tainted>,
  ): Promise<LateAnswer> {
    for (let tries = 0; tries < triesMax; tries++) {
      const known = place
      const asked: LateQuestion = { kind: 'late', plan: question.plan, of, answers }
      const { answer } = await threads.ask<'late'>(asked, payer, await known)
      if (answer.kind !== 'gone') return answer
      // Whoever notices first makes it; the others wait for the same one. Not after the last try: nobody would wait for
      // it, and a failure that reaches nobody ends the process.
      if (place === known && tries + 1 < triesMax) place = makeAgain()
    }
    throw new Error('the plan of a template is forgotten faster than it is made')
  }

  async function lateNode(key: string, answers: ReadonlyMap<string, Tainted>): Promise<LateAnswer> {
    if (answers.size > 0) return await late({ node: key }, answers)
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
      if ('ahead' in answer) ahead = new Map(answer.ahead)
      return answer
    } finally {
      fetching = undefined
    }
  }

  return {
    nodes: made.plan.nodes.map((node) => ({
      ...node,
      async late(answers) {
        const answer = await lateNode(node.key, answers)
        if (answer.kind === 'needs') return { needs: answer.needs }
        if (answer.kind === 'body') return { value: answer.body }
        throw new Error(`a node was answered with ${answer.kind}`)
      },
    })),
    outputs: made.plan.outputs.map((output, at) => ({
      ...output,
      async late(answers) {
        const answer = await late({ output: at }, answers)
        if (answer.kind === 'needs') return { needs: answer.needs }
        if (answer.kind === 'output') return { value: answer.value }
        throw new Error(`an output was answered with ${answer.kind}`)
      },
    })),
    parameters: made.plan.parameters,
    accept() {
      payer = { ...payer, accepted: true }
    },
  }
}
