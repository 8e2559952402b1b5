/**
 * The purposes for which the installation's key seals. Each purpose has its own derived key. After a line is added
 * here, `tests/law/sealing.test.ts` asks for a value of that purpose that survives a rotation.
 */

export const sealPurposes = {
  /** Private parts of signing keys, sessions, codes and refresh tokens; the cookie of a known browser. */
  identity: 'stored',
  /** The key of the hashes by which rows of sign-in are found. */
  index: 'stored',
  /** Values of vault secrets. */
  secrets: 'stored',
  /** Secret parts of container groups, and revisions of their profiles. */
  containers: 'stored',
  /** Parameters of running deployments. */
  deployments: 'stored',
  /** Secrets and tokens of authorizations; links of consent, which the browser holds. */
  authorizations: 'stored',
  /** Keys of storage accounts. */
  storage: 'stored',
  /** Passwords of SQL servers. */
  sql: 'stored',
  /** Passwords of PostgreSQL servers and of their migrations. */
  postgres: 'stored',
  /** The seed of invented keys of generic resources. */
  generic: 'stored',
  /** Links to downloads of invoices. Only clients hold them. */
  'billing-downloads': 'given-out',
} as const satisfies Readonly<Record<string, 'stored' | 'given-out'>>

export type SealPurpose = keyof typeof sealPurposes

export function isSealPurpose(text: string): text is SealPurpose {
  return Object.hasOwn(sealPurposes, text)
}

/** The purposes for which derived keys sign or name things that only clients hold. */
export type SigningPurpose = 'continuation tokens' | 'cookies'
