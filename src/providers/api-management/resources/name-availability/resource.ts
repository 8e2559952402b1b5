/**
 * Answers whether a service may have a name. Service names are unique per group here, so every well-formed name is
 * available.
 */

import Type from 'typebox'
import { type ActionType, defineActions } from '#plane/declare/action.ts'
import { serviceName } from '../../domain/names.ts'
import { allDates } from '../../published-versions.ts'

export function nameAvailability(): ActionType {
  return defineActions({
    type: 'ApiManagement/checkNameAvailability',
    description: 'Whether a service may have a name.',
    scope: 'subscription',
    apiVersions: allDates,
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Tells whether a service may have a name',
        permission: 'read',
        countsAsRead: true,
        body: Type.Object({ name: Type.String({ maxLength: 256 }) }),
        answer: Type.Object({
          nameAvailable: Type.Boolean(),
          reason: Type.Enum(['Valid', 'Invalid', 'AlreadyExists']),
          message: Type.String(),
        }),
        run(_context, { name }: { readonly name: string }) {
          const isValid = serviceName.pattern.test(name)
          const message = isValid ? '' : `A name is ${serviceName.rule}.`
          const reason = isValid ? 'Valid' : 'Invalid'
          return Promise.resolve({ status: 200, body: { nameAvailable: isValid, reason, message } })
        },
      },
    },
  })
}
