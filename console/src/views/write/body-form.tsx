/** Fields and JSON of one body, side by side and in step. Both can be edited. */

import { Field, makeStyles, Text, Textarea, tokens } from '@fluentui/react-components'
import { useState } from 'react'
import type { ApiFailure } from '../../api/client.ts'
import { Card } from '../../components/card.tsx'
import { asJson } from '../../components/code-block.tsx'
import { readJson } from '../../components/read-json.ts'
import { changedAt, problemsByPath, type Schema } from '../../components/schema.ts'
import { SchemaFields } from '../../components/schema-form.tsx'
import { writeTexts } from '../../texts/write.ts'

const useStyles = makeStyles({
  columns: {
    display: 'grid',
    gridTemplateColumns: 'repeat(auto-fit, minmax(min(380px, 100%), 1fr))',
    gap: tokens.spacingHorizontalXL,
    alignItems: 'start',
  },
  json: {
    fontFamily: tokens.fontFamilyMonospace,
    '& textarea': { height: '60vh', maxHeight: 'none' },
  },
})

export interface Draft {
  readonly value: unknown
  /** Why the typed JSON cannot be parsed. */
  readonly problem: string | undefined
}

export function BodyForm({
  schema,
  draft,
  failure,
  onChange,
}: {
  readonly schema: Schema
  readonly draft: Draft
  readonly failure: ApiFailure | null
  readonly onChange: (draft: Draft) => void
}) {
  const styles = useStyles()
  const [typed, setTyped] = useState<string>()
  const problems = problemsByPath(failure?.problem)
  return (
    <div className={styles.columns}>
      <Card title={writeTexts.fields}>
        {Object.keys(schema.properties ?? {}).length === 0 && <Text>{writeTexts.noForm}</Text>}
        <SchemaFields
          schema={schema}
          value={draft.value}
          path={[]}
          form={{
            problems,
            onChange: (path, value) => {
              setTyped(undefined)
              onChange({ value: changedAt(draft.value, path, value) ?? {}, problem: undefined })
            },
          }}
        />
      </Card>
      <Field label={writeTexts.json} validationMessage={draft.problem}>
        <Textarea
          className={styles.json}
          resize="vertical"
          spellCheck={false}
          value={typed ?? asJson(draft.value)}
          onChange={(_, { value: text }) => {
            setTyped(text)
            const read = readJson(text)
            onChange(
              read.problem === undefined
                ? read
                : { value: draft.value, problem: writeTexts.notJson(read.problem) },
            )
          }}
        />
      </Field>
    </div>
  )
}
