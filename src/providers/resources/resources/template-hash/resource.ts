/** The hash of a template without deploying it: the one that its deployments show. Any signed-in caller may ask. */

import Type from 'typebox'
import { type ActionType, defineActions } from '#plane/declare/action.ts'
import { templateHash } from '../../domain/deployments/template-hash.ts'
import { managerVersions } from '../../published-versions.ts'

export function calculateTemplateHash(): ActionType {
  return defineActions({
    type: 'Resources/calculateTemplateHash',
    description: 'The hash of a template, as its deployments show it.',
    scope: 'tenant',
    apiVersions: managerVersions,
    collectionActions: {
      POST: {
        method: 'POST',
        description: 'Calculates the hash of a template',
        open: true,
        countsAsRead: true,
        bodySyntax: 'exact',
        body: Type.Object({}, { additionalProperties: true }),
        answer: Type.Object({ minifiedTemplate: Type.String(), templateHash: Type.String() }),
        run(_context, template: object) {
          const minifiedTemplate = JSON.stringify(template)
          const hash = templateHash(minifiedTemplate)
          return Promise.resolve({ status: 200, body: { minifiedTemplate, templateHash: hash } })
        },
      },
    },
  })
}
