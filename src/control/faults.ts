/**
 * Fault rules: which requests, steps or store reads they match, how often, until when, and what happens then. This
 * file only keeps the rules; `main/faults.ts` makes things fail.
 */

import { refuse } from '#kernel/error.ts'

/** The conditions of a rule. A condition that is left out matches everything. */
interface FaultMatch {
  /** The HTTP method. */
  readonly method?: string
  /** A path, or a prefix that ends with `*`. Case does not matter. */
  readonly path?: string
  /** `Vendor.ContainerInstance/containerGroups`; the vendor word may be left out. */
  readonly type?: string
  /** The object id or the name of the caller. */
  readonly principal?: string
  /** The share of matching requests that the rule applies to, from 0 to 1. */
  readonly rate?: number
  /** The rule applies to at most this many. */
  readonly count?: number
  /** The first so many are let through. */
  readonly after?: number
  /** The rule ends by itself after so many seconds of the machine's clock. */
  readonly seconds?: number
}

/** What happens to a request. */
export interface RequestFault {
  readonly status?: number
  readonly code?: string
  readonly retryAfter?: number
  /** Milliseconds of delay before anything else happens. */
  readonly latency?: number
  /** The connection is cut in the middle of the answer's body. */
  readonly cut?: boolean
  /** The token is treated as expired. */
  readonly token?: 'refused'
}

export interface FaultRule extends FaultMatch, RequestFault {
  /** Steps of operations fail at once, or do not run while the rule is active. */
  readonly step?: 'fail' | 'hang'
  /** The store does not answer, or takes `latency` milliseconds longer. */
  readonly store?: 'away' | 'slow'
  /** The engine loses what it runs for the resource at `path`, once or `count` times. */
  readonly engine?: 'loses'
}

/** Something that a rule was applied to. */
interface Met {
  readonly at: string
  readonly what: string
  readonly correlationId?: string
}

export interface FaultRuleStatus {
  readonly id: string
  readonly rule: FaultRule
  /** How often the rule was applied. */
  readonly met: number
  /** The latest of them. */
  readonly latest: readonly Met[]
}

interface MetRequest {
  readonly method: string
  readonly path: string
  readonly type: string
  readonly principalId: string
  readonly principalName: string
  readonly correlationId: string
}

export interface Faults {
  add(rule: FaultRule): string
  /** Adds the rules of a scenario. Refuses an unknown one. */
  play(scenario: string): readonly string[]
  list(): readonly FaultRuleStatus[]
  /** Removes one rule, or all. */
  clear(id?: string): void
  ofRequest(request: MetRequest): RequestFault | undefined
  ofStep(key: string, type: string): 'fail' | 'hang' | undefined
  /** True when the engine shall lose what it runs for this resource now. */
  ofEngine(key: string, type: string): boolean
  /** From now on, a rule must name one of these types, or none: another would never match. */
  onlyTypes(known: KnownTypes): void
  /** Calls back with the key of each resource whose engine shall lose what it runs. */
  onLoss(callback: (key: string) => void): void
  ofStore(): Pick<FaultRule, 'store' | 'latency'> | undefined
}

interface KnownTypes {
  readonly types: readonly string[]
  /** The name that is most like the wanted one. */
  nearest(wanted: string, names: readonly string[]): string | undefined
}

const rulesMax = 100
const latestMax = 50
/** Such a rule ends by itself, because it can keep its owner from removing it. */
const storeSecondsMax = 600
const storeSecondsUsual = 60

export const scenarios = {
  'region-outage': [{ status: 503, retryAfter: 30 }, { step: 'hang' }],
  throttled: [{ status: 429, retryAfter: 5, rate: 0.5 }],
  'flaky-network': [
    { cut: true, rate: 0.1 },
    { latency: 1500, rate: 0.2 },
    { status: 500, rate: 0.05 },
  ],
  'slow-operations': [{ step: 'hang', rate: 0.8 }],
} satisfies Readonly<Record<string, readonly FaultRule[]>>

export type Scenario = keyof typeof scenarios

interface Kept {
  readonly id: string
  readonly rule: FaultRule
  /** Milliseconds since 1970, by the machine's clock. */
  readonly until: number
  seen: number
  met: number
  latest: Met[]
}

