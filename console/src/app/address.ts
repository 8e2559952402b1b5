/** The query of the address. Every state of a view that somebody may want to share is kept there. */

import { useLocation, useRouter } from '@tanstack/react-router'
import { useGo } from '../components/app-link.tsx'

export function useSearch(): Readonly<Record<string, string | undefined>> {
  return useLocation().search as Readonly<Record<string, string | undefined>>
}

/**
 * Changes parameters of the query; `undefined` removes one. Each change adds an entry to the history unless
 * `replace` is given. Changes are applied to the current address, so two at the same moment both count.
 */
export function useSetSearch() {
  const go = useGo()
  const { history } = useRouter()
  const { path } = useHere()
  return (
    changes: Readonly<Record<string, string | undefined>>,
    how?: { readonly replace: boolean },
  ): void => {
    const search = Object.fromEntries(new URLSearchParams(history.location.search))
    const merged = Object.entries({ ...search, ...changes })
    const given = merged.filter(([, value]) => value !== undefined && value !== '')
    const text = new URLSearchParams(given as [string, string][]).toString()
    // Nothing changes: another entry would make the way back one step longer.
    if (text === new URLSearchParams(Object.entries(search)).toString()) return
    go(`${path}${text === '' ? '' : `?${text}`}`, how)
  }
}

/** The order of a table in the address, as its properties `order` and `onOrder`. */
export function useOrder(key = 'order') {
  const { [key]: order = '' } = useSearch()
  const setSearch = useSetSearch()
  return { order, onOrder: (next: string) => setSearch({ [key]: next }) }
}

/** The current address below `/console`. */
export function useHere() {
  const { pathname, search } = useLocation()
  return { path: pathname, search: search as Readonly<Record<string, string | undefined>> }
}
