/** Valid operations for the contract suite, in the shape of each version. */

import type { Sample } from '#plane/declare/sample.ts'

function fields(seed: number, description: string): object {
  return {
    description,
    method: 'GET',
    urlTemplate: `/pets-${seed}/{petId}`,
    templateParameters: [{ name: 'petId', type: 'string', required: true }],
    request: { queryParameters: [{ name: 'limit', type: 'integer', values: ['10', '20'] }] },
    responses: [{ statusCode: 200, representations: [{ contentType: 'application/json' }] }],
  }
}

function body(seed: number, version: string, description: string): object {
  const given = fields(seed, description)
  return version < '2017' ? given : { properties: { displayName: `Pet ${seed}`, ...given } }
}

export const sample: Sample = {
  name: (seed) => `get-pet-${seed}`,
  body: (seed, version) => body(seed, version, 'One pet.'),
  changed: (seed, version) => body(seed, version, 'One pet, by its number.'),
}
