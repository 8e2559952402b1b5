/**
 * Swagger 2 documents as OpenAPI 3 ones, and back, as far as operations keep what they say. Pure; references within a
 * Swagger document are followed by its source, which bounds them.
 */

import { fromMembers } from '#kernel/named-members.ts'
import { type DocumentSource, listOf, objectOf } from './document-source.ts'

type Json = Readonly<Record<string, unknown>>

const form = 'application/x-www-form-urlencoded'
const multipart = 'multipart/form-data'
/** What a parameter says of its values itself in Swagger 2, and in its schema since OpenAPI 3. */
const ofSchema = ['type', 'default', 'enum', 'format', 'items'] as const

export function isSwagger(document: Json): boolean {
  return document['swagger'] === '2.0'
}

/** The address of the API, if the document names a host. */
export function serverOfSwagger({ host, basePath, schemes: given }: Json): string | undefined {
  const schemes = texts(given)
  const scheme = schemes.includes('http') && !schemes.includes('https') ? 'http' : 'https'
  const path = typeof basePath === 'string' ? basePath : ''
  return typeof host === 'string' ? `${scheme}://${host}${path}` : undefined
}

/** An operation as in OpenAPI 3, with the parameters of its path: what of it is kept, and no schemas. Counted by its source. */
export function fromSwagger(
  source: DocumentSource,
  document: Json,
  { shared, own }: { readonly shared: Json; readonly own: Json },
): Json {
  if (source.isSpent) return {}
  const given = [...listOf(shared['parameters']), ...listOf(own['parameters'])].map((one) =>
    source.resolved(one),
  )
  const body = given.findLast((one) => one['in'] === 'body')
  const fields = given.filter((one) => one['in'] === 'formData')
  const consumes = texts(own['consumes'] ?? document['consumes'])
  const produces = texts(own['produces'] ?? document['produces'])
  const requestBody =
    body === undefined ? formOf(fields, consumes) : bodyOf(source, body, orJson(consumes))
  const responses = source
    .entries(objectOf(own['responses']))
    .map(
      ([status, one]) =>
        [status, responseOf(source, source.resolved(one), orJson(produces))] as const,
    )
  const parameters = given.filter(({ in: place }) => place !== 'body' && place !== 'formData')
  return {
    ...only(own, ['operationId', 'summary', 'description']),
    parameters: parameters.map((one) => ({
      ...only(one, ['name', 'in', 'required', 'description']),
      schema: only(one, ofSchema),
    })),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: fromMembers(responses),
  }
}

function bodyOf(source: DocumentSource, body: Json, types: readonly string[]): Json {
  const { example } = source.resolved(body['schema'])
  const media = example === undefined ? {} : { example }
  const content = fromMembers(types.map((type) => [type, media]))
  return { ...only(body, ['description']), content }
}

function formOf(fields: readonly Json[], consumes: readonly string[]): Json | undefined {
  if (fields.length === 0) return undefined
  const files = fields.some((one) => one['type'] === 'file')
  const types = consumes.filter((type) => type.startsWith(form) || type.startsWith(multipart))
  const properties = fields.map(
    (one) => [String(one['name']), only(one, [...ofSchema, 'description'])] as const,
  )
  const required = fields.flatMap((one) => (one['required'] === true ? [String(one['name'])] : []))
  const schema = { type: 'object', properties: fromMembers(properties), required }
  const names = types.length > 0 ? types : [files ? multipart : form]
  return { content: fromMembers(names.map((type) => [type, { schema }])) }
}

function responseOf(source: DocumentSource, given: Json, produces: readonly string[]): Json {
  if (source.isSpent) return {}
  const examples = objectOf(given['examples'])
  const types = new Set([
    ...(given['schema'] === undefined ? [] : produces),
    ...Object.keys(examples),
  ])
  source.spendElements(types.size)
  const { example } = source.resolved(given['schema'])
  const content = [...types].map((type) => {
    const one = Object.hasOwn(examples, type) ? examples[type] : example
    return [type, one === undefined ? {} : { example: one }] as const
  })
  const headers = source.entries(objectOf(given['headers'])).map(([name, header]) => {
    const one = objectOf(header)
    return [name, { ...only(one, ['description']), schema: only(one, ofSchema) }] as const
  })
  return {
    ...only(given, ['description']),
    headers: fromMembers(headers),
    content: fromMembers(content),
  }
}

