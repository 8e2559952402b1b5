/** The federated credentials of an identity, for whoever judges sign-ins. */

import type { Reader } from '#plane/declare/resource.ts'
import {
  type FederatedIdentityCredential,
  federatedType,
} from '../resources/federated-identity-credentials/model.ts'

/** As many as an identity has, and more. */
const readMax = 100

export async function federatedIn(
  reader: Pick<Reader, 'list'>,
  identityKey: string,
): Promise<readonly FederatedIdentityCredential[]> {
  const rows = await reader.list({ type: federatedType, under: identityKey, limit: readMax })
  // Rows of this type were made by its `toModel`.
  return rows.map(({ model }) => model as FederatedIdentityCredential)
}
