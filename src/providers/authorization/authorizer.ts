/**
 * Answers the plane's "may they?" from an index in memory, kept exactly as fresh as the store: before every
 * answer the feeds are asked whether anything changed. Decides nothing itself (`decide.ts` does) and writes
 * nothing. When the store cannot be asked the question fails; it is never answered from what may be stale.
 */

import type { Directory, Principal } from '#kernel/principal.ts'
import { parseResourceId, scopeKeys } from '#kernel/resource-id.ts'
import { qualify, type VendorWords } from '#kernel/vendor.ts'
import type { Access, AccessQuestion } from '#plane/access.ts'
import type { Reader, Resource } from '#plane/define.ts'
import { decide } from './decide.ts'
import { createFreshness, type Position } from './freshness.ts'
import { createGrantIndex, type GrantIndex } from './grant-index.ts'
import type { RoleAssignment } from './role-assignments/model.ts'
import { builtInRoles } from './role-definitions/built-in-roles.ts'
import type { RoleDefinition } from './role-definitions/model.ts'

/** An ordered log of changed keys, as the store gives it (its `Feed`). */
export interface ChangeFeed {
  /** Fresh: a change acknowledged anywhere is seen by the next call. Synchronous where that is free. */
  position(): Position
  /** Keys changed after `position`, oldest first, with the position of the last. */
  since(
    position: number,
    limit: number,
  ): Promise<{ readonly position: number; readonly keys: readonly string[] }>
}

export interface AuthorizerParts {
  readonly words: VendorWords
  /** The feed `authorization`: assignments and role definitions. */
  readonly feed: ChangeFeed
  /** The directory's own feed: any change of a membership moves it. */
  readonly directoryFeed: Pick<ChangeFeed, 'position'>
  readonly directory: Pick<Directory, 'groupsOf'>
  /** Committed reads; used from the first question on. */
  readonly reader: Pick<Reader, 'get' | 'list'>
  /** Decisions and memberships remembered at the most, each. */
  readonly rememberedMax?: number
}

export interface Authorizer extends Access, AsyncDisposable {
  /** Is the role assigned anywhere, as of the last question? `undefined` before the first. */
  isRoleInUse(roleId: string): boolean | undefined
}

const rowsAtOnce = 1000
const types = ['Authorization/roleDefinitions', 'Authorization/roleAssignments'] as const

export function createAuthorizer(parts: AuthorizerParts): Authorizer {
  const { words, feed, directoryFeed, directory, reader, rememberedMax = 20_000 } = parts
  const builtIns = builtInRoles(words)
  const roleType = `${qualify(words, 'Authorization').toLowerCase()}/roledefinitions`

  let index: GrantIndex | undefined
  const decisions = new Map<string, boolean>()
  const memberships = new Map<string, readonly string[]>()

  const assignments = createFreshness(() => feed.position(), catchUp)
  const groups = createFreshness(
    () => directoryFeed.position(),
    // Memberships are asked for again one by one; a change of one group may move anyone below it.
    (_from, to) => {
      memberships.clear()
      decisions.clear()
      return Promise.resolve(to)
    },
  )

  /** Brings the index from one position of the feed to another, or a later one. */
  async function catchUp(from: number | undefined, to: number): Promise<number> {
    if (from === undefined || index === undefined) {
      index = await load()
      decisions.clear()
      return to
    }
    let at = from
    while (at < to) {
      const { position, keys } = await feed.since(at, rowsAtOnce)
      if (position <= at) throw new Error('the authorization feed moved, but lists no change')
      for (const key of new Set(keys)) put(index, key, await reader.get(key))
      at = position
      decisions.clear()
    }
    return at
  }

  /** Rows may change while this reads; what changed after the position is read again by `catchUp`. */
  async function load(): Promise<GrantIndex> {
    const fresh = createGrantIndex(builtIns)
    for (const type of types) {
      let after: string | undefined
      for (;;) {
        const rows = await reader.list({
          type,
          under: '/',
          ...(after === undefined ? {} : { after }),
          limit: rowsAtOnce,
        })
        for (const row of rows) put(fresh, row.id.key, row)
        after = rows.at(-1)?.id.key
        if (rows.length < rowsAtOnce || after === undefined) break
      }
    }
    return fresh
  }

  function put(into: GrantIndex, key: string, row: Resource | undefined): void {
    if (row === undefined) {
      into.remove(key)
      return
    }
    const last = parseResourceId(key)?.segments.at(-1)
    // The feed carries these two types alone, and their models were made by their own `toModel`.
    if (`${last?.namespace}/${last?.types.join('/')}`.toLowerCase() === roleType) {
      into.putRole(row as Resource<RoleDefinition>)
    } else {
      into.putAssignment(row as Resource<RoleAssignment>)
    }
  }

  function allows(question: AccessQuestion): boolean | Promise<boolean> {
    const one = assignments.ensure()
    const two = groups.ensure()
    if (one === undefined && two === undefined) return answer(question)
    return Promise.all([one, two]).then(() => answer(question))
  }

  function answer(question: AccessQuestion): boolean | Promise<boolean> {
    const { principal, action, scope } = question
    // Groups that a token vouches for differ from token to token, so these answers are not remembered.
    const key = principal.groups.length === 0 ? `${principal.id} ${action} ${scope.key}` : undefined
    const remembered = key === undefined ? undefined : decisions.get(key)
    if (remembered !== undefined) return remembered
    const known = memberships.get(principal.id)
    if (known !== undefined) return judge(question, known, key)
    return ask(principal).then((groupIds) => {
      // What is not in memory (any more) may be stale already: good for this answer, not for later ones.
      const current = memberships.get(principal.id) === groupIds
      return judge(question, groupIds, current ? key : undefined)
    })
  }

  function judge(
    { principal, action, scope }: AccessQuestion,
    groupIds: readonly string[],
    key: string | undefined,
  ): boolean {
    if (index === undefined) throw new Error('the index of assignments is not loaded')
    const vouchedFor = principal.groups.map((id) => id.toLowerCase())
    const allowed = decide(
      {
        action: action.toLowerCase(),
        scopeKeys: scopeKeys(scope),
        principalIds: [principal.id, ...groupIds, ...vouchedFor],
      },
      index,
      index,
    )
    if (key !== undefined) remember(decisions, key, allowed)
    return allowed
  }

  /** Reads a membership; remembers it unless the directory changed meanwhile. */
  async function ask(principal: Principal): Promise<readonly string[]> {
    const before = groups.position
    const found = await directory.groupsOf(principal.id)
    await groups.ensure()
    if (groups.position === before) remember(memberships, principal.id, found)
    return found
  }

  function remember<V>(memory: Map<string, V>, key: string, value: V): void {
    // Starting anew is rare and cheap next to keeping an order of use on every hit.
    if (memory.size >= rememberedMax) memory.clear()
    memory.set(key, value)
  }

  return {
    allows,
    isRoleInUse: (roleId) => index?.isRoleInUse(roleId),
    async [Symbol.asyncDispose]() {
      await Promise.allSettled([assignments.settled(), groups.settled()])
    },
  }
}
