/**
 * Messages that were sent, that wait, and that could not be sent. This entity is not in the contract. The file
 * declares its fields, and `outbox/` writes its rows.
 */

import {
  defineEntity,
  type Entity,
  guid,
  integer,
  moment,
  oneOf,
  readOnly,
  text,
} from '../entity.ts'
import * as tables from '../tables.ts'

const never = { write: 'never' } as const

const kinds = ['Mail', 'Notification'] as const
const statuses = ['Waiting', 'Sent', 'Failed'] as const
const documentTypes = [' ', 'Sales Invoice', 'Sales Quote', 'Sales Credit Memo'] as const

export const outboxEntries: Entity = defineEntity({
  set: 'outboxEntries',
  type: 'outboxEntry',
  table: tables.outboxEntries,
  versions: ['v2.0'],
  fields: [
    guid('id', never),
    oneOf('kind', 'outboxEntryKind', kinds, { ...never, added: ['Notification'] }),
    oneOf('status', 'outboxEntryStatus', statuses, never),
    text('sender', 80, never),
    text('recipient', 250, never),
    text('subject', 250, never),
    text('language', 10, never),
    guid('documentId', never),
    oneOf('documentType', 'outboxDocumentType', documentTypes, never),
    text('documentNumber', 20, never),
    integer('attempts', never),
    moment('createdDateTime', { ...never, column: 'created_at' }),
    moment('nextAttemptDateTime', { ...never, column: 'due_at' }),
    moment('sentDateTime', { ...never, column: 'sent_at' }),
    text('lastError', 250, never),
    moment('lastModifiedDateTime', never),
  ],
  actions: [{ name: 'retry', versions: ['v2.0'] }],
  allows: readOnly,
  defaultOrder: ['createdDateTime', 'id'],
})
