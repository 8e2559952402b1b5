/** Answers questions about templates with the language, and keeps the plans it made. Runs inside the thread. */

import { parseExactJson } from '#kernel/exact-json.ts'
import { weightOf } from '#kernel/json-weight.ts'
import { inventedValue } from '#plane/invented.ts'
import { sizeOf } from '#template/expansion.ts'
import { templateLanguage } from '#template/language.ts'
import {
  type ExpansionContext,
  type JsonObject,
  type Plan,
  type PlanNode,
  type Runtime,
  type TemplateProblem,
  TemplateRefusal,
} from '#template/plan.ts'
import type { ParameterArgument, Read } from '#template/template.ts'
import { offerWith } from '#template/unserved-offer.ts'
import { zonesOf } from '#template/zones.ts'
import { secretsIn, secretsMax } from '../deployments/redact.ts'
import {
  type Answers,
  contextIn,
  type ExpandQuestion,
  type LateAnswer,
  type LateQuestion,
  type NodeAnswer,
  type PlainContext,
  type Question,
  type SentNode,
  type ShownPlan,
} from './questions.ts'
import { uuidOf } from './uuid-of.ts'

/** The number of kept plans, and their approximate size in characters: a forgotten plan is made again on demand. */
const plansMax = 64
const keptCharactersMax = 16 * 1024 * 1024
/** The size of a node besides its body. */
const nodeCharacters = 700
/** In its set, and in the list of the node. */
const edgeCharacters = 40
/** Nodes that are answered ahead of their question at most, in this time and this many characters. */
const aheadMax = 400
const aheadMilliseconds = 10
const aheadCharactersMax = 256 * 1024
/** The number of problems of one template that are reported. */
const problemsMax = 500

export class Evaluations {
  readonly #plans = new Map<number, { readonly plan: Plan; readonly size: number }>()
  readonly #ticks: () => number
  /** As they came last. They are large, and the same for all questions of an installation. */
  #offers: NonNullable<PlainContext['offers']> = {}

  /** `ticks` are milliseconds that never go back. */
  constructor(ticks: () => number) {
    this.#ticks = ticks
  }

  /** Throws `TemplateRefusal` for late expressions that fail. */
  answer(question: Question): Answers[keyof Answers] {
    this.#offers = contextIn(question)?.offers ?? this.#offers
    switch (question.kind) {
      case 'template': {
        const read = templateLanguage.parseTemplate(question.text)
        if (!read.ok) return { ok: false, problems: read.problems.slice(0, problemsMax) }
        const { source, contentVersion } = read.value
        return { ok: true, value: { source, contentVersion } }
      }
      case 'parameters':
        return templateLanguage.parseParameters(
          question.isText ? question.text : objectIn(question.text),
        )
      case 'secure':
        return secureNames(objectIn(question.template))
      case 'expand':
        return this.#expand(question)
      case 'late':
        return this.#late(question)
      default:
        return question satisfies never
    }
  }

