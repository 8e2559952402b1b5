import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isWithin } from '#kernel/resource-id.ts'
import { contractWords } from '#kernel/vendor.ts'
import type { AccessRequest, RequestFacts, Verdict } from '#plane/access.ts'
import { fc, runsOf } from '../../../../tests/property.ts'
import {
  createMemoryReader,
  idOf,
  type MemoryReader,
  sampleContext,
} from '../../testing/memory-reader.ts'
import { type DenyAssignment, everybody } from '../resources/deny-assignments/model.ts'
import type { RoleAssignment } from '../resources/role-assignments/model.ts'
import type { Permission, RoleDefinition } from '../resources/role-definitions/model.ts'
import { createAuthorizer } from './authorizer.ts'
import type { ConditionNode } from './conditions/nodes.ts'
import { printCondition } from './conditions/print.ts'
import { condition, meaning, type WholeFacts, wholeFacts } from './conditions/testing/arbitrary.ts'

const guid = (n: number): string => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`
const people = [guid(1), guid(2), guid(3)]
const groups = [guid(11), guid(12), guid(13)]
const roles = [guid(21), guid(22), guid(23)]
const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const scopes = [
  '',
  sub,
  `${sub}/resourceGroups/a`,
  `${sub}/resourceGroups/ab`,
  `${sub}/resourceGroups/A/providers/Vendor.X/things/t`,
  `${sub}/resourceGroups/a/providers/Vendor.X/things/t/parts/p`,
]
const patterns = [
  '*',
  '*/read',
  'V.X/*',
  'V.X/things/*',
  '*/write',
  'V.X/things/write',
  'V.X/*/read',
  'v.x/THINGS/read',
]
const actions = ['V.X/things/read', 'V.X/things/write', 'V.X/things/parts/read', 'V.Y/z/delete']

const permission: fc.Arbitrary<Permission> = fc.record({
  actions: fc.subarray(patterns, { maxLength: 3 }),
  notActions: fc.subarray(patterns, { maxLength: 1 }),
  dataActions: fc.constant(['*']),
  notDataActions: fc.constant([]),
})

interface Fixture {
  /** The attributes of the request. */
  readonly facts: WholeFacts
  /** Permissions of the roles; `undefined` for a role that does not exist. */
  readonly roles: readonly (readonly Permission[] | undefined)[]
  /** Edges of the membership graph, including cycles: [group, member]. */
  readonly members: readonly (readonly [group: number, member: number])[]
  readonly assignments: readonly {
    readonly principal: number
    readonly role: number
    readonly scope: number
    readonly condition: ConditionNode | undefined
  }[]
  readonly denials: readonly {
    readonly principals: readonly number[]
    readonly excluded: readonly number[]
    readonly scope: number
    readonly onlyHere: boolean
    readonly permission: Permission
  }[]
}

/** One beyond the last stands for everybody. */
const principals = [...people, ...groups]
const fixture: fc.Arbitrary<Fixture> = fc.record({
  facts: wholeFacts,
  roles: fc.array(fc.option(fc.array(permission, { maxLength: 2 }), { nil: undefined, freq: 5 }), {
    minLength: 3,
    maxLength: 3,
  }),
  members: fc.array(fc.tuple(fc.nat(2), fc.nat(5)), { maxLength: 6 }),
  assignments: fc.array(
    fc.record({
      principal: fc.nat(5),
      role: fc.nat(2),
      scope: fc.nat(scopes.length - 1),
      condition: fc.option(condition, { nil: undefined }),
    }),
    { maxLength: 6 },
  ),
  denials: fc.array(
    fc.record({
      principals: fc.uniqueArray(fc.nat(6), { minLength: 1, maxLength: 2 }),
      excluded: fc.uniqueArray(fc.nat(5), { maxLength: 2 }),
      scope: fc.nat(scopes.length - 1),
      onlyHere: fc.boolean(),
      permission,
    }),
    { maxLength: 2 },
  ),
})

/** The groups of a principal: walks the edges until nothing is new. */
function groupsOf({ members }: Fixture, id: string): string[] {
  const found = new Set<string>()
  for (let grown = true; grown; ) {
    grown = false
    for (const [group, member] of members) {
      const groupId = groups[group] ?? ''
      const memberId = principals[member] ?? ''
      if ((memberId === id || found.has(memberId)) && !found.has(groupId)) {
        found.add(groupId)
        grown = true
      }
    }
  }
  return [...found]
}

/** Matches a pattern in the slow and obvious way: by a regular expression. */
function matches(pattern: string, action: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.\\/]/g, '\\$&'))
    .join('.*')
  return new RegExp(`^${source}$`, 'is').test(action)
}

/** The decision by brute force, directly from the sentences of facts 2.6. */
function oracle(given: Fixture, person: string, action: string, scope: string): boolean {
  const who = [person, ...groupsOf(given, person)]
  const among = (numbers: readonly number[]): boolean =>
    numbers.some((n) => n === principals.length || who.includes(principals[n] ?? ''))
  const isDenied = given.denials.some(
    (denial) =>
      among(denial.principals) &&
      !among(denial.excluded) &&
      (denial.onlyHere
        ? keyOf(scope) === keyOf(scopes[denial.scope] ?? '')
        : isWithin(keyOf(scope), keyOf(scopes[denial.scope] ?? ''))) &&
      denial.permission.actions.some((pattern) => matches(pattern, action)) &&
      !denial.permission.notActions.some((pattern) => matches(pattern, action)),
  )
  if (isDenied) return false
  return given.assignments.some(
    (assignment) =>
      (assignment.condition === undefined ||
        meaning(assignment.condition, { ...given.facts, action: action.toLowerCase() })) &&
      who.includes(principals[assignment.principal] ?? '') &&
      isWithin(keyOf(scope), keyOf(scopes[assignment.scope] ?? '')) &&
      (given.roles[assignment.role] ?? []).some(
        (one) =>
          one.actions.some((pattern) => matches(pattern, action)) &&
          !one.notActions.some((pattern) => matches(pattern, action)),
      ),
  )
}

function keyOf(scope: string): string {
  return scope === '' ? '/' : scope.toLowerCase()
}

function assignmentPath(scope: number, at: number): string {
  return `${scopes[scope]}/providers/Vendor.Authorization/roleAssignments/${guid(100 + at)}`
}

function denialPath(scope: number, at: number): string {
  return `${scopes[scope]}/providers/Vendor.Authorization/denyAssignments/${guid(200 + at)}`
}

function denialOf({ denials }: Fixture, at: number): DenyAssignment {
  const { principals: numbers = [], excluded = [], onlyHere = false } = denials[at] ?? {}
  const one = (n: number) => ({ id: principals[n] ?? everybody, type: 'User' }) as const
  return {
    denyAssignmentName: `denial ${at}`,
    permissions: denials.slice(at, at + 1).map((denial) => denial.permission),
    doNotApplyToChildScopes: onlyHere,
    principals: numbers.map(one),
    excludePrincipals: excluded.map(one),
  }
}

function store(reader: MemoryReader, given: Fixture): void {
  given.roles.forEach((permissions, at) => {
    if (permissions === undefined) return
    const role: RoleDefinition = {
      roleName: `role ${at}`,
      description: '',
      kind: 'CustomRole',
      assignableScopes: ['/'],
      permissions,
    }
    reader.put(`/providers/Vendor.Authorization/roleDefinitions/${roles[at]}`, role)
  })
  given.assignments.forEach(({ principal, role, scope, condition: only }, at) => {
    const model: RoleAssignment = {
      principalId: principals[principal] ?? '',
      roleId: roles[role] ?? '',
      principalType: 'User',
      ...(only === undefined ? {} : { condition: printCondition(only), conditionVersion: '2.0' }),
    }
    reader.put(assignmentPath(scope, at), model)
  })
  given.denials.forEach(({ scope }, at) => {
    reader.put(denialPath(scope, at), denialOf(given, at))
  })
}

function question(person: string, action: string, scope: string): AccessRequest {
  const { principal } = sampleContext(createMemoryReader())
  return {
    principal: { ...principal, id: person },
    action,
    scope: idOf(scope === '' ? '/' : scope),
  }
}

/** Custom attributes are the same for everybody: the authorizer's own tests cover whose they are. */
function directoryOf(given: () => Fixture) {
  return {
    groupsOf: (id: string) => Promise.resolve(groupsOf(given(), id)),
    attributesOf: () =>
      Promise.resolve(
        Object.fromEntries(given().facts.principal) as Readonly<Record<string, string>>,
      ),
  }
}

function authorizerOf(given: Fixture, reader: MemoryReader, directory: { changes: number }) {
  return createAuthorizer({
    words: contractWords,
    feed: reader.feed,
    directoryFeed: { position: () => directory.changes },
    directory: directoryOf(() => given),
    reader,
    rememberedMax: 5,
  })
}

/** Every possible question, in a fixed order. */
async function allAnswers(
  ask: (q: AccessRequest) => Verdict | Promise<Verdict>,
  facts: RequestFacts,
): Promise<boolean[]> {
  const answers: boolean[] = []
  for (const person of people) {
    for (const action of actions) {
      for (const scope of scopes) {
        const verdict = await ask(question(person, action, scope))
        answers.push(typeof verdict === 'boolean' ? verdict : verdict.holds(facts))
      }
    }
  }
  return answers
}

test('decisions are those of the brute-force oracle, also asked again from memory', async () => {
  let allowed = 0
  await fc.assert(
    fc.asyncProperty(fixture, async (given) => {
      const reader = createMemoryReader()
      store(reader, given)
      await using authorizer = authorizerOf(given, reader, { changes: 0 })
      const expected = await allAnswers(
        ({ principal, action, scope }) =>
          oracle(given, principal.id, action, scope.key === '/' ? '' : scope.text),
        given.facts,
      )
      allowed += expected.filter(Boolean).length
      assert.deepEqual(await allAnswers((q) => authorizer.allows(q), given.facts), expected)
      assert.deepEqual(await allAnswers((q) => authorizer.allows(q), given.facts), expected)
    }),
    { numRuns: runsOf(150) },
  )
  assert.ok(allowed > 100, 'the worlds tried must allow something')
})

test('after any change of assignments, roles and memberships the next answer is right', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fixture, { minLength: 2, maxLength: 4 }), async (worlds) => {
      const reader = createMemoryReader()
      const directory = { changes: 0 }
      let current = worlds[0] as Fixture // at least two are made
      const authorizer = createAuthorizer({
        words: contractWords,
        feed: reader.feed,
        directoryFeed: { position: () => directory.changes },
        directory: directoryOf(() => current),
        reader,
      })
      for (const next of worlds) {
        for (const role of roles) {
          reader.remove(`/providers/Vendor.Authorization/roleDefinitions/${role}`)
        }
        current.assignments.forEach(({ scope }, at) => {
          reader.remove(assignmentPath(scope, at))
        })
        current.denials.forEach(({ scope }, at) => {
          reader.remove(denialPath(scope, at))
        })
        current = next
        directory.changes += 1
        store(reader, next)
        const expected = await allAnswers(
          ({ principal, action, scope }) =>
            oracle(next, principal.id, action, scope.key === '/' ? '' : scope.text),
          next.facts,
        )
        assert.deepEqual(await allAnswers((q) => authorizer.allows(q), next.facts), expected)
      }
    }),
    { numRuns: 40 },
  )
})

test('adding an assignment never removes a permission', async () => {
  await fc.assert(
    fc.asyncProperty(fixture, fixture, async (given, more) => {
      const reader = createMemoryReader()
      store(reader, given)
      await using authorizer = authorizerOf(given, reader, { changes: 0 })
      const before = await allAnswers((q) => authorizer.allows(q), given.facts)
      const grown = { ...given, assignments: [...given.assignments, ...more.assignments] }
      store(reader, grown)
      const after = await allAnswers((q) => authorizer.allows(q), given.facts)
      before.forEach((allowed, at) => {
        assert.ok(!allowed || after[at])
      })
    }),
    { numRuns: 60 },
  )
})

test('a condition only ever takes away from the assignment it stands on', async () => {
  await fc.assert(
    fc.asyncProperty(fixture, async (given) => {
      const answersOf = async (one: Fixture): Promise<boolean[]> => {
        const reader = createMemoryReader()
        store(reader, one)
        await using authorizer = authorizerOf(one, reader, { changes: 0 })
        return allAnswers((q) => authorizer.allows(q), given.facts)
      }
      const bare = given.assignments.map((one) => ({ ...one, condition: undefined }))
      const narrow = await answersOf(given)
      const wide = await answersOf({ ...given, assignments: bare })
      narrow.forEach((allowed, at) => {
        assert.ok(!allowed || wide[at])
      })
    }),
    { numRuns: 60 },
  )
})
