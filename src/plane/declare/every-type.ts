/** What every kind of type declares. */

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
  /** Headers added to every answer of the type. */
  readonly answerHeaders?: Readonly<Record<string, string>>
  /** Some of its properties are not computed: an expression that reads one its answers lack gets an invented value. */
  readonly isOpen?: true
  /** Names of query parameters besides those of every list. For OpenAPI. */
  readonly query?: Readonly<Partial<Record<'list' | 'get' | 'delete', readonly string[]>>>
  /** The name in metrics and logs, for types whose own names are unbounded in number. */
  readonly countedAs?: string
}
