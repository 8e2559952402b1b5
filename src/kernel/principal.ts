/** Who acts: the outcome of authentication, and what the directory can tell about anyone. */

/** Contract, role assignment: `principalType`. */
export type PrincipalType = 'User' | 'Group' | 'ServicePrincipal' | 'ForeignGroup' | 'Device'

/** The caller of a request, as far as the token and the directory vouch for it. */
export interface Principal {
  /** Object id, a UUID in lower case; what role assignments name. */
  readonly id: string
  readonly type: 'User' | 'ServicePrincipal'
  readonly tenantId: string
  /** For people: a sign-in name or client id. Shown in refusals and `systemData`, never trusted. */
  readonly displayName: string
  /** The application the token was issued to. */
  readonly clientId: string
  /** Groups vouched for by an external issuer; groups of our own directory are looked up instead. */
  readonly groups: readonly string[]
  /** Of a principal that an external issuer vouches for: that issuer. Absent for principals of our own directory. */
  readonly issuer?: string
  /** Of a principal of our own directory: the generation of its tokens. A revocation moves it. */
  readonly generation?: number
}

/**
 * Who is kept as the writer of a reference. `before` stays while it is the same principal with the same groups and
 * tokens, so that writing the same again changes nothing.
 */
export function writerOf(caller: Principal, before: Principal | undefined): Principal {
  const same =
    before !== undefined &&
    before.id === caller.id &&
    before.issuer === caller.issuer &&
    before.generation === caller.generation &&
    before.groups.join() === caller.groups.join()
  return same ? before : caller
}

/** By name (`{set}_{attribute}`), compared without regard to case; one value or a set of one kind. */
export type PrincipalAttributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | readonly number[]>
>

/** What the rest of the tree may ask of the directory. Implemented by `identity`. */
export interface Directory {
  /** The principal of that object id, or `undefined` when the directory has none. */
  find(
    id: string,
  ): Promise<{ readonly type: PrincipalType; readonly displayName: string } | undefined>
  /** Every group the principal is in, transitively; cycles are harmless. Fresh: a change counts at once. */
  groupsOf(id: string): Promise<readonly string[]>
  /** Custom attributes, for conditions on who asks. As fresh as `groupsOf`; none for an unknown id. */
  attributesOf?(id: string): Promise<PrincipalAttributes>
}

/** A service principal that stands for a resource: known by the resource it belongs to, one for each. */
export interface WorkloadIdentity {
  readonly principalId: string
  readonly clientId: string
  readonly displayName: string
}

/** Where resources get their identities. Every call may be repeated; the last one counts. Implemented by `identity`. */
export interface WorkloadIdentities {
  /** The principal that the directory has for the resource. */
  of(resourceKey: string): Promise<string | undefined>
  /** The directory has it from now on; what the resource had before under another id is gone. */
  give(resourceKey: string, identity: WorkloadIdentity): Promise<void>
  /** With all its credentials. Nothing happens where the resource has none. */
  take(resourceKey: string): Promise<void>
}
