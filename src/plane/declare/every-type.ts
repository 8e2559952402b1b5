/** What every type says, whatever its kind. */

export interface EveryType {
  /** Without the vendor word: `Authorization/roleAssignments`, `DataShare/accounts/shares`. */
  readonly type: string
  readonly description: string
  /**
   * Where it lives: below the root (`/providers/…`), a subscription, a group, or on anything (`any`,
   * extension resources). Nested types live below their parent and repeat its scope. `implied` is for
   * the types whose paths carry no `providers`.
   */
  readonly scope: 'tenant' | 'subscription' | 'resource-group' | 'any' | 'implied'
}
