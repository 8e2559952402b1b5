/** The body that a write of a type takes, from the OpenAPI document of its version. */

import { useQuery } from '@tanstack/react-query'
import { type ApiFailure, send } from '../../api/client.ts'
import { ownWords } from '../../api/place.ts'
import type { Schema } from '../../components/schema.ts'

interface Document {
  readonly paths: Readonly<Record<string, { readonly put?: Put }>>
}

interface Put {
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>
  }
  readonly responses?: Readonly<Record<string, unknown>>
}

export interface WriteBody {
  /** Undefined if the type cannot be written directly. */
  readonly schema: Schema | undefined
}

const text: Schema = { type: 'string' }
const envelope = { location: text, tags: { type: 'object', additionalProperties: text } } as const

export function useBody(type: string, version: string) {
  return useQuery<WriteBody, ApiFailure>({
    queryKey: ['body', type, version],
    queryFn: async () => {
      const [namespace = ''] = type.split('/')
      const path = `/openapi/${namespace}/${version}.json`
      return { schema: bodyIn((await send<Document>('GET', path)).body, type) }
    },
    enabled: type !== '' && version !== '',
    staleTime: Number.POSITIVE_INFINITY,
    meta: { live: false },
  })
}

function bodyIn({ paths }: Document, type: string): Schema | undefined {
  const found = Object.entries(paths).find(
    ([path, { put }]) => put !== undefined && typeOfPath(path) === type.toLowerCase(),
  )
  const put = found?.[1].put
  const schema = put?.requestBody?.content?.['application/json']?.schema
  if (put === undefined || schema === undefined) return undefined
  const isTracked = JSON.stringify(put.responses ?? {}).includes('/TrackedResource"')
  if (!isTracked) return schema
  return {
    ...schema,
    properties: { ...envelope, ...schema.properties },
    required: [...new Set(['location', ...(schema.required ?? [])])],
  }
}

/** `…/providers/Vendor.X/things/{thing}` → `vendor.x/things`. */
function typeOfPath(path: string): string | undefined {
  const whole = ownWords(path)
  const at = whole.lastIndexOf('/providers/')
  if (at < 0) return undefined
  const [namespace, ...words] = whole.slice(at + '/providers/'.length).split('/')
  if (words.length % 2 !== 0) return undefined
  return [namespace, ...words.filter((_, index) => index % 2 === 0)].join('/').toLowerCase()
}
