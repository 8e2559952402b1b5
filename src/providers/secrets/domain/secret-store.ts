/**
 * Resolves references to secrets for the other namespaces. `read` asks nobody for permission: whoever stores a
 * reference asks `getValue` of the secret that `locate` names, keeps its writer, asks `mayUse` for that writer
 * whenever the value is read, and reads with that id only.
 */

import type { Seal } from '#kernel/ports.ts'
import type { Principal } from '#kernel/principal.ts'
import { childOf, type ResourceId } from '#kernel/resource-id.ts'
import type { DataUse } from '#plane/access.ts'
import type { PlaneServices } from '#plane/create-plane.ts'
import { findByName } from '#plane/resource-by-name.ts'
import { openValue, type VaultSecret } from '../resources/vault-secrets/model.ts'
import { parseSecretUri, secretType, vaultType } from './secret-uri.ts'

interface SecretStoreDependencies {
  /** The plane's services; the reader sees committed resources. */
  readonly services: Pick<PlaneServices, 'reader' | 'isAllowed'>
  /** The seal of `secretsProvider`. */
  readonly seal: Seal
}

export interface OpenedSecretStore {
  /** What using a secret takes, on the id that `locate` returns. */
  readonly use: DataUse
  /**
   * The secret that a URI names, whether or not it exists; undefined when there is no such vault, or the URI has
   * another form.
   */
  locate(uri: string): Promise<ResourceId | undefined>
  /** Whether the writer of a reference may still use that secret. */
  mayUse(writer: Principal, id: ResourceId): Promise<boolean>
  /** The value; undefined when there is none, it is disabled, or its version is gone. */
  read(uri: string): Promise<string | undefined>
}

const getValue = `${secretType}/getValue/action`
const use: DataUse = { action: getValue, dataActions: [getValue] }

/** By name, with what the reference says of it. */
export const secretDataActions: Readonly<Record<string, string>> = {
  [getValue]: 'Use the value of a secret',
}

export function openSecretStore({ services, seal }: SecretStoreDependencies): OpenedSecretStore {
  const { reader } = services
  const vaultAt = findByName(reader, vaultType)

  async function locate(uri: string): Promise<ResourceId | undefined> {
    const parsed = parseSecretUri(uri)
    if (parsed === undefined) return undefined
    const vault = await vaultAt(parsed.vault)
    return vault === undefined ? undefined : childOf(vault, 'secrets', parsed.name)
  }

  return {
    use,
    locate,
    mayUse: (writer, id) => services.isAllowed(writer, use, id),
    async read(uri) {
      const id = await locate(uri)
      const found = id === undefined ? undefined : await reader.get(id)
      if (found === undefined) return undefined
      // Rows of this type hold this model.
      const { enabled, place, versions } = found.model as VaultSecret
      const wanted = parseSecretUri(uri)?.version
      const version = versions.find((one) => wanted === undefined || one.version === wanted)
      return enabled && version !== undefined ? openValue(seal, place, version) : undefined
    },
  }
}