/** Of a document that `export.ts` wrote, which has no references. */
export function toSwagger(document: Json): Json {
  const [server] = listOf(document['servers'])
  const url = objectOf(server)['url']
  const items = Object.entries(objectOf(document['paths'])).map(([at, item]) => {
    const operations = Object.entries(objectOf(item)).map(
      ([method, one]) => [method, downgraded(objectOf(one))] as const,
    )
    return [at, fromMembers(operations)] as const
  })
  return {
    swagger: '2.0',
    info: document['info'],
    ...(typeof url === 'string' ? addressOf(url) : {}),
    paths: fromMembers(items),
  }
}

function addressOf(text: string): Json {
  if (!URL.canParse(text)) return {}
  const { protocol, host, pathname } = new URL(text)
  const path = pathname === '/' ? {} : { basePath: pathname }
  return { host, ...path, schemes: [protocol.slice(0, -1)] }
}

function downgraded(own: Json): Json {
  const content = objectOf(objectOf(own['requestBody'])['content'])
  const consumes = Object.keys(content)
  const responses = Object.entries(objectOf(own['responses'])).map(
    ([status, one]) => [status, downgradedResponse(objectOf(one))] as const,
  )
  const produces = new Set(
    Object.values(objectOf(own['responses'])).flatMap((one) =>
      Object.keys(objectOf(objectOf(one)['content'])),
    ),
  )
  const parameters = [
    ...listOf(own['parameters']).map((one) => {
      const { schema, ...parameter } = objectOf(one)
      return { ...parameter, ...objectOf(schema) }
    }),
    ...bodyParametersOf(content),
  ]
  return {
    ...only(own, ['operationId', 'summary', 'description']),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(consumes.length === 0 ? {} : { consumes }),
    ...(produces.size === 0 ? {} : { produces: [...produces] }),
    responses: fromMembers(responses),
  }
}

/** Fields where a content has some; Swagger 2 has either these or one body. */
function bodyParametersOf(content: Json): readonly Json[] {
  const all = Object.values(content).map(objectOf)
  if (all.length === 0) return []
  const fields = all.map(({ schema }) => objectOf(schema)).find((schema) => 'properties' in schema)
  if (fields === undefined) {
    const example = all.map(sampleOf).find((one) => one !== undefined)
    const schema = example === undefined ? {} : { example }
    return [{ name: 'body', in: 'body', schema }]
  }
  const required = new Set(listOf(fields['required']))
  return Object.entries(objectOf(fields['properties'])).map(([name, schema]) => ({
    name,
    in: 'formData',
    ...(required.has(name) ? { required: true } : {}),
    ...objectOf(schema),
  }))
}

function downgradedResponse(given: Json): Json {
  const headers = Object.entries(objectOf(given['headers'])).map(([name, header]) => {
    const { description, schema } = objectOf(header)
    const said = description === undefined ? {} : { description }
    return [name, { ...said, ...objectOf(schema) }] as const
  })
  const contents = Object.entries(objectOf(given['content']))
  const examples = contents.flatMap(([type, media]) => {
    const one = sampleOf(objectOf(media))
    return one === undefined ? [] : [[type, one] as const]
  })
  return {
    description: given['description'] ?? '',
    ...(headers.length === 0 ? {} : { headers: fromMembers(headers) }),
    ...(contents.length === 0 ? {} : { schema: {} }),
    ...(examples.length === 0 ? {} : { examples: fromMembers(examples) }),
  }
}

/** Swagger 2 has one example for each type of content. */
function sampleOf({ example, examples }: Json): unknown {
  if (example !== undefined) return example
  return objectOf(Object.values(objectOf(examples))[0])['value']
}

function only(holder: Json, names: readonly string[]): Json {
  return fromMembers(
    names.flatMap((name) => (Object.hasOwn(holder, name) ? [[name, holder[name]]] : [])),
  )
}

function texts(value: unknown): readonly string[] {
  return listOf(value).filter((one) => typeof one === 'string')
}

function orJson(types: readonly string[]): readonly string[] {
  return types.length === 0 ? ['application/json'] : types
}
