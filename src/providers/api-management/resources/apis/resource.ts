/** APIs of a service or a workspace. They are definitions only: nothing answers at their paths. */

import { refuse } from '#kernel/error.ts'
import { childOf, nameOf, parentOf, type ResourceId } from '#kernel/resource-id.ts'
import { qualify } from '#kernel/vendor.ts'
import type { GetContext } from '#plane/declare/computed.ts'
import type { ResourceType } from '#plane/declare/provider.ts'
import type { Context, Reader, Resource } from '#plane/declare/resource.ts'
import { type DeletionContext, defineStored } from '#plane/declare/stored.ts'
import { nextTurn } from '#plane/next-turn.ts'
import { countedList, countedQuery } from '../../domain/counted-list.ts'
import { deletesAlongOrNone } from '../../domain/deleted-along.ts'
import { idRule, revisionOf } from '../../domain/names.ts'
import { createDocumentReader, type DocumentReader } from '../../domain/openapi/document-reader.ts'
import { charactersMax } from '../../domain/openapi/document-source.ts'
import { writeOpenApi } from '../../domain/openapi/export.ts'
import type { ImportedOperation } from '../../domain/openapi/import.ts'
import { toSwagger } from '../../domain/openapi/swagger.ts'
import { allNumberedRevisions, currentRevisionOf } from '../../domain/revisions.ts'
import { refuseFields } from '../../errors.ts'
import { allDates, workspaceDates } from '../../published-versions.ts'
import type { Definition } from '../definitions/model.ts'
import type { Operation } from '../operations/model.ts'
import { type Api, versionSetIdOf } from './model.ts'
import { type ApiBody, api } from './versions/2016-07-07.ts'

type Stored = Resource<Api>

export function apis(): readonly ResourceType[] {
  const documents = createDocumentReader()
  return [
    apiType('ApiManagement/service/apis', allDates, documents),
    apiType('ApiManagement/service/workspaces/apis', workspaceDates, documents),
  ]
}

interface PreparedApi extends ApiBody {
  readonly imported?: readonly ImportedOperation[]
}

/** What a document says of the API stands where the body leaves it out. */
async function withDocument(
  documents: DocumentReader,
  { principal, signal }: Context,
  given: PreparedApi,
): Promise<PreparedApi> {
  const { format, value, ...own } = given.properties
  if (format === undefined || value === undefined) return given
  const found = await documents.read(value, principal.id, () => signal)
  if (typeof found === 'string') {
    throw refuseFields([{ path: 'properties.value', message: found }])
  }
  const { title, description, serviceUrl, operations } = found
  const properties = {
    ...(title === undefined ? {} : { displayName: title }),
    ...(description === undefined ? {} : { description }),
    ...(serviceUrl === undefined ? {} : { serviceUrl }),
    ...own,
  }
  return { ...given, properties, imported: operations }
}

/** What a new API has of the one that it is made of, where the body leaves it out. */
const ofSource = [
  'displayName',
  'description',
  'serviceUrl',
  'protocols',
  'subscriptionRequired',
  'subscriptionKeyParameterNames',
  'type',
  'authenticationSettings',
  'contact',
  'license',
  'termsOfServiceUrl',
] as const

