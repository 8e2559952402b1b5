import assert from 'node:assert/strict'
import { test } from 'node:test'
import { contractWords } from '#kernel/vendor.ts'
import { type AccessRequest, type Attributes, noAttributes, type Verdict } from '#plane/access.ts'
import { behalfOf, callOwner } from '#stores/awaited.ts'
import { createMemoryReader, idOf, sampleContext } from '../../testing/memory-reader.ts'
import { everybody } from '../resources/deny-assignments/model.ts'
import { createAuthorizer } from './authorizer.ts'
import { ownerRoleId } from './built-in-roles.ts'
import type { Position } from './freshness.ts'

const sub = '/subscriptions/11111111-1111-4111-8111-111111111111'
const reader = 'acdd72a7-3385-48ef-bd42-f606fba81ae7'
const contributor = 'b24988ac-6180-42a0-ab88-20f7382dd24c'
const access = '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9'
const billing = '1b8f4c1e-52d3-4c0b-9a6e-3d6c5f0b7e21'
const ann = '33333333-3333-4333-8333-333333333333'
const team = '66666666-6666-4666-8666-666666666666'
const name = '22222222-2222-4222-8222-222222222222'

function setUp(position?: () => Position) {
  const rows = createMemoryReader()
  const directory = { changes: 0, groups: [] as string[], asked: 0 }
  const authorizer = createAuthorizer({
    words: contractWords,
    feed: position === undefined ? rows.feed : { ...rows.feed, position },
    directoryFeed: { position: () => directory.changes },
    directory: {
      groupsOf: () => {
        directory.asked += 1
        return Promise.resolve([...directory.groups])
      },
    },
    reader: rows,
  })
  const grant = (scope: string, roleId: string, principalId = ann): string => {
    const path = `${scope}/providers/Vendor.Authorization/roleAssignments/${name}`
    rows.put(path, { principalId, roleId, principalType: principalId === team ? 'Group' : 'User' })
    return path
  }
  return { rows, directory, authorizer, grant }
}

test('changed grants are read again in nobody’s name, whoever is the first to notice', async () => {
  const { rows, authorizer, grant } = setUp()
  const owners: (string | undefined)[] = []
  const { list, get } = rows
  rows.list = (...query) => {
    owners.push(callOwner())
    return list.apply(rows, query)
  }
  rows.get = (...query: Parameters<typeof get>) => {
    owners.push(callOwner())
    return get.apply(rows, query)
  }
  for (const _ of [1, 2]) {
    grant('', reader)
    await behalfOf(ann).run(async () => authorizer.allows(ask(read, sub)))
  }
  assert.ok(owners.length > 1)
  assert.deepEqual(new Set(owners), new Set([undefined]))
})

function ask(action: string, scope: string, groups: readonly string[] = []): AccessRequest {
  const { principal } = sampleContext(createMemoryReader())
  return { principal: { ...principal, id: ann, groups }, action, scope: idOf(scope) }
}

test('what was begun beforehand decides by all that was acknowledged before, with one look', async () => {
  let looks = 0
  const { rows, authorizer, grant } = setUp(async () => {
    looks++
    return rows.feed.position()
  })
  const decide = async (): Promise<Verdict | undefined> => {
    await authorizer.refresh?.()
    return authorizer.allowsAsKnown?.(ask(read, sub))
  }
  assert.equal(await decide(), false)
  for (const allowed of [true, false, true]) {
    const path = grant('', reader)
    if (!allowed) rows.remove(path)
    looks = 0
    assert.equal(await decide(), allowed)
    assert.equal(looks, 1)
  }
  // By what is known: the change since then is not looked for.
  rows.remove(grant('', reader))
  assert.equal(await authorizer.allowsAsKnown?.(ask(read, sub)), true)
  assert.equal(await authorizer.allows(ask(read, sub)), false)
})

const write = 'Vendor.Authorization/roleAssignments/write'
const read = 'Vendor.Resources/subscriptions/read'
const builtIn: readonly [role: string, action: string, allowed: boolean][] = [
  [ownerRoleId, write, true],
  [contributor, write, false],
  [contributor, 'Vendor.Authorization/roleDefinitions/delete', false],
  [contributor, 'Vendor.Resources/subscriptions/cancel/action', false],
  [contributor, read, true],
  [contributor, 'Vendor.ContainerInstance/containerGroups/write', true],
  [reader, read, true],
  [reader, 'Vendor.DataShare/accounts/shareSubscriptions/listSynchronizations/action', false],
  [reader, write, false],
  [access, write, true],
  [access, 'Vendor.ContainerInstance/containerGroups/write', false],
  [billing, 'Vendor.Billing/billingAccounts/billingProfiles/recordPurchase/action', true],
  [billing, 'Vendor.ContainerInstance/containerGroups/write', false],
]
for (const [role, action, allowed] of builtIn) {
  test(`the built-in role ${role} ${allowed ? 'allows' : 'does not allow'} ${action}`, async () => {
    const { authorizer, grant } = setUp()
    grant('', role)
    assert.equal(await authorizer.allows(ask(action, sub)), allowed)
  })
}

