/**
 * A form to try an operation: its parameters as fields, its body as JSON, and the server's answer. It uses the
 * person's own rights.
 */

import {
  Button,
  Checkbox,
  Field,
  Input,
  makeStyles,
  Text,
  Textarea,
  tokens,
} from '@fluentui/react-components'
import { useState } from 'react'
import { type Answer, send } from '../api/client.ts'
import { useWrite } from '../api/queries.ts'
import { explorerTexts } from '../texts/apis.ts'
import { asJson, CodeBlock } from './code-block.tsx'
import { Prose } from './prose.tsx'
import { readJson } from './read-json.ts'
import { Refusal } from './refusal.tsx'

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly description?: string | undefined
  readonly value?: string | undefined
}

const useStyles = makeStyles({
  form: { display: 'grid', gap: tokens.spacingVerticalM, minWidth: 0, maxWidth: '900px' },
  sends: { overflowWrap: 'anywhere' },
  body: { fontFamily: tokens.fontFamilyMonospace, '& textarea': { height: '220px' } },
})

export function TryIt({
  method,
  template,
  parameters,
  sample,
  isWrittenByOthers = false,
}: {
  readonly method: string
  /** With its parameters in braces. */
  readonly template: string
  readonly parameters: readonly Parameter[]
  /** A sample body; undefined if the operation takes none. */
  readonly sample?: unknown
  /**
   * Somebody else chose the method and path and gave them a name. An operation that changes something is confirmed
   * first.
   */
  readonly isWrittenByOthers?: boolean
}) {
  const styles = useStyles()
  const [values, setValues] = useState<Readonly<Record<string, string>>>({})
  const [body, setBody] = useState(() => (sample === undefined ? '' : asJson(sample)))
  const [confirmed, setConfirmed] = useState(false)
  const read = readJson(body)
  const textOf = ({ name, value = '' }: Parameter): string => values[name] ?? value
  const given = (where: Parameter['in']) =>
    Object.fromEntries(
      parameters
        .filter((one) => one.in === where && textOf(one) !== '')
        .map((one) => [one.name, textOf(one)]),
    )
  const path = template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name)
    const value = parameter === undefined ? '' : textOf(parameter)
    // A scope goes into the path unchanged.
    return name === 'scope' ? value.replace(/^\//, '') : encodeURIComponent(value)
  })
  const run = useWrite(async (): Promise<Answer & { readonly milliseconds: number }> => {
    const startedAt = performance.now()
    const answer = await send(method, path.replace(/\/{2,}/g, '/'), {
      query: given('query'),
      headers: given('header'),
      ...(sample === undefined ? {} : { body: read.value }),
    })
    return { ...answer, milliseconds: performance.now() - startedAt }
  })
  const mustConfirm = isWrittenByOthers && method !== 'GET' && method !== 'HEAD'
  const missing = parameters.some(
    (one) => one.required && one.name !== 'scope' && textOf(one) === '',
  )
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        run.mutate(undefined)
      }}
    >
      {parameters.map((one) => (
        <Field
          key={`${one.in} ${one.name}`}
          label={one.name}
          required={one.required}
          hint={one.description === undefined ? undefined : <Prose text={one.description} />}
        >
          <Input
            value={textOf(one)}
            onChange={(_, { value }) => setValues({ ...values, [one.name]: value })}
          />
        </Field>
      ))}
      {sample !== undefined && (
        <Field
          label={explorerTexts.value}
          validationMessage={
            read.problem === undefined ? undefined : explorerTexts.notJson(read.problem)
          }
        >
          <Textarea
            className={styles.body}
            spellCheck={false}
            resize="vertical"
            value={body}
            onChange={(_, { value }) => setBody(value)}
          />
        </Field>
      )}
      <Text className={styles.sends}>
        {explorerTexts.sends} <code>{`${method} ${path}`}</code>
      </Text>
      {mustConfirm && (
        <Checkbox
          label={explorerTexts.confirm}
          checked={confirmed}
          onChange={(_, { checked }) => setConfirmed(checked === true)}
        />
      )}
      <div>
        <Button
          type="submit"
          appearance="primary"
          disabled={
            run.isPending ||
            missing ||
            (mustConfirm && !confirmed) ||
            (sample !== undefined && read.problem !== undefined)
          }
        >
          {explorerTexts.send}
        </Button>
      </div>
      {run.error !== null && <Refusal failure={run.error} />}
      {run.data !== undefined && (
        <section aria-label={explorerTexts.answerTitle}>
          <Text role="status">{explorerTexts.answer(run.data.status, run.data.milliseconds)}</Text>
          {run.data.body !== '' && (
            <CodeBlock
              label={explorerTexts.answerTitle}
              text={typeof run.data.body === 'string' ? run.data.body : asJson(run.data.body)}
            />
          )}
        </section>
      )}
    </form>
  )
}
