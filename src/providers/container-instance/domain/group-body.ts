/** What the preparation of a container group is given: the members of its body that it reads, and the group as it is. */

import type { JsonObject } from '#kernel/patch.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { Context } from '#plane/declare/resource.ts'
import type { ContainerGroup } from '../resources/container-groups/model.ts'

export interface GivenBody extends JsonObject {
  readonly location?: string
  readonly identity?: {
    readonly type?: string
    readonly userAssignedIdentities?: Readonly<Record<string, object>>
  }
  readonly properties: {
    readonly containerGroupProfile?: { readonly id?: string; readonly revision?: number }
    readonly secretReferences?: readonly {
      readonly name: string
      readonly secretReferenceUri: string
    }[]
    readonly volumes?: readonly {
      readonly name: string
      readonly azureFile?: {
        readonly storageAccountName: string
        readonly storageAccountKey?: string
        readonly storageAccountKeyReference?: string
        readonly readOnly?: boolean
      }
    }[]
  }
}

export type GroupContext = Context & {
  readonly id: ResourceId
  /** The group as it is stored. */
  readonly known: ContainerGroup | undefined
}