test('answers at once when nothing changed and the membership is known', async () => {
  const { authorizer, grant, directory } = setUp()
  grant(sub, reader)
  assert.equal(await authorizer.allows(ask(read, sub)), true)
  assert.equal(authorizer.allows(ask(read, sub)), true)
  assert.equal(authorizer.allows(ask(read, `${sub}/resourceGroups/other`)), true)
  assert.equal(authorizer.allows(ask(write, sub)), false)
  assert.equal(directory.asked, 1)
})

test('a revoked assignment, role or membership counts at the next question', async () => {
  const { authorizer, grant, rows, directory } = setUp()
  const path = grant(sub, reader)
  assert.equal(await authorizer.allows(ask(read, sub)), true)
  rows.remove(path)
  assert.equal(await authorizer.allows(ask(read, sub)), false)

  directory.groups = [team]
  directory.changes += 1
  const group = grant(sub, reader, team)
  assert.equal(await authorizer.allows(ask(read, sub)), true)
  directory.groups = []
  directory.changes += 1
  assert.equal(await authorizer.allows(ask(read, sub)), false)
  rows.remove(group)
})

test('what is remembered of a parent holds for a child until something is assigned to the child', async () => {
  const { rows, authorizer, grant } = setUp()
  const rack = `${sub}/resourceGroups/g/providers/Vendor.Sample/racks/s`
  const reads = (scope: string) => authorizer.allows(ask('Vendor.Sample/racks/slots/read', scope))
  assert.equal(await reads(`${rack}/slots/one`), false)
  const own = grant(`${rack}/slots/two`, reader)
  assert.equal(await reads(`${rack}/slots/one`), false)
  assert.equal(await reads(`${rack}/slots/two`), true)
  assert.equal(await reads(`${rack}/slots/two/pages/1`), true)
  assert.equal(await reads(rack), false)
  rows.remove(own)
  assert.equal(await reads(`${rack}/slots/two`), false)
  assert.equal(await reads(`${rack}/slots/two/pages/1`), false)
  const above = grant(rack, reader)
  assert.equal(await reads(`${rack}/slots/three`), true)
  rows.remove(above)
  assert.equal(await reads(`${rack}/slots/three`), false)
})

test('groups a token vouches for count for that token alone', async () => {
  const { authorizer, grant } = setUp()
  grant(sub, reader, team)
  assert.equal(await authorizer.allows(ask(read, sub, [team.toUpperCase()])), true)
  assert.equal(await authorizer.allows(ask(read, sub)), false)
  assert.equal(await authorizer.allows(ask(read, sub, [team])), true)
})

