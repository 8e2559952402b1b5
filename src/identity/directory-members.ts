/** Group memberships. */

import { recordMemberChange } from './directory-activity.ts'
import { type DirectoryContext, type Page, pageOf, readPrincipal } from './directory-rows.ts'
import { refuseIdentity } from './errors.ts'
import { directoryFeed } from './feed-watch.ts'
import { type PrincipalRecord, principalColumns, toPrincipalRecord } from './principal-record.ts'
import { parseObjectId } from './principal-rules.ts'

export interface Memberships {
  /** Adding a member twice has no effect. Groups may contain groups, and cycles are harmless. */
  addMember(groupId: string, memberId: string): Promise<void>
  removeMember(groupId: string, memberId: string): Promise<void>
  /** Direct members, in order of id. */
  members(groupId: string, after: string | undefined, limit: number): Promise<Page<PrincipalRecord>>
}

export function openMemberships({ sql }: DirectoryContext): Memberships {
  return {
    async addMember(groupId, memberId) {
      await sql.transact(async (tx) => {
        const group = await readPrincipal(tx, groupId, 'Group')
        const member = await readPrincipal(tx, memberId)
        if (group.id === member.id) {
          throw refuseIdentity.InvalidPrincipal({ reason: 'a group cannot be a member of itself' })
        }
        await tx.run(
          'insert into identity_memberships (group_id, member_id) values (?, ?) on conflict do nothing',
          group.id,
          member.id,
        )
        await tx.follow(directoryFeed, member.id)
        recordMemberChange(tx, group, member.id, 'write')
      })
    },

    async removeMember(groupId, memberId) {
      await sql.transact(async (tx) => {
        const group = await readPrincipal(tx, groupId, 'Group')
        const member = parseObjectId(memberId) ?? ''
        const removed = await tx.run(
          'delete from identity_memberships where group_id = ? and member_id = ?',
          group.id,
          member,
        )
        if (removed === 0) {
          const id = memberId.slice(0, 100)
          throw refuseIdentity.MemberNotFound({ id, group: group.displayName })
        }
        await tx.follow(directoryFeed, member)
        recordMemberChange(tx, group, member, 'delete')
      })
    },

    async members(groupId, after, limit) {
      const group = await readPrincipal(sql, groupId, 'Group')
      const rows = await sql.all(
        `select ${principalColumns} from identity_principals
          where id in (select member_id from identity_memberships where group_id = ?)
          and id > ? order by id limit ?`,
        group.id,
        after ?? '',
        limit + 1,
      )
      return pageOf(rows.map(toPrincipalRecord), limit)
    },
  }
}
