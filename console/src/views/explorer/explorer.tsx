/** The API documents, to read and to try with the person's own token. */

import {
  Badge,
  Button,
  Field,
  Input,
  makeStyles,
  mergeClasses,
  Select,
  Text,
  tokens,
} from '@fluentui/react-components'
import { useMemo } from 'react'
import { ownWords } from '../../api/place.ts'
import { useGet } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { useSubscriptions } from '../../app/subscription.ts'
import { Card } from '../../components/card.tsx'
import { Loading, Page } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { TryIt } from '../../components/try-it.tsx'
import { explorerTexts } from '../../texts/apis.ts'
import { type OpenApi, operationsOf } from './document.ts'

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM },
  columns: {
    display: 'grid',
    gridTemplateColumns: 'minmax(280px, 2fr) minmax(0, 3fr)',
    gap: tokens.spacingHorizontalL,
    alignItems: 'start',
    '@media (max-width: 900px)': { gridTemplateColumns: 'minmax(0, 1fr)' },
  },
  list: { listStyle: 'none', margin: 0, padding: 0, maxHeight: '70vh', overflowY: 'auto' },
  entry: {
    width: '100%',
    justifyContent: 'flex-start',
    textAlign: 'left',
    fontWeight: tokens.fontWeightRegular,
    gap: tokens.spacingHorizontalS,
    minWidth: 0,
  },
  here: { backgroundColor: tokens.colorNeutralBackground1Selected },
  method: { flexShrink: 0 },
  path: {
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    overflowWrap: 'anywhere',
  },
  soft: { color: tokens.colorNeutralForeground2, overflowWrap: 'anywhere' },
})

/** Opened where the address names no document: groups and what is in them. */
const usual = 'Resources/2021-04-01'

export function Explorer() {
  const styles = useStyles()
  const { document: wanted, q = '', operation } = useSearch()
  const setSearch = useSetSearch()
  const { current } = useSubscriptions()
  const documents = useGet<{ readonly value: readonly string[] }>('/openapi', {}, { live: false })
  const all = documents.data?.value ?? []
  const path = all.find((one) => one === wanted) ?? all.find((one) => one.includes(usual)) ?? all[0]
  const version =
    path
      ?.split('/')
      .at(-1)
      ?.replace(/\.json$/, '') ?? ''
  const found = useGet<OpenApi>(path ?? '', {}, { enabled: path !== undefined, live: false })
  const operations = useMemo(
    () => (found.data === undefined ? [] : operationsOf(found.data, version)),
    [found.data, version],
  )
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  const shown = operations.filter(({ key, summary }) =>
    words.every((word) => `${key} ${summary}`.toLowerCase().includes(word)),
  )
  const chosen = operations.find(({ key }) => key === operation)
  if (documents.isLoading) return <Loading />
  const failure = documents.error ?? found.error
  return (
    <Page title={explorerTexts.title} lead={explorerTexts.lead}>
      {failure !== null && <Refusal failure={failure} />}
      <div className={styles.bar}>
        <Field label={explorerTexts.document}>
          <Select
            value={path}
            onChange={(_, { value }) => setSearch({ document: value, operation: undefined })}
          >
            {all.map((one) => (
              <option key={one} value={one}>
                {one.slice('/openapi/'.length, -'.json'.length)}
              </option>
            ))}
          </Select>
        </Field>
        <Field label={explorerTexts.filter}>
          <Input
            type="search"
            value={q}
            onChange={(_, { value }) => setSearch({ q: value }, { replace: true })}
          />
        </Field>
      </div>
      <div className={styles.columns}>
        <ul className={styles.list} aria-label={explorerTexts.title}>
          {shown.map(({ key, method, path: template, summary }) => (
            <li key={key}>
              <Button
                appearance="subtle"
                className={mergeClasses(styles.entry, key === operation && styles.here)}
                aria-pressed={key === operation}
                title={template}
                onClick={() => setSearch({ operation: key })}
              >
                <Badge appearance="outline" className={styles.method}>
                  {method}
                </Badge>
                {summary}
              </Button>
            </li>
          ))}
          {shown.length === 0 && !found.isLoading && <li>{explorerTexts.none}</li>}
        </ul>
        {chosen === undefined ? (
          <Text>{explorerTexts.choose}</Text>
        ) : (
          <Card title={chosen.summary}>
            <span className={styles.path}>
              {chosen.method} {ownWords(chosen.path)}
            </span>
            {chosen.permission !== '' && (
              <Text className={styles.soft}>
                {explorerTexts.permission}: {ownWords(chosen.permission)}
              </Text>
            )}
            <TryIt
              key={`${path} ${chosen.key}`}
              method={chosen.method}
              template={ownWords(chosen.path)}
              sample={chosen.sample}
              parameters={chosen.parameters.map((one) =>
                one.name === 'subscriptionId' ? { ...one, value: current?.subscriptionId } : one,
              )}
            />
          </Card>
        )}
      </div>
    </Page>
  )
}
