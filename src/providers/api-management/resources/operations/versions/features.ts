/**
 * The features of a version (contract, API operation definition). `restrict` removes from a definition what the
 * version lacks, in both directions: from a body that is written, and from a stored one that is shown.
 */

import type {
  Examples,
  Operation,
  OperationRequest,
  OperationResponse,
  Parameter,
  ParameterExample,
  Representation,
} from '../model.ts'

export interface Features {
  /** Fields are in `properties`, and there are `displayName`, `policies` and headers of responses. */
  readonly wrapped: boolean
  /** Representations have `sample`. */
  readonly sample: boolean
  /** There are `examples`, and parameters have `schemaId` and `typeName`. */
  readonly examples: boolean
}

/** The type of a body: every optional member may be null, which means left out. */
export type Loose<T> = T extends readonly (infer E)[]
  ? readonly Loose<E>[]
  : T extends object
    ? {
        readonly [K in keyof T]: undefined extends T[K]
          ? Loose<T[K]> | null | undefined
          : Loose<T[K]>
      }
    : T

/** Keeps only what the version has and the schema knows. */
export function restrict(given: Loose<Operation>, features: Features): Operation {
  const { displayName, policies, templateParameters, request, responses } = given
  return {
    ...set('displayName', features.wrapped ? displayName : undefined),
    ...set('description', given.description),
    method: given.method,
    urlTemplate: given.urlTemplate,
    ...set('policies', features.wrapped ? policies : undefined),
    ...set(
      'templateParameters',
      templateParameters?.map((one) => parameter(one, features)),
    ),
    ...set('request', request == null ? undefined : requestOf(request, features)),
    ...set(
      'responses',
      responses?.map((one) => responseOf(one, features)),
    ),
  }
}

function requestOf(given: Loose<OperationRequest>, features: Features): OperationRequest {
  return {
    ...set('description', given.description),
    ...set(
      'headers',
      given.headers?.map((one) => parameter(one, features)),
    ),
    ...set(
      'queryParameters',
      given.queryParameters?.map((one) => parameter(one, features)),
    ),
    ...set(
      'representations',
      given.representations?.map((one) => representation(one, features)),
    ),
  }
}

function responseOf(given: Loose<OperationResponse>, features: Features): OperationResponse {
  const headers = features.wrapped ? given.headers : undefined
  return {
    statusCode: given.statusCode,
    ...set('description', given.description),
    ...set(
      'headers',
      headers?.map((one) => parameter(one, features)),
    ),
    ...set(
      'representations',
      given.representations?.map((one) => representation(one, features)),
    ),
  }
}

function representation(given: Loose<Representation>, features: Features): Representation {
  return {
    contentType: given.contentType,
    ...set('sample', features.sample ? given.sample : undefined),
    ...set(
      'formParameters',
      given.formParameters?.map((one) => parameter(one, features)),
    ),
    ...set('schemaId', given.schemaId),
    ...set('typeName', given.typeName),
    ...set('examples', features.examples ? examplesOf(given.examples) : undefined),
  }
}

function parameter(given: Loose<Parameter>, features: Features): Parameter {
  return {
    name: given.name,
    type: given.type,
    ...set('description', given.description),
    ...set('defaultValue', given.defaultValue),
    ...set('required', given.required),
    ...set('values', given.values),
    ...set('schemaId', features.examples ? given.schemaId : undefined),
    ...set('typeName', features.examples ? given.typeName : undefined),
    ...set('examples', features.examples ? examplesOf(given.examples) : undefined),
  }
}

function examplesOf(given: Loose<Examples> | null | undefined): Examples | undefined {
  if (given == null) return undefined
  // Names of examples are data: `fromEntries` makes them members whatever they are called.
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, exampleOf(one)]))
}

function exampleOf(given: Loose<ParameterExample>): ParameterExample {
  return {
    ...set('summary', given.summary),
    ...set('description', given.description),
    ...set('externalValue', given.externalValue),
    // Any JSON value is valid, null included.
    ...(given.value === undefined ? {} : { value: given.value }),
  }
}

/** The member, if it has a value. */
export function set<K extends string, V>(
  name: K,
  value: V | null | undefined,
): { readonly [P in K]?: V } {
  // Either one member of the name K, whose value was just checked, or none.
  return (value == null ? {} : { [name]: value }) as { readonly [P in K]?: V }
}
