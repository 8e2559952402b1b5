import { Text } from '@fluentui/react-components'
import type { Rows } from '../api/queries.ts'
import { appTexts } from '../texts/app.ts'

/**
 * What stands in place of a list without rows: that it is being read, or that there is nothing. A list that was refused says
 * neither: its refusal stands elsewhere in the view.
 */
export function EmptyText({
  found: { loading, error },
  rows,
  text,
}: {
  readonly found: Pick<Rows<unknown>, 'loading' | 'error'>
  readonly rows: readonly unknown[]
  readonly text: string
}) {
  if (rows.length > 0 || error !== null) return null
  return <Text>{loading ? appTexts.loading : text}</Text>
}