export function openFaults(options: {
  now(): number
  /** From 0 to below 1. */
  chance(): number
}): Faults {
  const { now, chance } = options
  let kept: Kept[] = []
  let numbered = 0
  let tellLoss: (key: string) => void = () => {}
  let known: KnownTypes | undefined

  const meet = (
    isMet: (rule: FaultRule) => boolean,
    what: string,
    correlationId?: string,
  ): FaultRule | undefined => {
    if (kept.length === 0) return undefined
    const at = now()
    for (const one of kept) {
      const { rule } = one
      if (at >= one.until || one.met >= (rule.count ?? Number.POSITIVE_INFINITY)) continue
      if (!isMet(rule)) continue
      one.seen++
      if (one.seen <= (rule.after ?? 0)) continue
      if (rule.rate !== undefined && chance() >= rule.rate) continue
      one.met++
      const met = { at: new Date(at).toISOString(), what }
      one.latest = [
        ...one.latest,
        correlationId === undefined ? met : { ...met, correlationId },
      ].slice(-latestMax)
      return rule
    }
    return undefined
  }

  const faults: Faults = {
    add(rule) {
      if (rule.path?.includes('?')) {
        throw refuse.BadRequest({
          reason: 'path: expected a path without a query, which it would never meet',
        })
      }
      if (known !== undefined) requireType(rule.type, known)
      if (kept.length >= rulesMax) {
        throw refuse.ControlNotPossible({ reason: `there are ${rulesMax} rules already` })
      }
      const lost = rule.engine === undefined ? undefined : (rule.path?.toLowerCase() ?? '*')
      if (lost?.endsWith('*')) {
        throw refuse.BadRequest({ reason: 'path: with engine, expected the path of one resource' })
      }
      const id = `fault-${++numbered}`
      const seconds =
        rule.store === undefined
          ? (rule.seconds ?? Number.POSITIVE_INFINITY)
          : Math.min(rule.seconds ?? storeSecondsUsual, storeSecondsMax)
      const counted = rule.engine === undefined ? rule : { count: 1, ...rule }
      kept.push({ id, rule: counted, until: now() + seconds * 1000, seen: 0, met: 0, latest: [] })
      if (lost !== undefined) tellLoss(lost)
      return id
    },
    play(scenario) {
      if (!isScenario(scenario)) {
        const advice = `take one of ${Object.keys(scenarios).join(', ')}`
        throw refuse.ControlNotFound({ kind: 'scenario', name: scenario, advice })
      }
      return scenarios[scenario].map((rule) => faults.add(rule))
    },
    list: () => kept.map(({ id, rule, met, latest }) => ({ id, rule, met, latest })),
    clear(id) {
      if (id !== undefined && !kept.some((one) => one.id === id)) {
        throw refuse.ControlNotFound({
          kind: 'rule',
          name: id,
          advice: '`armature fault list` lists them',
        })
      }
      kept = id === undefined ? [] : kept.filter((one) => one.id !== id)
    },
    ofRequest: (request) =>
      meet(
        (rule) => isForRequests(rule) && meets(rule, request),
        `${request.method} ${request.path}`,
        request.correlationId,
      ),
    ofStep: (key, type) =>
      meet(
        (rule) => rule.step !== undefined && isPath(rule.path, key) && isType(rule.type, type),
        `a step of ${key}`,
      )?.step,
    ofEngine: (key, type) =>
      meet(
        (rule) => rule.engine !== undefined && isPath(rule.path, key) && isType(rule.type, type),
        `what the engine runs for ${key}`,
      ) !== undefined,
    onlyTypes(all) {
      known = all
    },
    onLoss(callback) {
      tellLoss = callback
    },
    ofStore: () => meet(({ store }) => store !== undefined, 'a question to the store'),
  }
  return faults
}

function isScenario(name: string): name is Scenario {
  return Object.hasOwn(scenarios, name)
}

function isForRequests({ step, store, engine }: FaultRule): boolean {
  return step === undefined && store === undefined && engine === undefined
}

function meets(rule: FaultRule, request: MetRequest): boolean {
  const { method, principal } = rule
  return (
    (method === undefined || method.toUpperCase() === request.method) &&
    isPath(rule.path, request.path) &&
    isType(rule.type, request.type) &&
    (principal === undefined ||
      principal === request.principalId ||
      principal === request.principalName)
  )
}

function isPath(wanted: string | undefined, path: string): boolean {
  if (wanted === undefined) return true
  const [pattern, text] = [wanted.toLowerCase(), path.toLowerCase()]
  return pattern.endsWith('*') ? text.startsWith(pattern.slice(0, -1)) : text === pattern
}

/** Throws for a type that no request has. */
function requireType(wanted: string | undefined, { types, nearest }: KnownTypes): void {
  if (wanted === undefined || types.some((type) => isType(wanted, type))) return
  const names = types.flatMap((type) => [type, type.slice(type.indexOf('.') + 1)])
  const near = nearest(wanted, names) ?? 'Resources/resourceGroups'
  throw refuse.BadRequest({
    reason: `type: expected a type that is served here, such as '${near}', not '${wanted}'`,
  })
}

/** The vendor word and the parent types between the namespace and the last word may be left out. */
function isType(wanted: string | undefined, type: string): boolean {
  if (wanted === undefined) return true
  const [namespace = '', ...words] = type.toLowerCase().split('/')
  const names = [words.join('/'), words.at(-1)].flatMap((name) => [
    `${namespace}/${name}`,
    `${namespace.slice(namespace.indexOf('.') + 1)}/${name}`,
  ])
  return names.includes(wanted.toLowerCase())
}
