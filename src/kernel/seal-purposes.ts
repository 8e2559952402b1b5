/**
 * What is sealed with the installation's key. Each purpose has a key of its own, derived from it. A new purpose is a line
 * here; `tests/law/sealing.test.ts` then asks for a value of it that survives a rotation.
 */

export const sealPurposes = {
  /** Private parts of signing keys, sessions, codes and refresh tokens; the cookie of a known browser. */
  identity: 'stored',
  /** The key of the keyed hashes that rows of sign-in are found by. */
  index: 'stored',
  /** Values of vault secrets. */
  secrets: 'stored',
  /** Secret parts of container groups, and revisions of their profiles. */
  containers: 'stored',
  /** Parameters of deployments that are under way. */
  deployments: 'stored',
  /** Secrets and tokens of authorizations; links of consent, which the browser holds. */
  authorizations: 'stored',
  /** Keys of storage accounts. */
  storage: 'stored',
  /** Passwords of SQL servers. */
  sql: 'stored',
  /** Passwords of PostgreSQL servers and of their migrations. */
  postgres: 'stored',
  /** What the invented keys of generic resources are made of. */
  generic: 'stored',
  /** Links to downloads of invoices: held by clients alone. */
  'billing-downloads': 'given-out',
} as const satisfies Readonly<Record<string, 'stored' | 'given-out'>>

export type SealPurpose = keyof typeof sealPurposes

export function isSealPurpose(text: string): text is SealPurpose {
  return Object.hasOwn(sealPurposes, text)
}

/** What is signed or named with keys derived from the installation's key, and held by clients alone. */
export type SigningPurpose = 'continuation tokens' | 'cookies'
