/**
 * Decides what a write in one version keeps of what only other versions can express. A part is kept while the thing
 * it belongs to still exists, by its name, content type or status code. Decision 0016 has the rule.
 */

import type {
  Operation,
  OperationRequest,
  OperationResponse,
  Parameter,
  Representation,
} from '../model.ts'
import { type Features, set } from './features.ts'

export function carry(
  next: Operation,
  previous: Operation | undefined,
  features: Features,
): Operation {
  if (previous === undefined) return next
  const { templateParameters, request, responses } = next
  return {
    ...(features.wrapped
      ? {}
      : { ...set('displayName', previous.displayName), ...set('policies', previous.policies) }),
    ...next,
    ...set(
      'templateParameters',
      parametersOf(templateParameters, previous.templateParameters, features),
    ),
    ...set('request', request && requestOf(request, previous.request, features)),
    ...set(
      'responses',
      responses &&
        paired(responses, previous.responses, (one) => String(one.statusCode)).map(([one, old]) =>
          responseOf(one, old, features),
        ),
    ),
  }
}

function requestOf(
  next: OperationRequest,
  previous: OperationRequest | undefined,
  features: Features,
): OperationRequest {
  const { headers, queryParameters, representations } = next
  return {
    ...next,
    ...set('headers', parametersOf(headers, previous?.headers, features)),
    ...set('queryParameters', parametersOf(queryParameters, previous?.queryParameters, features)),
    ...set(
      'representations',
      representationsOf(representations, previous?.representations, features),
    ),
  }
}

function responseOf(
  next: OperationResponse,
  previous: OperationResponse | undefined,
  features: Features,
): OperationResponse {
  const headers = features.wrapped
    ? parametersOf(next.headers, previous?.headers, features)
    : previous?.headers
  return {
    ...next,
    ...set('headers', headers),
    ...set(
      'representations',
      representationsOf(next.representations, previous?.representations, features),
    ),
  }
}

function representationsOf(
  next: readonly Representation[] | undefined,
  previous: readonly Representation[] | undefined,
  features: Features,
): readonly Representation[] | undefined {
  if (next === undefined) return undefined
  return paired(next, previous, (one) => one.contentType).map(([one, old]) => ({
    ...one,
    ...(features.sample ? {} : set('sample', old?.sample)),
    ...(features.examples ? {} : set('examples', old?.examples)),
    ...set('formParameters', parametersOf(one.formParameters, old?.formParameters, features)),
  }))
}

/** A parameter of another type is a different parameter, so its schema is not kept. */
function parametersOf(
  next: readonly Parameter[] | undefined,
  previous: readonly Parameter[] | undefined,
  features: Features,
): readonly Parameter[] | undefined {
  if (next === undefined || features.examples) return next
  return paired(next, previous, (one) => JSON.stringify([one.name, one.type])).map(
    ([one, old]) => ({
      ...one,
      ...set('schemaId', old?.schemaId),
      ...set('typeName', old?.typeName),
      ...set('examples', old?.examples),
    }),
  )
}

/** Each with the earlier one of the same key: the first with the first, the second with the second. */
function paired<T>(
  next: readonly T[],
  previous: readonly T[] | undefined,
  keyOf: (one: T) => string,
): readonly (readonly [T, T | undefined])[] {
  const waiting = new Map<string, T[]>()
  // Reversed, so that the first one can be taken from the end without moving the others.
  for (const one of previous?.toReversed() ?? []) {
    const key = keyOf(one)
    const known = waiting.get(key)
    if (known === undefined) waiting.set(key, [one])
    else known.push(one)
  }
  return next.map((one) => [one, waiting.get(keyOf(one))?.pop()])
}
