/** Hooks for views: cached answers, lists page by page, and writes that make the shown queries fetch again. */

import {
  type QueryKey,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import {
  type AnswerOf,
  type ApiFailure,
  type CallInput,
  call,
  type OperationName,
  type SendOptions,
  send,
  sendNext,
} from './client.ts'
import { useLive } from './live.ts'
import { type Fetched, paceOf } from './pace.ts'

/** The properties that every resource of a list has besides those of its document. */
export interface Envelope {
  readonly id: string
  readonly name: string
  readonly type: string
}

interface Page {
  readonly value: readonly unknown[]
  readonly nextLink?: string
  /** The business application's name of the same. */
  readonly '@odata.nextLink'?: string
  /** The directory answers a token instead of a link. */
  readonly nextSkipToken?: string
}

export type ItemOf<K extends OperationName> =
  AnswerOf<K> extends { readonly value: readonly (infer Item)[] } ? Item & Envelope : Envelope

interface Ask {
  readonly enabled?: boolean
  /** Milliseconds between two fetches, for values that change without a record. */
  readonly every?: number | false
  /** `false`: a change that the server reports does not fetch it again. */
  readonly live?: boolean
  /** Milliseconds for which another view does not fetch it again. */
  readonly keepFor?: number
  /** Fetched again while the resource says that an operation on it is running. */
  readonly untilEnded?: boolean
}

export function useCall<K extends OperationName>(name: K, input: CallInput<K>, ask: Ask = {}) {
  const every = useEvery(ask)
  return useQuery<AnswerOf<K>, ApiFailure>({
    queryKey: [name, input],
    queryFn: async ({ signal }) => (await call(name, input, signal)).body,
    enabled: ask.enabled ?? true,
    ...(ask.keepFor === undefined ? {} : { staleTime: ask.keepFor }),
    refetchInterval: (query) => everyOf(ask, every, query),
    meta: { live: ask.live },
  })
}

/** Whether a GET finds nothing. This is data: a query forgets its error while it is sent again. */
export function useIsMissing<K extends OperationName>(
  name: K,
  input: CallInput<K>,
  ask: Ask = {},
): boolean {
  const every = useEvery(ask)
  const { data = false } = useQuery<boolean, ApiFailure>({
    queryKey: ['isMissing', name, input],
    queryFn: ({ signal }) =>
      call(name, input, signal).then(
        () => false,
        (failure: ApiFailure) => {
          if (failure.status !== 404) throw failure
          return true
        },
      ),
    enabled: ask.enabled ?? true,
    refetchInterval: (query) => everyOf(ask, every, query),
    meta: { live: ask.live },
  })
  return data
}

/** How often everything is fetched again while the stream of changes is closed, in milliseconds. */
const staleEvery = 20_000

function useEvery({ every = false, live = true }: Ask): number | false {
  const stream = useLive()
  return every === false && live && !stream.live ? staleEvery : every
}

/** Milliseconds between two fetches while an operation is running. */
const lookEvery = 2_000
const ended = ['Succeeded', 'Failed', 'Canceled']

function isRunning(resource: unknown): boolean {
  const { properties } = Object(resource) as {
    readonly properties?: { provisioningState?: string }
  }
  const state = properties?.provisioningState
  return state !== undefined && !ended.includes(state)
}

function everyOf(ask: Ask, every: number | false, query: Fetched): number | false {
  const wanted = ask.untilEnded === true && isRunning(query.state.data) ? lookEvery : every
  return wanted === false ? false : paceOf(query, wanted)
}

/** A GET of a path that no document describes. */
export function useGet<T>(path: string, query: SendOptions['query'] = {}, ask: Ask = {}) {
  const every = useEvery(ask)
  return useQuery<T, ApiFailure>({
    queryKey: ['GET', path, query],
    queryFn: async ({ signal }) => (await send<T>('GET', path, { query, signal })).body,
    enabled: ask.enabled ?? true,
    ...(ask.keepFor === undefined ? {} : { staleTime: ask.keepFor }),
    refetchInterval: (query) => everyOf(ask, every, query),
    meta: { live: ask.live },
  })
}

export interface Rows<T> {
  readonly rows: readonly T[]
  readonly loading: boolean
  readonly error: ApiFailure | null
  readonly more: boolean
  /** Reads the next page. Does nothing while a page is on its way, and after one failed: views call it again at each look. */
  readonly loadMore: () => void
  /** Reads the page that failed, or where none did all of them, once more. */
  readonly reload: () => void
}

/** With the pages as they came: one that was read stays the same object when another arrives. */
export interface PagedRows<T> extends Rows<T> {
  readonly pages: readonly (readonly T[])[]
}

/** A list, page by page. `T` adds what the document leaves open. */
export function useList<K extends OperationName, T = ItemOf<K>>(
  name: K,
  input: CallInput<K>,
  ask: Ask = {},
): PagedRows<T> {
  return useLists<K, T>(name, [input], ask)
}

/** Several lists one after the other, as if they were one. */
export function useLists<K extends OperationName, T = ItemOf<K>>(
  name: K,
  inputs: readonly CallInput<K>[],
  ask: Ask = {},
): PagedRows<T> {
  return useRows<T>(
    [name, ...inputs],
    inputs.map((input) => async (signal) => (await call(name, input, signal)).body as Page),
    ask,
  )
}

/** The same for a path. */
export function useListAt<T>(
  path: string,
  query: SendOptions['query'] = {},
  ask: Ask = {},
): PagedRows<T> {
  return useRows<T>(
    ['list', path, query],
    [async (signal) => (await send<Page>('GET', path, { query, signal })).body],
    ask,
    path,
  )
}

/** Lists of several paths, one after the other. */
export function useListsAt<T>(
  paths: readonly string[],
  query: SendOptions['query'] = {},
  ask: Ask = {},
): PagedRows<T> {
  return useRows<T>(
    ['lists', ...paths, query],
    paths.map((path) => async (signal) => (await send<Page>('GET', path, { query, signal })).body),
    ask,
  )
}

/** Reads on until all is read, or as many rows as are given. */
export function useAllOf<T>(found: PagedRows<T>, rowsMax: number): PagedRows<T> {
  const { more, loading, error, rows, loadMore } = found
  const goesOn = more && error === null && rows.length < rowsMax
  // At each look: a page that is not asked for since another request is on its way is asked for after it.
  useEffect(() => {
    if (goesOn && !loading) loadMore()
  })
  return { ...found, loading: loading || goesOn }
}

/** Where a page stands: in which list, and by which link; the first of its list has none. */
interface Place {
  readonly list: number
  readonly link?: string
}

function useRows<T>(
  queryKey: QueryKey,
  firsts: readonly ((signal: AbortSignal) => Promise<Page>)[],
  ask: Ask,
  path = '',
): PagedRows<T> {
  const every = useEvery(ask)
  const found = useInfiniteQuery<Page, ApiFailure, Page[], QueryKey, Place>({
    queryKey: ['rows', ...queryKey],
    queryFn: async ({ pageParam: { list, link }, signal }) =>
      link === undefined
        ? ((await firsts[list]?.(signal)) ?? { value: [] })
        : (await sendNext<Page>(link, signal)).body,
    initialPageParam: { list: 0 },
    getNextPageParam(page, _, { list }) {
      const { nextLink, '@odata.nextLink': odata, nextSkipToken: token } = page
      const byToken =
        token === undefined ? token : `${path}?$skipToken=${encodeURIComponent(token)}`
      const link = nextLink ?? odata ?? byToken
      if (link !== undefined) return { list, link }
      return list + 1 < firsts.length ? { list: list + 1 } : undefined
    },
    select: ({ pages }) => pages,
    enabled: ask.enabled ?? true,
    refetchInterval: (query) => everyOf(ask, every, query),
    meta: { live: ask.live },
  })
  // Read while rendering, not in `loadMore` alone: else the view keeps a `loadMore` that waits for a request that is over.
  const { data, isFetching, isError, hasNextPage } = found
  const pages = useMemo(() => (data ?? []).map(({ value }) => value as readonly T[]), [data])
  const rows = useMemo(() => pages.flat(), [pages])
  return {
    rows,
    pages,
    loading: found.isLoading || found.isFetchingNextPage,
    error: found.error,
    more: hasNextPage,
    loadMore: () => {
      if (hasNextPage && !isFetching && !isError) void found.fetchNextPage()
    },
    reload: () => void (found.isFetchNextPageError ? found.fetchNextPage() : found.refetch()),
  }
}

/** What these say of what was shown holds. After any other failure it stays, and is read again. */
const gone = [401, 403, 404]

/** The failure that is shown instead; null where there is something to show. */
export function refusalOf(found: {
  readonly data: unknown
  readonly error: ApiFailure | null
}): ApiFailure | null {
  const { data, error } = found
  return data === undefined || (error !== null && gone.includes(error.status)) ? error : null
}

/** A write. After it, the queries that are shown are fetched again. */
export function useWrite<Input, Result>(run: (input: Input) => Promise<Result>) {
  const cache = useQueryClient()
  return useMutation<Result, ApiFailure, Input>({
    mutationFn: run,
    onSettled: () => cache.invalidateQueries(),
  })
}
