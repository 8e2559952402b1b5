/** What the provider needs, and what its deployments need. */

import type { Clock, Ids, Seal } from '#kernel/ports.ts'
import type { VendorWords } from '#kernel/vendor.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import type { JsonObject } from '#template/plan.ts'
import type { TemplateLinks } from './domain/deployments/links.ts'
import type { VaultSecrets } from './domain/deployments/vault-values.ts'
import type { TemplateThreads } from './domain/evaluation/template-threads.ts'
import type { Location } from './domain/locations.ts'
import type { ProviderListDependencies } from './domain/namespaces.ts'
import type { EmptyScope } from './resources/resource-groups/reconcile.ts'
import type { ListTracked } from './resources/resource-lists/resource.ts'

export interface ResourcesProviderDependencies
  extends Pick<PlaneServices, 'replaceTags' | 'moveResources' | 'caller' | 'reader' | 'onSettled'> {
  readonly tenantId: string
  /** The plane's: removes a bounded part of what is below a scope. */
  readonly emptyScope: EmptyScope
  /** The plane's: tracked resources of every type below a scope. */
  readonly listTracked: ListTracked
  /** The plane's: all routes. */
  readonly describe: ProviderListDependencies['describe']
  readonly locations?: readonly Location[]
  /** Without them there are no deployments. */
  readonly deployments?: DeploymentDependencies
  /** Rows looked at for one page of a filtered list. */
  readonly scanRowsMax?: number
}

/** What deployments need of the installation. */
export interface DeploymentDependencies {
  /** The threads that evaluate templates. */
  readonly threads: TemplateThreads
  /** Without them no parameter gets its value from a vault. */
  readonly secrets?: VaultSecrets
  /** Without them no link is followed. */
  readonly links?: TemplateLinks
  readonly services: Pick<
    PlaneServices,
    'caller' | 'reader' | 'listTracked' | 'onSettled' | 'storeAsSystem' | 'isAllowed' | 'asRecorded'
  >
  readonly seal: Seal
  readonly clock: Clock
  readonly ids: Ids
  readonly words: VendorWords
  readonly tenantId: string
  publicUrl(): string
  /** What providers offer, by namespace in lower case: for `providers()` in templates. */
  offers?(): Readonly<Record<string, JsonObject>>
  /** Accepts any type, even unknown ones. */
  readonly takesAnyType?: boolean
  /** Ids of the built-in roles, by name in lower case: for `roleDefinitions()` in templates. */
  readonly roles?: Readonly<Record<string, string>>
}
