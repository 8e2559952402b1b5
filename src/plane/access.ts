/**
 * The port by which the plane asks "may they?". Role assignments are a provider's resources, so the answer
 * comes from there; `main.ts` ties the two together (house section 3).
 */

import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'

export interface AccessQuestion {
  readonly principal: Principal
  /** Fully qualified: `Vendor.Authorization/roleAssignments/write`. */
  readonly action: string
  /** The resource (or the scope of a collection) the action is about; it need not exist. */
  readonly scope: ResourceId
}

export interface Access {
  /**
   * True when allowed; deny by default. Fresh: a change that was answered anywhere counts. Synchronous
   * where the store can tell without asking, since every request pays for this.
   */
  allows(question: AccessQuestion): boolean | Promise<boolean>
}
