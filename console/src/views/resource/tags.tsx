/** The tags of a resource, saved together. */

import { Button, Input, makeStyles, Text, tokens } from '@fluentui/react-components'
import { DismissRegular } from '@fluentui/react-icons/svg/dismiss'
import { useState } from 'react'
import { type BodyOf, call } from '../../api/client.ts'
import { useWrite } from '../../api/queries.ts'
import { Refusal } from '../../components/refusal.tsx'
import { resourceTexts } from '../../texts/resources.ts'
import type { TabProps } from './resource.tsx'

const useStyles = makeStyles({
  rows: { display: 'grid', gap: tokens.spacingVerticalS, justifyItems: 'start' },
  row: { display: 'flex', gap: tokens.spacingHorizontalS, flexWrap: 'wrap' },
})

interface Row {
  readonly key: number
  readonly name: string
  readonly value: string
}

export function Tags({ id, resource }: TabProps) {
  const styles = useStyles()
  const [rows, setRows] = useState<readonly Row[]>(() =>
    Object.entries(resource.tags ?? {}).map(([name, value], key) => ({ key, name, value })),
  )
  const write = useWrite((body: BodyOf<'putTags'>) =>
    call('putTags', { path: { scope: id, tagName: 'default' }, body }),
  )
  const change = (key: number, part: Partial<Row>): void =>
    setRows(rows.map((row) => (row.key === key ? { ...row, ...part } : row)))
  return (
    <div className={styles.rows}>
      {rows.length === 0 && <Text>{resourceTexts.noTags}</Text>}
      {rows.map((row) => (
        <div key={row.key} className={styles.row}>
          <Input
            aria-label={resourceTexts.tagName}
            value={row.name}
            onChange={(_, { value }) => change(row.key, { name: value })}
          />
          <Input
            aria-label={resourceTexts.tagValue}
            value={row.value}
            onChange={(_, { value }) => change(row.key, { value })}
          />
          <Button
            appearance="subtle"
            icon={<DismissRegular />}
            aria-label={resourceTexts.removeTag(row.name)}
            onClick={() => setRows(rows.filter(({ key }) => key !== row.key))}
          />
        </div>
      ))}
      <Button
        onClick={() =>
          setRows([...rows, { key: (rows.at(-1)?.key ?? 0) + 1, name: '', value: '' }])
        }
      >
        {resourceTexts.addTag}
      </Button>
      <Button
        appearance="primary"
        disabled={write.isPending}
        onClick={() => {
          const given = rows.filter(({ name }) => name !== '')
          const tags = Object.fromEntries(given.map(({ name, value }) => [name, value]))
          write.mutate({ properties: { tags } })
        }}
      >
        {resourceTexts.saveTags}
      </Button>
      {write.isSuccess && <Text role="status">{resourceTexts.saved}</Text>}
      {write.error !== null && <Refusal failure={write.error} />}
    </div>
  )
}