test('a membership that changes while it is read is not remembered', async () => {
  const rows = createMemoryReader()
  let changes = 0
  const answers = [[team], []]
  const authorizer = createAuthorizer({
    words: contractWords,
    feed: rows.feed,
    directoryFeed: { position: () => changes },
    directory: {
      groupsOf: async () => {
        const answer = answers.shift() ?? []
        // Somebody is removed from the group after this read and before the answer.
        if (changes === 0) changes = 1
        return answer
      },
    },
    reader: rows,
  })
  rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${name}`, {
    principalId: team,
    roleId: reader,
    principalType: 'Group',
  })
  await authorizer.allows(ask(read, sub))
  assert.equal(await authorizer.allows(ask(read, sub)), false)
})

test('a store that cannot be asked fails the question, and the next one recovers', async () => {
  let down = false
  const { authorizer, grant, rows } = setUp(() =>
    down ? Promise.reject(new Error('down')) : Promise.resolve(rows.feed.position()),
  )
  grant(sub, reader)
  assert.equal(await authorizer.allows(ask(read, sub)), true)
  down = true
  await assert.rejects(async () => authorizer.allows(ask(read, sub)), /down/)
  down = false
  assert.equal(await authorizer.allows(ask(read, sub)), true)
})

test('knows which roles are in use', async () => {
  const { authorizer, grant, rows } = setUp()
  assert.equal(authorizer.assignmentsOf(reader), undefined)
  const path = grant(sub, reader)
  await authorizer.allows(ask(read, sub))
  assert.equal(authorizer.assignmentsOf(reader)?.keys.size, 1)
  assert.equal(authorizer.assignmentsOf(contributor)?.keys.size, 0)
  rows.remove(path)
  await authorizer.allows(ask(read, sub))
  assert.equal(authorizer.assignmentsOf(reader)?.keys.size, 0)
})

test('a row that claims to be a built-in role changes nothing', async () => {
  const { authorizer, grant, rows } = setUp()
  grant(sub, reader)
  rows.put(`/providers/Vendor.Authorization/roleDefinitions/${reader}`, {
    permissions: [{ actions: ['*'], notActions: [], dataActions: [], notDataActions: [] }],
  })
  assert.equal(await authorizer.allows(ask(write, sub)), false)
})

const rbacAdministrator = 'f58310d9-a9f6-439a-9e8d-f62e7b41a168'
const facts = (roleId: string, principalId: string): Attributes =>
  new Map([
    ['vendor.authorization/roleassignments:roledefinitionid', roleId],
    ['vendor.authorization/roleassignments:principalid', principalId],
  ])

function holds(
  verdict: Verdict,
  request: Attributes | 'unknown',
  resource = noAttributes,
): boolean {
  return typeof verdict === 'boolean' ? verdict : verdict.holds({ now: 0, request, resource })
}

const blobs = 'Vendor.Storage/storageAccounts/blobServices/containers/blobs'
const listKeys = 'Vendor.Storage/storageAccounts/listKeys/action'
const blobReader = '2a2b9908-6ea1-4ae2-8e65-a410df84e7d1'
const blobContributor = 'ba92f5b4-2d11-453d-a403-e96b0029c9fe'

test('data is used by data actions, all of them, or by the action of the control plane', async () => {
  const { authorizer, grant, rows } = setUp()
  const uses = async (...verbs: readonly string[]) =>
    authorizer.allows({ ...ask(listKeys, sub), dataActions: verbs.map((one) => `${blobs}/${one}`) })
  for (const [role, keys, read, write] of [
    [reader, false, false, false],
    [blobReader, false, true, false],
    [blobContributor, false, true, true],
    [contributor, true, true, true],
  ] as const) {
    const path = grant(sub, role)
    assert.deepEqual(
      [
        await authorizer.allows(ask(listKeys, sub)),
        await uses('read'),
        await uses('read', 'write'),
        // As an action of the control plane it is in no role but those with a star.
        await authorizer.allows(ask(`${blobs}/write`, sub)),
      ],
      [keys, read, write, role === contributor],
      role,
    )
    rows.remove(path)
  }
})

test('a denied data action forbids the use by either way; a denied action only its own', async () => {
  const { authorizer, grant, rows } = setUp()
  const uses = async () =>
    authorizer.allows({ ...ask(listKeys, sub), dataActions: [`${blobs}/read`] })
  const denial = `${sub}/providers/Vendor.Authorization/denyAssignments/${name}`
  const deny = (permission: object): void => {
    const none = { actions: [], notActions: [], dataActions: [], notDataActions: [] }
    rows.put(denial, {
      denyAssignmentName: 'd',
      permissions: [{ ...none, ...permission }],
      doNotApplyToChildScopes: false,
      principals: [{ id: ann, type: 'User' }],
      excludePrincipals: [],
    })
  }
  for (const [role, byKeys] of [
    [contributor, true],
    [blobReader, false],
  ] as const) {
    grant(sub, role)
    deny({ dataActions: [`${blobs}/*`] })
    assert.equal(await uses(), false)
    assert.equal(await authorizer.allows(ask(listKeys, sub)), byKeys)
    deny({ dataActions: ['*'], notDataActions: [`${blobs}/read`] })
    assert.equal(await uses(), true)
    deny({ actions: ['*'] })
    assert.equal(await uses(), !byKeys)
    rows.remove(denial)
    assert.equal(await uses(), true)
  }
})

test('what is left out by what one acts through is left out for no group of its id, and not remembered', async () => {
  const { authorizer, grant, rows } = setUp()
  grant(sub, contributor)
  rows.put(`${sub}/providers/Vendor.Authorization/denyAssignments/${name}`, {
    denyAssignmentName: 'd',
    permissions: [{ actions: ['*/read'], notActions: [], dataActions: [], notDataActions: [] }],
    doNotApplyToChildScopes: false,
    principals: [{ id: everybody, type: 'SystemDefined' }],
    excludePrincipals: [{ id: team, type: 'SystemDefined' }],
  })
  const reads = (more: object): unknown => {
    const { principal, ...rest } = ask(read, sub)
    return authorizer.allows({ ...rest, principal: { ...principal, ...more } })
  }
  const found = async (more: object): Promise<unknown> => {
    const { principal, ...rest } = ask(read, sub)
    return (await authorizer.prohibitionsFor?.({ ...principal, ...more }))?.find(rest)?.name
  }
  for (const [more, isLeftOut] of [
    [{ groups: [team] }, false],
    [{ through: [ann, team] }, true],
    [{}, false],
    [{ through: [ann] }, false],
    [{ id: team }, false],
    [{ groups: [ann], through: [team] }, true],
  ] as const) {
    assert.equal(await reads(more), isLeftOut, JSON.stringify(more))
    assert.equal(await found(more), isLeftOut ? undefined : 'd', JSON.stringify(more))
  }
})

