/** Federated credentials of user-assigned identities: sign-in by tokens of another issuer, without a secret. */

import { refuse } from '#kernel/error.ts'
import { parentOf } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import { defineStored, type RuleContext } from '#plane/declare/stored.ts'
import { assignAction } from '../user-assigned-identities/model.ts'
import { type FederatedIdentityCredential, federatedType } from './model.ts'
import { v2023_01_31 } from './versions/2023-01-31.ts'

/** As many as the published service lets an identity have. */
const perIdentityMax = 20

export function federatedIdentityCredentials(): ResourceType {
  return defineStored<FederatedIdentityCredential>({
    type: federatedType,
    description: 'Issuers whose tokens let somebody sign in as an identity.',
    scope: 'resource-group',
    name: {
      pattern: /^[a-zA-Z0-9][a-zA-Z0-9_-]{2,119}$/,
      rule: '3 to 120 letters, digits, hyphens and underscores, a letter or digit first',
    },
    versions: [v2023_01_31],
    verbs: ['get', 'list', 'put', 'delete'],
    // A change of the directory for those who remember what tokens rest on.
    feed: 'directory',
    // Who signs in by it is the identity: as strong as lending it to a container.
    rightsElsewhere: (id) => [{ action: assignAction, scope: parentOf(id) }],
    rules: async (context) => {
      requireAssign(context)
      return oneOfItsKind(context)
    },
    sample: {
      name: (seed) => `credential-${seed}`,
      body: (seed) => sampleBody(`system:serviceaccount:a:${seed}`),
      changed: (seed) => sampleBody(`system:serviceaccount:b:${seed}`),
    },
  })
}

function requireAssign({ id, may, principal, words }: RuleContext<unknown>): void {
  const scope = parentOf(id)
  if (may(assignAction, scope)) return
  throw refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action: qualify(words, assignAction),
    scope: scope.text,
  })
}

async function oneOfItsKind({
  id,
  desired,
  previous,
  reader,
}: RuleContext<FederatedIdentityCredential>) {
  const rows = await reader.list({
    type: federatedType,
    under: parentOf(id),
    limit: perIdentityMax + 1,
  })
  const others = rows.filter((row) => row.id.key !== id.key)
  if (previous === undefined && others.length >= perIdentityMax) {
    return [{ path: '', message: `an identity has at most ${perIdentityMax} of them` }]
  }
  const same = others.some(({ model }) => {
    // Rows of this type were made by its `toModel`.
    const { issuer, subject } = model as FederatedIdentityCredential
    return issuer === desired.issuer && subject === desired.subject
  })
  return same
    ? [{ path: 'properties.subject', message: 'another one has this issuer and subject' }]
    : []
}

function sampleBody(subject: string): object {
  return {
    properties: {
      issuer: 'https://issuer.example',
      subject,
      audiences: ['api://token-exchange'],
    },
  }
}
