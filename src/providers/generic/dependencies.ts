/** The dependencies of generic resources. */

import type { Seal } from '#kernel/ports.ts'
import type { ProviderContext } from '#plane/provider-context.ts'
import type { SchemaFile } from './domain/schemas.ts'

export interface GenericDependencies
  extends Pick<ProviderContext, 'ids' | 'tenantId' | 'publicUrl' | 'words'> {
  readonly seal: Seal
  /** Published schemas that bodies are checked against. */
  readonly schemaFiles: readonly SchemaFile[]
}