  #expand(question: ExpandQuestion): Read<ShownPlan> {
    const template = objectIn(question.template)
    const context = contextOf(question.context, this.#offers)
    const { read, given, expanded } = attempted(template, question, context)
    if (!read.ok || !given.ok || expanded?.ok !== true) {
      // A body contains a template as an object: its problems get positions in its usual printed form.
      const text = JSON.stringify(template, undefined, 2)
      const placed = attempted(text, question, contextOf(question.context, this.#offers))
      const problems = [placed.read, placed.given, placed.expanded, read, given, expanded]
      return { ok: false, problems: problemsOf(problems) }
    }
    const plan = expanded.value
    this.#keep(question.plan, plan, weightOf(question.template))
    const declared = read.value.parameters
    const secure = new Set(
      Object.entries(declared).flatMap(([name, one]) => (one.secure ? [name.toLowerCase()] : [])),
    )
    const secrets = Object.entries(given.value).flatMap(([name, argument]) =>
      secure.has(name.toLowerCase()) && 'value' in argument ? secretsIn(argument.value) : [],
    )
    // One more than are searched for: then everything is masked, and the others need not be known.
    const told = secrets.slice(0, secretsMax + 1)
    const outputs = plan.outputs.map(({ name, type, secure }) => ({ name, type, secure }))
    const { parameters, characters } = plan
    return {
      ok: true,
      value: { nodes: sentNodes(plan.nodes), outputs, parameters, characters, secrets: told },
    }
  }

  release(number: number): void {
    this.#plans.delete(number)
  }

  /** A short template can make many and large resources. */
  #keep(number: number, plan: Plan, templateWeight: number): void {
    const edges = plan.nodes.reduce((sum, { dependsOn }) => sum + dependsOn.length, 0)
    const nodes = plan.nodes.length * nodeCharacters + edges * edgeCharacters
    const size = templateWeight + plan.characters + nodes
    this.#plans.set(number, { plan, size })
    let sum = 0
    for (const one of this.#plans.values()) sum += one.size
    for (const [oldest, one] of this.#plans) {
      if (oldest === number || (this.#plans.size <= plansMax && sum <= keptCharactersMax)) return
      this.#plans.delete(oldest)
      sum -= one.size
    }
  }

  #late({ plan: number, of, answers, again }: LateQuestion): LateAnswer {
    if (again !== undefined && !this.#plans.has(number)) {
      const made = this.#expand(again)
      if (!made.ok) throw new TemplateRefusal(made.problems)
    }
    const known = this.#plans.get(number)
    if (known === undefined) return { kind: 'gone' }
    // The last used plan is forgotten last.
    this.#plans.delete(number)
    this.#plans.set(number, known)
    const runtime: Runtime = { answer: (key) => answers.get(key) }
    const needed = (late: Pick<PlanNode, 'needs'>): NodeAnswer | undefined => {
      const needs = late.needs(runtime).filter((need) => !answers.has(need.key))
      return needs.length === 0 ? undefined : { kind: 'needs', needs }
    }
    if ('output' in of) {
      const output = known.plan.outputs[of.output]
      if (output === undefined) throw new Error(`the plan has no output ${of.output}`)
      return needed(output) ?? { kind: 'output', value: output.evaluate(runtime) }
    }
    const { nodes } = known.plan
    if ('ready' in of) {
      const readiness = nodes.find(({ key }) => key === of.ready)?.readiness
      if (readiness === undefined) throw new Error(`the plan does not wait for '${of.ready}'`)
      return needed(readiness) ?? { kind: 'output', value: readiness.evaluate(runtime) }
    }
    const at = nodes.findIndex(({ key }) => key === of.node)
    const node = nodes[at]
    if (node === undefined) throw new Error(`the plan has no node '${of.node}'`)
    const answerOf = (one: PlanNode): NodeAnswer =>
      needed(one) ?? { kind: 'body', body: one.evaluate(runtime) }
    const answer = answerOf(node)
    if (answers.size > 0) return answer
    return { ...answer, ahead: this.#lookAhead(nodes.slice(at + 1, at + 1 + aheadMax), answerOf) }
  }

  /** Sending a question for each of a thousand nodes would take longer than answering it. */
  #lookAhead(
    nodes: readonly PlanNode[],
    answerOf: (node: PlanNode) => NodeAnswer,
  ): readonly (NodeAnswer | undefined)[] {
    const ahead: (NodeAnswer | undefined)[] = []
    const latest = this.#ticks() + aheadMilliseconds
    let room = aheadCharactersMax
    for (const node of nodes) {
      if (node.existing) {
        ahead.push(undefined)
        continue
      }
      if (this.#ticks() > latest) break
      try {
        const answer = answerOf(node)
        // Bodies are JSON.
        room -= answer.kind === 'body' ? sizeOf(answer.body.body, room) : 0
        if (room < 0) break
        ahead.push(answer)
      } catch (error) {
        // It is refused when it is asked for itself.
        if (!(error instanceof TemplateRefusal)) throw error
        break
      }
    }
    return ahead
  }
}

/** What could be parsed is expanded anyway: that may find further problems. */
function attempted(text: string | JsonObject, question: ExpandQuestion, context: ExpansionContext) {
  const read = templateLanguage.parseTemplate(text)
  const given = templateLanguage.parseParameters(objectIn(question.parameters))
  const template = read.ok ? read.value : read.partial
  const expanded =
    template !== undefined && given.ok
      ? templateLanguage.expand(template, given.value, context)
      : undefined
  return { read, given, expanded }
}

function contextOf(
  context: PlainContext,
  offers: NonNullable<PlainContext['offers']>,
): ExpansionContext {
  const { run, offers: _, takesAnyType, roles, ...plain } = context
  let drawn = 0
  return {
    ...plain,
    uuid: () => uuidOf(`${run} ${drawn++}`),
    zones: zonesOf,
    invented: inventedValue,
    provider(namespace, type) {
      const name = namespace.toLowerCase()
      const offer = Object.hasOwn(offers, name) ? offers[name] : undefined
      return takesAnyType ? offerWith(offer, namespace, type) : offer
    },
    roleDefinition(name) {
      const key = name.toLowerCase()
      const id = Object.hasOwn(roles, key) ? roles[key] : undefined
      return id === undefined
        ? undefined
        : { id, roleDefinitionId: id.slice(id.lastIndexOf('/') + 1) }
    },
  }
}

/** The text was made from an object, on the other side. */
function objectIn(text: string): JsonObject {
  return parseExactJson(text) as JsonObject
}

function secureNames(source: JsonObject): readonly string[] {
  const read = templateLanguage.parseTemplate(source)
  const declared = (read.ok ? read.value : read.partial)?.parameters ?? {}
  return Object.entries(declared).flatMap(([name, one]) => (one.secure ? [name.toLowerCase()] : []))
}

function sentNodes(nodes: readonly PlanNode[]): readonly SentNode[] {
  const places = new Map(nodes.map(({ key }, at) => [key, at]))
  return nodes.map(({ needs: _, evaluate: _evaluate, readiness: _readiness, ...shown }) => ({
    ...shown,
    dependsOn: shown.dependsOn.flatMap((key) => places.get(key) ?? []),
  }))
}

/** Each problem once, as it was found first. */
function problemsOf(
  reads: readonly (
    | Read<Plan | Readonly<Record<string, ParameterArgument>>>
    | { readonly ok: boolean; readonly problems?: readonly TemplateProblem[] }
    | undefined
  )[],
): readonly TemplateProblem[] {
  const all = reads.flatMap((read) =>
    read !== undefined && 'problems' in read ? (read.problems ?? []) : [],
  )
  const first = new Map<string, TemplateProblem>()
  for (const one of all) {
    const key = `${one.path} ${one.message}`
    if (!first.has(key)) first.set(key, one)
  }
  return [...first.values()].slice(0, problemsMax)
}
