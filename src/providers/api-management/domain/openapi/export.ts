/** Writes the operations of an API as an OpenAPI 3 document, with everything that `import.ts` reads. */

import { fromMembers } from '#kernel/named-members.ts'
import type { Api } from '../../resources/apis/model.ts'
import type {
  Operation,
  OperationResponse,
  Parameter,
  Representation,
} from '../../resources/operations/model.ts'
import type { ImportedOperation } from './import.ts'

type Json = Readonly<Record<string, unknown>>

export function writeOpenApi(
  api: Api,
  name: string,
  operations: readonly ImportedOperation[],
): Json {
  // Paths and methods are the caller's texts, so they are keys of a map: one may be `__proto__`.
  const paths = new Map<string, Map<string, Json>>()
  for (const { name: operationId, model } of operations) {
    // A query in the template is written only as parameters.
    const [path = '/'] = model.urlTemplate.replaceAll('{*', '{').split('?')
    const at = paths.get(path) ?? new Map<string, Json>()
    at.set(model.method.toLowerCase(), operationOf(operationId, model))
    paths.set(path, at)
  }
  return {
    openapi: '3.0.1',
    info: {
      title: api.displayName ?? name,
      ...(api.description === undefined ? {} : { description: api.description }),
      version: api.apiVersion ?? '1.0',
      ...(api.contact === undefined ? {} : { contact: api.contact }),
      ...(api.license === undefined ? {} : { license: api.license }),
    },
    ...(api.serviceUrl === undefined ? {} : { servers: [{ url: api.serviceUrl }] }),
    paths: fromMembers([...paths].map(([path, at]) => [path, fromMembers(at)])),
  }
}

function operationOf(operationId: string, model: Operation): Json {
  const { request, description, displayName, templateParameters = [] } = model
  const parameters = [
    ...templateParameters.map((one) => parameterOf('path', one)),
    ...(request?.queryParameters ?? []).map((one) => parameterOf('query', one)),
    ...(request?.headers ?? []).map((one) => parameterOf('header', one)),
  ]
  const content = contentOf(request?.representations)
  const responses = (model.responses ?? []).map(
    (one) => [String(one.statusCode), responseOf(one)] as const,
  )
  return {
    operationId,
    ...(displayName === undefined ? {} : { summary: displayName }),
    ...(description === undefined ? {} : { description }),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(content === undefined ? {} : { requestBody: { content } }),
    // The standard requires at least one.
    responses: responses.length === 0 ? { 200: { description: '' } } : fromMembers(responses),
  }
}

function responseOf({ description = '', headers = [], representations }: OperationResponse): Json {
  const content = contentOf(representations)
  const byName = headers.map(({ name, ...rest }) => {
    const { in: _place, name: _name, ...header } = parameterOf('header', { name, ...rest })
    return [name, header] as const
  })
  return {
    description,
    ...(headers.length === 0 ? {} : { headers: fromMembers(byName) }),
    ...(content === undefined ? {} : { content }),
  }
}

function parameterOf(place: 'path' | 'query' | 'header', parameter: Parameter): Json {
  const { name, required, description } = parameter
  return {
    name: name.replace(/^\*/, ''),
    in: place,
    ...(place === 'path' || required === true ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema: schemaOf(parameter),
  }
}

const simple = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])

function schemaOf({ type, defaultValue, values = [] }: Parameter): Json {
  return {
    type: simple.has(type) ? type : 'string',
    ...(defaultValue === undefined ? {} : { default: asTyped(type, defaultValue) }),
    ...(values.length === 0 ? {} : { enum: values.map((value) => asTyped(type, value)) }),
  }
}

/** Numbers and booleans are stored as text. */
function asTyped(type: string, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  const isNumber = type === 'integer' || type === 'number'
  return isNumber && text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text
}

function contentOf(representations: readonly Representation[] | undefined): Json | undefined {
  if (representations === undefined || representations.length === 0) return undefined
  return fromMembers(
    representations.map(({ contentType, sample, examples, formParameters = [] }) => {
      const properties = formParameters.map((one) => [one.name, schemaOf(one)] as const)
      const required = formParameters.filter((one) => one.required === true).map((one) => one.name)
      return [
        contentType,
        {
          ...(formParameters.length === 0
            ? {}
            : {
                schema: {
                  type: 'object',
                  properties: fromMembers(properties),
                  ...(required.length === 0 ? {} : { required }),
                },
              }),
          ...exampleOf(sample, examples),
        },
      ] as const
    }),
  )
}

function exampleOf(sample: string | undefined, examples: Representation['examples']): Json {
  if (examples !== undefined) return { examples }
  return sample === undefined ? {} : { example: sample }
}
