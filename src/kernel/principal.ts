/** The caller: the result of authentication, and what the directory knows about principals. */

/** Contract, role assignment: `principalType`. */
export type PrincipalType = 'User' | 'Group' | 'ServicePrincipal' | 'ForeignGroup' | 'Device'

/** The caller of a request, as far as the token and the directory confirm it. */
export interface Principal {
  /** The object id that role assignments name: a UUID in lower case. */
  readonly id: string
  readonly type: 'User' | 'ServicePrincipal'
  readonly tenantId: string
  /** A sign-in name or client id for people to read. Shown in refusals and `systemData`, never trusted. */
  readonly displayName: string
  /** The application the token was issued to. */
  readonly clientId: string
  /** The groups an external issuer asserts. Groups of our own directory are looked up instead. */
  readonly groups: readonly string[]
  /** What it acts through, which deny assignments leave out by id. Only this server sets it; a group of the same id is not it. */
  readonly through?: readonly string[]
  /** The external issuer of the principal. Absent for principals of our own directory. */
  readonly issuer?: string
  /** The generation of the tokens of a principal of our own directory. A revocation changes it. */
  readonly generation?: number
}

/**
 * The principal recorded as the writer of a reference. `before` stays when it is the same principal with the same
 * groups and tokens, so that writing the same value again changes nothing.
 */
export function writerOf(caller: Principal, before: Principal | undefined): Principal {
  const same =
    before !== undefined &&
    before.id === caller.id &&
    before.issuer === caller.issuer &&
    before.generation === caller.generation &&
    before.groups.join() === caller.groups.join() &&
    before.through?.join() === caller.through?.join()
  return same ? before : caller
}

/** By name (`{set}_{attribute}`), compared without regard to case. A value, or a set of values of one type. */
export type PrincipalAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly number[]>
>

interface KnownPrincipal {
  readonly type: PrincipalType
  readonly displayName: string
  /** What it signs in by. Applications and managed identities have one. */
  readonly clientId?: string
}

/** What the rest of the tree may ask the directory. `identity` implements it. */
export interface Directory {
  /** The principal with that object id; `undefined` when the directory has none. */
  find(id: string): Promise<KnownPrincipal | undefined>
  /**
   * Every group the principal is in, directly or through other groups; cycles are harmless. Always current: a
   * change counts at once.
   */
  groupsOf(id: string): Promise<readonly string[]>
  /** Custom attributes for conditions. As current as `groupsOf`; none for an unknown id. */
  attributesOf?(id: string): Promise<PrincipalAttributes>
}

/** The service principal of a resource. Each resource has at most one. */
export interface WorkloadIdentity {
  readonly principalId: string
  readonly clientId: string
  readonly displayName: string
}

/**
 * Creates and removes the identities of resources. Every call may be repeated; the last one counts. `identity`
 * implements it.
 */
export interface WorkloadIdentities {
  /** The id of the resource's principal. */
  of(resourceKey: string): Promise<string | undefined>
  /** Creates the identity. An identity the resource had under another id is removed. */
  give(resourceKey: string, identity: WorkloadIdentity): Promise<void>
  /** Removes the identity with all its credentials. Does nothing when there is none. */
  take(resourceKey: string): Promise<void>
}
