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
  /** Headers of every answer that is located to the type. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** Some of its properties nothing computes: what an expression reads of its answers and they lack is invented. */
  readonly isOpen?: true
  /** What a request may say in its query besides what every list takes. For OpenAPI. */
  readonly query?: Readonly<Partial<Record<'list' | 'get' | 'delete', readonly string[]>>>
  /** What metrics and logs call it, where its names are without number. */
  readonly countedAs?: string
}