test('a data role under a condition on its data grants no use', async () => {
  const { authorizer, rows } = setUp()
  rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${name}`, {
    principalId: ann,
    roleId: blobReader,
    principalType: 'User',
    condition: `@Resource[${blobs}:path] StringLike 'a*'`,
    conditionVersion: '2.0',
  })
  const use = { ...ask(listKeys, sub), dataActions: [`${blobs}/read`] }
  assert.equal(await authorizer.allows(use), false)
})

test('a conditioned grant is settled anew each time, and never remembered as a plain one', async () => {
  const { authorizer, rows } = setUp()
  rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${name}`, {
    principalId: ann,
    roleId: access,
    principalType: 'User',
    condition: `!(ActionMatches{'${write}'}) OR @Request[Vendor.Authorization/roleAssignments:RoleDefinitionId] GuidEquals '${reader}'`,
    conditionVersion: '2.0',
  })
  for (let round = 0; round < 3; round++) {
    const verdict = await authorizer.allows(ask(write, sub))
    assert.ok(typeof verdict === 'object')
    assert.equal(holds(verdict, facts(reader, team)), true)
    assert.equal(holds(verdict, facts(contributor, team)), false)
    assert.equal(holds(verdict, 'unknown'), false)
    // An action that the condition does not mention is allowed.
    assert.equal(await authorizer.allows(ask(read, sub)), true)
  }
})

test('a condition that cannot be read grants nothing', async () => {
  const { authorizer, rows } = setUp()
  for (const extra of [
    { condition: 'nonsense', conditionVersion: '2.0' },
    { condition: '1 NumericEquals 1' },
    { condition: '1 NumericEquals 1', conditionVersion: '1.0' },
    { conditionVersion: '2.0' },
  ]) {
    const path = `${sub}/providers/Vendor.Authorization/roleAssignments/${name}`
    rows.put(path, { principalId: ann, roleId: ownerRoleId, principalType: 'User', ...extra })
    assert.equal(await authorizer.allows(ask(read, sub)), false)
  }
})

test('whoever assigns roles under a condition cannot take it off, nor get around it', async () => {
  const { authorizer, directory, rows } = setUp()
  directory.groups = [team]
  const other = '77777777-7777-4777-8777-777777777777'
  rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${name}`, {
    principalId: ann,
    roleId: rbacAdministrator,
    principalType: 'User',
    // Always true: only the house rule is left.
    condition: '1 NumericEquals 1',
    conditionVersion: '2.0',
  })
  const verdict = await authorizer.allows(ask(write, sub))
  assert.equal(holds(verdict, facts(rbacAdministrator, other)), true)
  assert.equal(holds(verdict, facts(reader, ann)), true)
  for (const own of [ann, team]) {
    for (const role of [rbacAdministrator, ownerRoleId, access]) {
      assert.equal(holds(verdict, facts(role, own)), false)
      assert.equal(holds(verdict, facts(reader, other), facts(role, own)), false)
    }
  }
  const remove = await authorizer.allows(ask('Vendor.Authorization/roleAssignments/delete', sub))
  assert.equal(holds(remove, noAttributes, facts(rbacAdministrator, ann)), false)
  assert.equal(holds(remove, noAttributes, facts(rbacAdministrator, other)), true)
  // An assignment without a condition is not limited.
  rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${other}`, {
    principalId: ann,
    roleId: ownerRoleId,
    principalType: 'User',
  })
  assert.equal(await authorizer.allows(ask(write, sub)), true)
})

test('attributes of the caller count at once, and are the caller’s own', async () => {
  const rows = createMemoryReader()
  let changes = 0
  let level: number | undefined
  const authorizer = createAuthorizer({
    words: contractWords,
    feed: rows.feed,
    directoryFeed: { position: () => changes },
    directory: {
      groupsOf: async () => [],
      attributesOf: async (id) => (level === undefined || id !== ann ? {} : { Staff_Level: level }),
    },
    reader: rows,
  })
  for (const principalId of [ann, team]) {
    rows.put(`${sub}/providers/Vendor.Authorization/roleAssignments/${principalId}`, {
      principalId,
      roleId: reader,
      principalType: 'User',
      condition:
        '@Principal[Vendor.Directory/CustomSecurityAttributes/Id:staff_level] NumericGreaterThan 3',
      conditionVersion: '2.0',
    })
  }
  const allowed = () => authorizer.allows(ask(read, sub))
  assert.equal(await allowed(), false)
  level = 4
  assert.equal(await allowed(), false)
  changes += 1
  assert.equal(await allowed(), true)
  level = 3
  changes += 1
  assert.equal(await allowed(), false)
})
