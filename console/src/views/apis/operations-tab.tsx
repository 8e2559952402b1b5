/** The operations of an API as documentation. An operation can be tried if this installation serves it. */

import { Badge, Button, makeStyles, Text, tokens } from '@fluentui/react-components'
import { ChevronDownRegular } from '@fluentui/react-icons/svg/chevron-down'
import { ChevronRightRegular } from '@fluentui/react-icons/svg/chevron-right'
import { apiUrl } from '../../api/place.ts'
import { type Envelope, useListAt } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { EmptyText } from '../../components/empty-text.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { quoted } from '../../components/shell.ts'
import { type Parameter, TryIt } from '../../components/try-it.tsx'
import { apiTexts } from '../../texts/apis.ts'
import type { TabProps } from '../resource/resource.tsx'

const useStyles = makeStyles({
  list: { listStyle: 'none', margin: 0, padding: 0, display: 'grid', gap: tokens.spacingVerticalS },
  head: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS, alignItems: 'center' },
  path: { fontFamily: tokens.fontFamilyMonospace, overflowWrap: 'anywhere', minWidth: 0 },
  detail: {
    borderLeft: `3px solid ${tokens.colorBrandStroke1}`,
    padding: `${tokens.spacingVerticalS} 0 ${tokens.spacingVerticalS} ${tokens.spacingHorizontalM}`,
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr)',
    gap: tokens.spacingVerticalS,
  },
  soft: { color: tokens.colorNeutralForeground2 },
})

interface ParameterEntry {
  readonly name: string
  readonly type?: string
  readonly description?: string | null
  readonly defaultValue?: string | null
  readonly required?: boolean | null
}

interface Operation extends Envelope {
  readonly properties: {
    readonly displayName: string
    readonly description?: string | null
    readonly method: string
    readonly urlTemplate: string
    readonly templateParameters?: readonly ParameterEntry[] | null
    readonly request?: {
      readonly headers?: readonly ParameterEntry[] | null
      readonly queryParameters?: readonly ParameterEntry[] | null
      readonly representations?: readonly { readonly contentType: string }[] | null
    } | null
    readonly responses?:
      | readonly { readonly statusCode: number; readonly description?: string | null }[]
      | null
  }
}

export function OperationsTab({ id, resource, version }: TabProps) {
  const styles = useStyles()
  const { operation } = useSearch()
  const setSearch = useSetSearch()
  const found = useListAt<Operation>(`${id}/operations`, { 'api-version': version })
  const { serviceUrl } = (resource.properties ?? {}) as { readonly serviceUrl?: string | null }
  if (found.error !== null && found.rows.length === 0) {
    return <Refusal failure={found.error} onRetry={found.reload} />
  }
  if (found.rows.length === 0) {
    return <EmptyText found={found} rows={found.rows} text={apiTexts.noOperations} />
  }
  return (
    <ul className={styles.list}>
      {found.rows.map((one) => {
        const open = one.name === operation
        return (
          <li key={one.id}>
            <div className={styles.head}>
              <Button
                size="small"
                appearance="subtle"
                aria-expanded={open}
                aria-label={one.properties.displayName}
                icon={open ? <ChevronDownRegular /> : <ChevronRightRegular />}
                onClick={() => setSearch({ operation: open ? undefined : one.name })}
              />
              <Badge appearance="outline">{one.properties.method}</Badge>
              <Text weight="semibold">{one.properties.displayName}</Text>
              <span className={styles.path}>{one.properties.urlTemplate}</span>
            </div>
            {open && <Detail operation={one} serviceUrl={serviceUrl ?? ''} />}
          </li>
        )
      })}
    </ul>
  )
}

function Detail({
  operation,
  serviceUrl,
}: {
  readonly operation: Operation
  readonly serviceUrl: string
}) {
  const styles = useStyles()
  const { method, urlTemplate, description, templateParameters, request, responses } =
    operation.properties
  const parameters = [
    ...of('path', templateParameters),
    ...of('query', request?.queryParameters),
    ...of('header', request?.headers),
  ]
  const root = apiUrl('/')
  const base = URL.parse(serviceUrl)
  const isOurs = base?.href.startsWith(root.href) === true
  const takesBody = (request?.representations ?? []).length > 0
  // A template may contain a query.
  const [template = ''] = urlTemplate.split('?')
  return (
    <div className={styles.detail}>
      {/* Its text, whatever marks stand in it. */}
      {description !== undefined && description !== null && (
        <Text>{new DOMParser().parseFromString(description, 'text/html').body.textContent}</Text>
      )}
      {(responses ?? []).length > 0 && (
        <Text className={styles.soft}>
          {apiTexts.answers}:{' '}
          {(responses ?? [])
            .map((one) => [one.statusCode, one.description].filter(Boolean).join(' '))
            .join(' · ')}
        </Text>
      )}
      {isOurs ? (
        <TryIt
          method={method}
          template={`/${base.pathname.slice(root.pathname.length).replace(/\/$/, '')}${template}`}
          parameters={parameters}
          sample={takesBody ? {} : undefined}
          isWrittenByOthers
        />
      ) : (
        <>
          <Text className={styles.soft}>
            {parameters
              .map(
                (one) => `${one.name} (${one.in}${one.required ? `, ${apiTexts.required}` : ''})`,
              )
              .join(' · ')}
          </Text>
          <Text>{apiTexts.notHere}</Text>
          <CodeBlock
            label="curl"
            text={`curl -sS -X ${quoted(method)} ${quoted(serviceUrl.replace(/\/$/, '') + urlTemplate)}${takesBody ? ` \\\n  -H 'Content-Type: application/json' -d '{}'` : ''}`}
          />
        </>
      )}
    </div>
  )
}

function of(
  where: Parameter['in'],
  entries: readonly ParameterEntry[] | null | undefined,
): readonly Parameter[] {
  return (entries ?? []).map(({ name, required, description, defaultValue }) => ({
    name,
    in: where,
    required: required === true || where === 'path',
    description: description ?? undefined,
    value: defaultValue ?? undefined,
  }))
}
