/**
 * The features of a version (contract, API operation definition). `restrict` removes from a definition what the
 * version lacks, in both directions: from a body that is written, and from a stored one that is shown.
 */

import { fromMembers } from '#kernel/named-members.ts'
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

/**
 * Keeps only what the version has and the schema knows. Each member is stored by its name: every write and every answer
 * of an operation comes through here, and objects put together from others take several times as long.
 */
export function restrict(given: Loose<Operation>, features: Features): Operation {
  const { displayName, description, policies, templateParameters, request, responses } = given
  const made: Partial<Writable<Operation>> = {}
  if (features.wrapped && displayName != null) made.displayName = displayName
  if (description != null) made.description = description
  made.method = given.method
  made.urlTemplate = given.urlTemplate
  if (features.wrapped && policies != null) made.policies = policies
  if (templateParameters != null)
    made.templateParameters = parametersOf(templateParameters, features)
  if (request != null) made.request = requestOf(request, features)
  if (responses != null) made.responses = responses.map((one) => responseOf(one, features))
  // The members that an operation must have are stored above.
  return made as Operation
}

type Writable<T> = { -readonly [K in keyof T]: T[K] }

function requestOf(given: Loose<OperationRequest>, features: Features): OperationRequest {
  const { description, headers, queryParameters, representations } = given
  const made: Writable<OperationRequest> = {}
  if (description != null) made.description = description
  if (headers != null) made.headers = parametersOf(headers, features)
  if (queryParameters != null) made.queryParameters = parametersOf(queryParameters, features)
  if (representations != null) {
    made.representations = representations.map((one) => representation(one, features))
  }
  return made
}

function responseOf(given: Loose<OperationResponse>, features: Features): OperationResponse {
  const { statusCode, description, headers, representations } = given
  const made: Writable<OperationResponse> = { statusCode }
  if (description != null) made.description = description
  if (features.wrapped && headers != null) made.headers = parametersOf(headers, features)
  if (representations != null) {
    made.representations = representations.map((one) => representation(one, features))
  }
  return made
}

function representation(given: Loose<Representation>, features: Features): Representation {
  const { contentType, sample, formParameters, schemaId, typeName } = given
  const made: Writable<Representation> = { contentType }
  if (features.sample && sample != null) made.sample = sample
  if (formParameters != null) made.formParameters = parametersOf(formParameters, features)
  if (schemaId != null) made.schemaId = schemaId
  if (typeName != null) made.typeName = typeName
  const examples = features.examples ? examplesOf(given.examples) : undefined
  if (examples !== undefined) made.examples = examples
  return made
}

function parametersOf(
  given: readonly Loose<Parameter>[],
  features: Features,
): readonly Parameter[] {
  return given.map((one) => parameter(one, features))
}

function parameter(given: Loose<Parameter>, features: Features): Parameter {
  const { name, type, description, defaultValue, required, values } = given
  const made: Writable<Parameter> = { name, type }
  if (description != null) made.description = description
  if (defaultValue != null) made.defaultValue = defaultValue
  if (required != null) made.required = required
  if (values != null) made.values = values
  if (!features.examples) return made
  const { schemaId, typeName } = given
  if (schemaId != null) made.schemaId = schemaId
  if (typeName != null) made.typeName = typeName
  const examples = examplesOf(given.examples)
  if (examples !== undefined) made.examples = examples
  return made
}

function examplesOf(given: Loose<Examples> | null | undefined): Examples | undefined {
  if (given == null) return undefined
  // Names of examples are data.
  return fromMembers(Object.entries(given).map(([name, one]) => [name, exampleOf(one)]))
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
