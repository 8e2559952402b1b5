/** The federated credentials of an identity, for whoever judges sign-ins and the tokens that came of them. */

import { createHash } from 'node:crypto'
import type { Reader, Resource } from '#plane/declare/resource.ts'
import {
  type FederatedIdentityCredential,
  federatedType,
} from '../resources/federated-identity-credentials/model.ts'

/** As many as an identity has, and more. */
const readMax = 100

interface IdentifiedCredential extends FederatedIdentityCredential {
  readonly id: string
}

export async function federatedIn(
  reader: Pick<Reader, 'list'>,
  identityKey: string,
): Promise<readonly IdentifiedCredential[]> {
  const rows = await reader.list({ type: federatedType, under: identityKey, limit: readMax })
  return rows.map(identified)
}

/** The id is another one after every change of what is trusted, and when the credential is created again. */
function identified({ id, systemData, model }: Resource): IdentifiedCredential {
  // Rows of this type were made by its `toModel`.
  const { issuer, subject, audiences } = model as FederatedIdentityCredential
  const text = JSON.stringify([id.key, systemData.createdAt, issuer, subject, audiences])
  return { issuer, subject, audiences, id: createHash('sha256').update(text).digest('base64url') }
}
