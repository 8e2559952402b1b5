/**
 * Assignments and questions for the comparison of decisions. They are made from a number alone, so they are the
 * same for everybody.
 */

export interface Assignment {
  readonly id: string
  readonly principalId: string
  readonly role: string
  readonly scope: string
  /** Applies only to resources with this tag. */
  readonly env: string | undefined
}

interface Role {
  readonly actions: readonly string[]
  readonly notActions: readonly string[]
}

export interface Question {
  readonly userId: string
  readonly action: string
  readonly scope: string
  /** The tag `env` of the resource in question. */
  readonly env: string
}

export interface DecisionFixture {
  readonly assignments: readonly Assignment[]
  readonly roles: Readonly<Record<string, Role>>
  /** Every group of a user, including nested ones. */
  readonly groupsOf: (userId: string) => readonly string[]
  readonly users: readonly string[]
  readonly actions: readonly string[]
  readonly questions: readonly Question[]
}

/** Something that decides. */
export interface Decider {
  readonly name: string
  readonly note: string
  /** Of all questions only the first ones: slow deciders would take hours for all. */
  readonly asks: (assignments: number) => number
  /** Loads the assignments. The returned function answers questions. */
  open(fixture: DecisionFixture): Promise<(question: Question) => boolean | Promise<boolean>>
}

export const things = 'Vendor.X/things'
const actions = ['read', 'write', 'delete', 'restart/action'].flatMap((verb) => [
  `${things}/${verb}`,
  `${things}/parts/${verb}`,
])

function guid(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`
}

const roles: Readonly<Record<string, Role>> = Object.fromEntries(
  [
    { actions: ['*/read'], notActions: [] },
    { actions: [`${things}/*`], notActions: [`${things}/delete`] },
    { actions: [`${things}/write`], notActions: [] },
    { actions: [`${things}/parts/*`], notActions: [] },
    { actions: ['*/restart/action'], notActions: [] },
    { actions: [`${things}/*/delete`], notActions: [] },
    { actions: ['Vendor.Y/*'], notActions: [] },
    { actions: ['Vendor.Z/*/read'], notActions: [] },
  ].map((role, at) => [guid(0xa00 + at), role]),
)

/** A linear congruential generator: scattered enough, and the same everywhere. */
function scatter(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
}

export function makeWorld(size: number, questions: number): DecisionFixture {
  const random = scatter(size)
  const users = Array.from({ length: Math.max(100, size / 10) }, (_, at) => guid(0x10_0000 + at))
  const groups = Array.from({ length: Math.max(20, size / 100) }, (_, at) => guid(0x80_0000 + at))
  const subscriptions = Math.max(3, size / 1000)
  const scopes: string[] = []
  for (let subscription = 0; subscription < subscriptions; subscription++) {
    const top = `/subscriptions/${guid(subscription)}`
    for (let group = 0; group < 20; group++) {
      const middle = `${top}/resourceGroups/g${group}`
      scopes.push(top, middle, `${middle}/providers/${things}/t${group}/parts/p`)
    }
  }
  const perSubscription = scopes.length / subscriptions
  const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T
  const homes = new Map(groups.map((group) => [group, random(subscriptions)]))
  /** Mostly in the group's own scope: an installation grows by more teams, not by everybody everywhere. */
  const scopeFor = (group: string): string => {
    if (random(10) === 0) return pick(scopes)
    const home = homes.get(group) ?? 0
    return scopes[home * perSubscription + random(perSubscription)] as string
  }
  const memberships = new Map(
    users.map((user) => [user, [...new Set(Array.from({ length: 4 }, () => pick(groups)))]]),
  )
  const roleIds = Object.keys(roles)
  const assignments = Array.from({ length: size }, (_, at) => {
    const user = pick(users)
    const group = pick(memberships.get(user) ?? groups)
    return {
      id: guid(0x1000_0000 + at),
      principalId: random(2) === 0 ? user : group,
      role: pick(roleIds),
      scope: scopeFor(group),
      env: at % 10 === 0 ? `e${random(5)}` : undefined,
    }
  })
  const asked = Array.from({ length: questions }, () => {
    const userId = pick(users)
    const scope = scopeFor(pick(memberships.get(userId) ?? groups))
    return { userId, action: pick(actions), scope, env: `e${random(5)}` }
  })
  return {
    assignments,
    roles,
    groupsOf: (user) => memberships.get(user) ?? [],
    users,
    actions,
    questions: asked,
  }
}

/** Whether a role lists an action. For contestants without patterns of their own. */
export function allows({ actions: yes, notActions: no }: Role, action: string): boolean {
  const matches = (pattern: string): boolean => {
    const source = pattern
      .toLowerCase()
      .split('*')
      .map((part) => part.replace(/[.\\/]/g, '\\$&'))
    return new RegExp(`^${source.join('.*')}$`).test(action.toLowerCase())
  }
  return yes.some(matches) && !no.some(matches)
}

export function within(scope: string, above: string): boolean {
  return scope === above || scope.startsWith(`${above}/`)
}
