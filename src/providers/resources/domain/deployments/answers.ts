/** Fetches what late expressions ask of the world, as the one who deploys; remembers it for one evaluation. */

import { ApiError } from '#kernel/error.ts'
import { parseExactJson } from '#kernel/exact-json.ts'
import type { Principal } from '#kernel/principal.ts'
import { createRoom, type Leave } from '#kernel/room.ts'
import { isForRequest, roomForLarge } from '#plane/behalf-of.ts'
import type { Caller } from '#plane/caller.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { sizeOf } from '#template/expansion.ts'
import { type Json, type Need, type Tainted, TemplateRefusal } from '#template/plan.ts'
import type { Late, Planned, PlannedNode } from '../evaluation/remote-plan.ts'

/** Answers may raise new needs; a template that keeps asking is stopped here. */
const roundsMax = 20

/** Characters of the answers that one evaluation holds: as many as two of the largest bodies. */
const charactersMax = 8 * 1024 * 1024

/** Of types that nobody serves no action is declared: answers of these are secrets by their very name. */
const secretAction =
  /^list(.*keys?|.*secrets?|.*credentials?|.*tokens?|.*sas|.*connectionstrings?|.*securevalues)$/i

export interface Asking {
  readonly caller: Caller
  readonly principal: Principal
  readonly correlationId: string
  readonly plan: Planned
  /** What several evaluations may hold together; else each has a room of its own. */
  readonly room?: AnswerRoom
}

/** Characters that answers may still have. */
interface AnswerRoom {
  left: number
}

export function newAnswerRoom(): AnswerRoom {
  return { left: charactersMax }
}

/** Answers that are read without room: in sum less than one large resource. */
const smallMax = 256 * 1024

/** Evaluations of background work with more answers, at once. Each holds them until its thread has answered. */
const large = createRoom({ perOwnerMax: 1, sumMax: 8 })

type Known = (need: Need) => Tainted | undefined | Promise<Tainted | undefined>

/**
 * Throws what the requests and the expressions throw. `known` answers ahead of any request. What waits for room to hold
 * large answers holds none meanwhile: they are fetched again.
 */
export async function evaluateLate<T>(
  asking: Asking,
  late: Late<T>,
  known: Known = () => undefined,
): Promise<T> {
  // Most expressions ask for nothing.
  const first = await late.late(noAnswers)
  if ('value' in first) return first.value
  const found = await withAnswers({ asking, late, known, needs: first.needs }, smallMax)
  if (found !== undefined) return found.value
  const leave = await roomFor(asking)
  try {
    const again = await withAnswers({ asking, late, known, needs: first.needs }, charactersMax)
    if (again === undefined) throw tooLarge()
    return again.value
  } finally {
    leave?.()
  }
}

/**
 * A request has room of its own kind, and keeps it until its answer is made. Work in the background may wait for minutes until its
 * principal owes no evaluations: it holds no room meanwhile.
 */
async function roomFor({ plan, principal }: Asking): Promise<Leave | undefined> {
  if (isForRequest()) {
    await roomForLarge()
    return undefined
  }
  await plan.paid()
  return await large.enter(principal.id, 1)
}

interface Fetching<T> {
  readonly asking: Asking
  readonly late: Late<T>
  readonly known: Known
  /** Without any answer. */
  readonly needs: readonly Need[]
}

/** Undefined where the answers are more characters than that. */
async function withAnswers<T>(
  { asking, late, known, needs }: Fetching<T>,
  most: number,
): Promise<{ readonly value: T } | undefined> {
  const answers = new Map<string, Tainted>()
  const room = asking.room ?? newAnswerRoom()
  let held = 0
  let missing = needs
  for (let round = 0; round < roundsMax; round++) {
    // One after the other, each in a turn of its own: answers come without one, and together they would hold the server.
    for (const need of missing) {
      await nextTurn()
      const answer = (await known(need)) ?? (await fetchNeed(asking, need))
      held += sizeOf(answer.value, charactersMax)
      if (held > room.left) {
        room.left = -1
        throw tooLarge()
      }
      if (held > most) return undefined
      answers.set(need.key, answer)
    }
    const result = await late.late(answers)
    if ('value' in result) {
      room.left -= held
      return result
    }
    missing = result.needs
  }
  throw new Error('an expression asks for ever more')
}

const noAnswers: ReadonlyMap<string, Tainted> = new Map()

function tooLarge(): TemplateRefusal {
  const message = `its expressions ask for resources of more than ${charactersMax} characters`
  return new TemplateRefusal([{ line: 0, column: 0, path: '', message }])
}

export async function fetchNeed(asking: Asking, need: Need): Promise<Tainted> {
  const { caller, principal, correlationId } = asking
  const isReference = need.kind === 'reference'
  const request = {
    method: isReference ? 'GET' : 'POST',
    path: isReference ? need.id : `${need.id}/${need.action}`,
    version: need.apiVersion ?? nodeOf(asking.plan, need)?.apiVersion ?? '',
    body: isReference ? undefined : need.body,
    principal,
    correlationId,
  } as const
  const outcome = await caller.call(request).then(
    (found) => found,
    (error: unknown) => {
      if (isReference && need.orNull === true && isMissing(error)) return undefined
      throw error
    },
  )
  if (outcome === undefined) return { value: null, secure: false }
  const value = jsonOf(outcome.body)
  const isNamedSecret = !isReference && secretAction.test(need.action)
  const secure = outcome.isOpen ? isNamedSecret : outcome.revealsSecret === true
  return { value, secure, ...(outcome.isOpen ? { open: need.id } : {}) }
}

/**
 * Is it a resource that the deployment leaves alone? Asked for as any client would. Only a 404 says that it is not there:
 * what may not be read just now would be written over.
 */
export async function isLeftAlone(
  { caller, principal, correlationId }: Pick<Asking, 'caller' | 'principal' | 'correlationId'>,
  { id, apiVersion, existing, onlyNew }: PlannedNode,
): Promise<boolean> {
  if (existing || !onlyNew) return existing
  const request = {
    method: 'GET',
    path: id,
    version: apiVersion,
    principal,
    correlationId,
  } as const
  return await caller.call(request).then(
    () => true,
    (error: unknown) => {
      if (isMissing(error)) return false
      throw error
    },
  )
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404
}

/** Of this plan; undefined for what is none of its resources. */
export function nodeOf(plan: Planned, need: Need): PlannedNode | undefined {
  return plan.nodes.find((node) =>
    need.node === undefined
      ? node.id.toLowerCase() === need.id.toLowerCase()
      : node.key === need.node,
  )
}

/** What an answer looks like on the wire. */
export function jsonOf(body: unknown): Json {
  // The text was made of a value just now, so it is JSON.
  return body === undefined ? null : (parseExactJson(JSON.stringify(body)) as Json)
}
