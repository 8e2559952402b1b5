/** Shared by the commands of locks. */

import { propertyOf } from '#client/resource.ts'
import type { Connection } from './context.ts'
import { member } from './directory.ts'
import type { Noun } from './resource-commands.ts'
import { extensionPath } from './resource-path.ts'
import { type ScopePlace, scopeOptions, scopePath } from './scope-place.ts'

export const locks = {
  noun: 'lock',
  title: 'lock, with those below it',
  version: '2016-09-01',
  options: scopeOptions,
  example: '-g demo',
  columns: [
    { title: 'NAME', of: member('name') },
    { title: 'LEVEL', of: (row: unknown) => propertyOf(row, 'level') },
    { title: 'NOTES', of: (row: unknown) => propertyOf(row, 'notes') },
    { title: 'ID', of: member('id') },
  ],
  async path(connection: Connection, place: ScopePlace, name?: string) {
    const scope = await scopePath(connection, place)
    const list = extensionPath(connection.words, scope, 'Authorization/locks')
    return name === undefined ? list : `${list}/${encodeURIComponent(name)}`
  },
} satisfies Noun<typeof scopeOptions>
