/** Users, groups and applications of the directory, and the choice among them. */

import { useEffect } from 'react'
import { useListAt } from '../../api/queries.ts'
import { person } from '../../api/session.ts'
import { useRights } from '../../app/rights.ts'
import type { peopleTexts } from '../../texts/access.ts'

export type Kind = keyof typeof peopleTexts.kinds

/** As the directory answers it. No document describes the directory. */
export interface Member {
  readonly id: string
  readonly displayName: string
  readonly type: 'User' | 'Group' | 'ServicePrincipal'
  readonly signInName?: string
  /** What an application signs in with. */
  readonly clientId?: string
}

/** As many of a kind as one chooses among. */
const membersMax = 2_000

/** Everybody of the directory, read to the end; for somebody who may not read it, themselves. */
export function useMembers() {
  const rights = useRights()
  const enabled = rights.mayEverywhere('people')
  const kinds = [
    useListAt<Member>('/directory/users', {}, { enabled }),
    useListAt<Member>('/directory/groups', {}, { enabled }),
    useListAt<Member>('/directory/servicePrincipals', {}, { enabled }),
  ]
  useEffect(() => {
    for (const { rows, more, loadMore } of kinds) if (more && rows.length < membersMax) loadMore()
  })
  const { id = '', name = '' } = person() ?? {}
  const self: Member = { id, displayName: name, type: 'User' }
  const isAlone = rights.known && !enabled
  return {
    members: isAlone ? [self] : kinds.flatMap(({ rows }) => rows),
    /** The others may not be read. */
    isAlone,
    error: kinds.find(({ error }) => error !== null)?.error ?? null,
  }
}

export function MemberOptions({ members }: { readonly members: readonly Member[] }) {
  return (
    <>
      <option value="" />
      {members.map(({ id, displayName, type }) => (
        <option key={id} value={id}>
          {displayName} ({type})
        </option>
      ))}
    </>
  )
}
