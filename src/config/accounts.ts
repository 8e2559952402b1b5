/** Settings of accounts and sign-ins, and of how long the audit trail is kept. */

import type { ExternalIssuer } from '#kernel/external-issuer.ts'
import { claimNames, parseIssuers } from './issuers.ts'
import { wholeNumber } from './setting.ts'

export interface AccountsConfig {
  readonly issuers: readonly ExternalIssuer[]
  /** Hours after which a sign-in ends although it is used, and hours without use after which it ends. */
  readonly sessionHours: number
  readonly sessionIdleHours: number
  /** The shortest password, in characters. */
  readonly passwordLength: number
  /** The number of days for which records of the audit trail are kept. */
  readonly activityDays: number
}

export const accountsSettings = {
  issuers: {
    expected: 'a JSON list of `{issuer, audiences, jwksUri?, claims?, tenantId?}`',
    default: '[]',
    description: `External identity issuers whose tokens are taken. \`claims\` says which claim holds ${claimNames.join(', ')}.`,
    parse: parseIssuers,
  },
  sessionHours: wholeNumber(1, 10_000, {
    default: '720',
    description:
      'Hours after which a person has to sign in again, however much the session is used. Command lines and devices too.',
  }),
  sessionIdleHours: wholeNumber(1, 10_000, {
    default: '336',
    description: 'Hours without use after which a session ends.',
  }),
  passwordLength: wholeNumber(8, 128, {
    default: '10',
    description:
      'Characters that a new password has at least. Common passwords and those with the account’s name in them are refused whatever their length.',
  }),
  activityDays: wholeNumber(1, 36_500, {
    default: '90',
    description: 'Days that records of the audit trail are kept.',
  }),
} as const
