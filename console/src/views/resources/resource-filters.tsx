/** Filters of a list of resources. They become the API's `$filter`, which the server evaluates. */

import { Input, makeStyles, Select, tokens } from '@fluentui/react-components'
import { useEffect, useMemo } from 'react'
import { quoted } from '../../api/filter.ts'
import { useCall } from '../../api/queries.ts'
import { useRights } from '../../app/rights.ts'
import { useTypedText } from '../../components/typed-text.ts'
import { resourcesTexts } from '../../texts/resources.ts'

const useStyles = makeStyles({
  filter: {
    minWidth: '140px',
    maxWidth: '100%',
    '& input': { minWidth: `calc(${tokens.spacingHorizontalXXXL} * 2)` },
  },
})

/** A filter is applied after this many milliseconds without another key. */
const settleAfter = 250

interface Filters {
  readonly q: string
  readonly type: string
  /** `name`, or `name=value`. */
  readonly tag: string
}

/** Undefined if there is no filter. */
export function filterOf({ q, type, tag }: Filters): string | undefined {
  const [name = '', ...value] = tag.split('=')
  const terms = [
    ...(type === '' ? [] : [`resourceType eq ${quoted(type)}`]),
    ...(q === '' ? [] : [`substringof(${quoted(q)}, name)`]),
    ...(name === '' ? [] : [`tagName eq ${quoted(name)}`]),
    ...(name === '' || value.length === 0 ? [] : [`tagValue eq ${quoted(value.join('='))}`]),
  ]
  return terms.length === 0 ? undefined : terms.join(' and ')
}

/** The typed text goes to the address after a short pause. */
export function TextFilter({
  label,
  value,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}) {
  const styles = useStyles()
  const [text, setText] = useTypedText(value)
  // biome-ignore lint/correctness/useExhaustiveDependencies: it is told when what was typed changes
  useEffect(() => {
    if (text === value) return
    const timer = setTimeout(() => onChange(text), settleAfter)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Input
      className={styles.filter}
      type="search"
      aria-label={label}
      placeholder={label}
      value={text}
      onChange={(_, { value: next }) => setText(next)}
    />
  )
}

interface Provider {
  readonly namespace: string
  readonly resourceTypes: readonly {
    readonly resourceType: string
    readonly apiVersions: readonly string[]
  }[]
}

/** The types of all providers; for somebody who may not read these, the types that were seen. */
export function TypeFilter({
  subscriptionId,
  seen,
  value,
  onChange,
}: {
  readonly subscriptionId: string
  readonly seen: readonly { readonly type: string }[]
  readonly value: string
  readonly onChange: (type: string) => void
}) {
  const rights = useRights()
  const enabled = rights.may('types')
  const found = useCall('listProviders', { path: { subscriptionId } }, { enabled })
  const providers = (found.data as { readonly value: readonly Provider[] } | undefined)?.value ?? []
  const types = providers.flatMap(({ namespace, resourceTypes }) =>
    resourceTypes
      .filter(({ resourceType }) => !resourceType.includes('/') && /^[a-z]/.test(resourceType))
      .map(({ resourceType }) => `${namespace}/${resourceType}`),
  )
  const { type, anyType } = resourcesTexts
  const isByRows = rights.known && !enabled
  // A long list is looked at only where there is nothing else to choose from.
  const choices = useMemo(
    () => (isByRows ? [...new Set(seen.map((one) => one.type))].toSorted() : []),
    [isByRows, seen],
  )
  return (
    <ChoiceFilter
      label={type}
      any={anyType}
      {...{ choices: isByRows ? choices : types, value, onChange }}
    />
  )
}

/** One of the choices, or any of them (the empty value). */
export function ChoiceFilter({
  label,
  any,
  choices,
  value,
  onChange,
}: {
  readonly label: string
  readonly any: string
  readonly choices: readonly string[]
  readonly value: string
  readonly onChange: (choice: string) => void
}) {
  const styles = useStyles()
  return (
    <Select
      className={styles.filter}
      aria-label={label}
      value={value}
      onChange={(_, { value: next }) => onChange(next)}
    >
      <option value="">{any}</option>
      {choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </Select>
  )
}