/** A new API may be made of another one of its service (`sourceApiId`), whose operations come along. */
async function withSource(
  type: string,
  { id, reader, may }: Context & { readonly id: ResourceId },
  given: ApiBody,
): Promise<PreparedApi> {
  const { sourceApiId, ...own } = given.properties
  if (typeof sourceApiId !== 'string') return given
  const at = childOf(parentOf(id), 'apis', sourceApiId.replace(/^.*\/apis\//i, ''))
  if ((await reader.get(id)) !== undefined) return { ...given, notCopied: id.text }
  for (const action of [`${type}/read`, `${type}/operations/read`]) {
    if (!(await may(action, at))) return given
  }
  const source = await reader.get(at)
  if (source === undefined) return given
  // A row of this type, made by its `toModel`.
  const model = source.model as Api
  const known = Object.fromEntries(ofSource.map((name) => [name, model[name]]))
  const written = Object.entries(own).filter(([, value]) => value !== null)
  const properties = {
    ...known,
    ...Object.fromEntries(written),
    sourceApiId,
  } as ApiBody['properties']
  return { ...given, properties, imported: await operationsBelow(type, reader, at) }
}

/** A name that says a revision says it for a body that does not. */
function withRevision(id: ResourceId, given: PreparedApi): PreparedApi {
  const apiRevision = given.properties.apiRevision ?? revisionOf(id)
  return apiRevision === undefined
    ? given
    : { ...given, properties: { ...given.properties, apiRevision } }
}

const operationsMax = 2000

async function operationsBelow(
  type: string,
  reader: Reader,
  under: ResourceId,
): Promise<readonly ImportedOperation[]> {
  const operations: ImportedOperation[] = []
  let left = charactersMax
  for await (const row of reader.each({
    type: `${type}/operations`,
    under,
    limit: operationsMax + 1,
  })) {
    left -= JSON.stringify(row.model).length
    if (left < 0 || operations.length >= operationsMax) {
      const message = `there are more than ${operationsMax} operations, or ${charactersMax} characters of them: read them one by one`
      throw refuseFields([{ path: 'export', message }])
    }
    // Rows of this type were made by its `toModel`, or of a document.
    operations.push({ name: nameOf(row.id), model: row.model as Operation })
  }
  return operations
}

/** `GET …?export=true&format=…`: the document, or a link that holds it. */
async function exported(
  type: string,
  { id, query, reader, may, principal, words }: GetContext,
): Promise<object | undefined> {
  if (query.get('export')?.toLowerCase() !== 'true') return undefined
  const wanted = (query.get('format') ?? 'openapi+json').toLowerCase()
  const format = exportFormats.get(wanted)
  if (format === undefined) {
    const message = `expected ${[...exportFormats.keys()].join(', ')}`
    throw refuseFields([{ path: 'format', message }])
  }
  const stored = await reader.get(id)
  if (stored === undefined) return undefined
  // It shows the same as the list of operations.
  const action = `${type}/operations/read`
  if (!(await may(action, id))) {
    throw refuse.AuthorizationFailed({
      client: principal.displayName,
      principalId: principal.id,
      action: qualify(words, action),
      scope: id.text,
    })
  }
  const operations = await operationsBelow(type, reader, id)
  await nextTurn()
  const document = writeOpenApi(stored.model as Api, nameOf(id), operations)
  const value = format.startsWith('swagger') ? toSwagger(document) : document
  if (!format.includes('-link')) return { id: id.text, format, value }
  const link = `data:application/json;base64,${Buffer.from(JSON.stringify(value)).toString('base64')}`
  await nextTurn()
  // Published libraries read the link at the top, the published command line below `properties`.
  const shown = { format, value: { link } }
  return { id: id.text, name: nameOf(id), type: qualify(words, type), ...shown, properties: shown }
}

/** The version set that the API belongs to, where it is one of the same service. */
async function versionSetOf({
  id,
  reader,
}: Context & { readonly id: ResourceId }): Promise<object> {
  const found = await reader.get(id)
  const at = versionSetIdOf(id, (found?.model ?? {}) as Partial<Api>)
  const set = at && (await reader.get(at))
  if (set === undefined) return {}
  // A definition, as its own shape makes it.
  const { displayName, ...shown } = set.model as Definition
  return { apiVersionSet: { id: set.id.text, name: displayName, ...shown } }
}

/** The current one comes last: while it is there, the others belong to an API. */
async function* otherRevisions(
  type: string,
  { id, reader }: DeletionContext,
): AsyncGenerator<ResourceId> {
  const current = currentRevisionOf(id)
  for await (const one of allNumberedRevisions(reader, type, current)) {
    if (one.id.key !== id.key) yield one.id
  }
  if (id.key !== current.key && (await reader.get(current)) !== undefined) yield current
}

const currentStays =
  'Cannot delete the current revision of an API: delete the others before it, or all of them with deleteRevisions=true'

/** By what clients ask for: what the answer calls it. */
const exportFormats: ReadonlyMap<string, string> = new Map([
  ...['openapi', 'openapi+json', 'openapi-link', 'openapi+json-link'].map(
    (one) => [one, one] as const,
  ),
  ['swagger', 'swagger-json'],
  ['swagger-json', 'swagger-json'],
  ['swagger-link', 'swagger-link-json'],
  ['swagger-link-json', 'swagger-link-json'],
])

function apiType(type: string, dates: readonly string[], documents: DocumentReader): ResourceType {
  return defineStored<Api>({
    type,
    description: 'An API: its path, its backend, its revision, and the operations below it.',
    scope: 'resource-group',
    query: { ...countedQuery, get: ['export', 'format'], delete: ['deleteRevisions'] },
    name: idRule(256),
    movable: true,
    versions: dates.map(api),
    prepare: async (context, given: ApiBody) => {
      const sourced = await withSource(type, context, given)
      return withRevision(context.id, await withDocument(documents, context, sourced))
    },
    declaredChildren: ({ imported }: PreparedApi) =>
      imported === undefined ? undefined : { type: `${type}/operations`, items: imported },
    source: { get: (context) => exported(type, context) },
    onlyPutShows: versionSetOf,
    protocol: { headStatus: 200, ifMatchRequired: ['patch'], anyMatchCreates: true },
    async rules({ id, desired, reader }) {
      // Read so that it is locked: its deletion looks for APIs that belong to it.
      const set = versionSetIdOf(id, desired)
      if (set !== undefined) await reader.get(set)
      const named = revisionOf(id)
      // So is the current one: its deletion looks for others.
      if (named !== undefined) await reader.get(currentRevisionOf(id))
      return named === undefined || named === desired.apiRevision
        ? []
        : [
            {
              path: 'properties.apiRevision',
              message: `contradicts the name, which says revision '${named}'`,
            },
          ]
    },
    ...deletesAlongOrNone({
      type,
      parameter: 'deleteRevisions',
      // Whichever of them is named, it means the whole API.
      find: (deletion) => otherRevisions(type, deletion),
      isOne: ({ id }, found) => currentRevisionOf(found.id).key === currentRevisionOf(id).key,
      async isAnyLeft(deletion) {
        for await (const _one of otherRevisions(type, deletion)) return true
        return false
      },
      whyNot: (id) => (revisionOf(id) === undefined ? currentStays : undefined),
    }),
    list: {
      page: countedList<Api>(type, {
        name: { type: 'string', read: ({ id }: Stored) => nameOf(id), ignoreCase: true },
        displayName: { type: 'string', read: ({ id, model }) => model.displayName ?? nameOf(id) },
        description: { type: 'string', read: ({ model }) => model.description },
        serviceUrl: { type: 'string', read: ({ model }) => model.serviceUrl },
        path: { type: 'string', read: ({ model }) => model.path },
        isCurrent: { type: 'boolean', read: ({ id }) => revisionOf(id) === undefined },
      }),
    },
    sample: {
      name: (seed) => `pets-${seed}`,
      body: (seed) => ({
        properties: { displayName: 'Pets', path: `pets-${seed}`, protocols: ['https'] },
      }),
      changed: (seed) => ({
        properties: { displayName: 'Animals', path: `pets-${seed}`, protocols: ['https'] },
      }),
    },
  })
}
