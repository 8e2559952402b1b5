/** Where one looks: everything, a management group, or a subscription. Not there where there is nothing to choose. */

import { Select } from '@fluentui/react-components'
import { appTexts } from '../texts/app.ts'
import { everywhere } from './scopes.ts'
import { useScopes } from './subscription.ts'

/** As wide as a letter; blanks at the beginning of a choice are not shown. */
const indent = '\u2003'

export function ScopePicker({ className }: { readonly className: string | undefined }) {
  const { scopes, chosen, choose } = useScopes()
  if (scopes.length < 2) return null
  return (
    <Select
      className={className}
      aria-label={appTexts.scope}
      value={chosen}
      onChange={(_, { value }) => choose(value)}
    >
      {scopes.map(({ id, name, level }) => (
        <option key={id} value={id}>
          {indent.repeat(Math.max(level - 1, 0))}
          {id === everywhere ? appTexts.everywhere : name}
        </option>
      ))}
    </Select>
  )
}
