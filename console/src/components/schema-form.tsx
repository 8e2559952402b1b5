/** Fields from a JSON schema: the required ones and those that have a value. The others can be added by name. */

import {
  Button,
  Field,
  Input,
  makeStyles,
  Select,
  Text,
  Textarea,
  tokens,
} from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { DeleteRegular } from '@fluentui/react-icons/svg/delete'
import { useState } from 'react'
import { writeTexts } from '../texts/write.ts'
import { asJson } from './code-block.tsx'
import { Prose } from './prose.tsx'
import { readJson } from './read-json.ts'
import {
  beginOf,
  choicesOf,
  fieldsOf,
  kindOf,
  type Path,
  pathText,
  type Schema,
  typeOf,
} from './schema.ts'

const useStyles = makeStyles({
  fields: { display: 'grid', gridTemplateColumns: 'minmax(0, 1fr)', gap: tokens.spacingVerticalM },
  below: {
    border: 'none',
    margin: 0,
    minWidth: 0,
    padding: `0 0 0 ${tokens.spacingHorizontalM}`,
    borderLeft: `2px solid ${tokens.colorNeutralStroke2}`,
  },
  legend: {
    padding: 0,
    fontWeight: tokens.fontWeightSemibold,
    marginBottom: tokens.spacingVerticalXS,
  },
  problem: { color: tokens.colorPaletteRedForeground1 },
  add: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalS },
})

export interface FormState {
  /** Messages by path, in lower case. */
  readonly problems: ReadonlyMap<string, string>
  /** `undefined` removes the value at the path. */
  readonly onChange: (path: Path, value: unknown) => void
}

interface Place {
  readonly schema: Schema
  readonly value: unknown
  readonly path: Path
  readonly form: FormState
}

export function SchemaFields({ schema, value, path, form }: Place) {
  const styles = useStyles()
  const values = Object(value) as Readonly<Record<string, unknown>>
  const all = fieldsOf(schema)
  const shown = all.filter(({ name, required }) => required || values[name] !== undefined)
  const others = all.filter((one) => !shown.includes(one))
  return (
    <div className={styles.fields}>
      {shown.map(({ name, schema: one, required }) => (
        <Property
          key={name}
          name={name}
          required={required}
          schema={one}
          value={values[name]}
          path={[...path, name]}
          form={form}
        />
      ))}
      {others.length > 0 && (
        <Select
          size="small"
          aria-label={writeTexts.addTo(pathText(path))}
          value=""
          onChange={(_, { value: name }) => {
            const found = others.find((one) => one.name === name)
            if (found !== undefined) form.onChange([...path, name], emptyOf(found.schema))
          }}
        >
          <option value="">{writeTexts.add}</option>
          {others.map(({ name }) => (
            <option key={name}>{name}</option>
          ))}
        </Select>
      )}
    </div>
  )
}

/** An added property gets an empty value, so that its field appears. */
function emptyOf(schema: Schema): unknown {
  const kind = kindOf(schema)
  if (kind === 'text') return ''
  if (kind === 'boolean') return false
  if (kind === 'number') return 0
  if (kind === 'choice') return choicesOf(schema)[0]
  if (kind === 'json') return typeOf(schema) === 'array' ? [] : {}
  return beginOf(schema)
}

interface PropertyProps extends Place {
  readonly name: string
  readonly required: boolean
}

function Property(props: PropertyProps) {
  const styles = useStyles()
  const { name, required, schema, path, form } = props
  const kind = kindOf(schema)
  const problem = form.problems.get(pathText(path).toLowerCase())
  if (kind === 'object' || kind === 'list') {
    return (
      <fieldset className={styles.below}>
        <legend className={styles.legend}>
          {name}
          {required ? ' *' : <Remove name={name} onRemove={() => form.onChange(path, undefined)} />}
        </legend>
        {schema.description !== undefined && (
          <Text size={200}>
            <Prose text={schema.description} />
          </Text>
        )}
        {problem !== undefined && (
          <Text role="alert" className={styles.problem}>
            {problem}
          </Text>
        )}
        {kind === 'object' ? <SchemaFields {...props} /> : <List {...props} />}
      </fieldset>
    )
  }
  return (
    <Field
      label={name}
      required={required}
      {...(schema.description === undefined ? {} : { hint: <Prose text={schema.description} /> })}
      validationMessage={problem}
    >
      <Value {...props} />
    </Field>
  )
}

function Remove({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }) {
  return (
    <Button
      size="small"
      appearance="subtle"
      icon={<DeleteRegular />}
      aria-label={writeTexts.remove(name)}
      onClick={onRemove}
    />
  )
}

function List({ name, schema, value, path, form }: PropertyProps) {
  const styles = useStyles()
  const items = Array.isArray(value) ? (value as readonly unknown[]) : []
  const one = schema.items ?? {}
  return (
    <div className={styles.fields}>
      {items.map((item, index) => (
        <fieldset key={pathText([...path, index])} className={styles.below}>
          <legend className={styles.legend}>
            {name} {index + 1}
            <Remove
              name={`${name} ${index + 1}`}
              onRemove={() => form.onChange([...path, index], undefined)}
            />
          </legend>
          <SchemaFields schema={one} value={item} path={[...path, index]} form={form} />
        </fieldset>
      ))}
      <div>
        <Button
          size="small"
          icon={<AddRegular />}
          aria-label={writeTexts.another(pathText(path))}
          onClick={() => form.onChange([...path, items.length], beginOf(one) ?? {})}
        >
          {writeTexts.anotherShort}
        </Button>
      </div>
    </div>
  )
}

function Value({ schema, value, path, form, required }: PropertyProps) {
  const set = (next: unknown): void => form.onChange(path, next)
  const kind = kindOf(schema)
  const none = required ? '' : undefined
  if (kind === 'choice' || kind === 'boolean') {
    const choices = kind === 'boolean' ? ['true', 'false'] : choicesOf(schema)
    const read = (text: string): unknown => (kind === 'boolean' ? text === 'true' : text)
    return (
      <Select
        value={value === undefined ? '' : String(value)}
        onChange={(_, { value: next }) => set(next === '' ? undefined : read(next))}
      >
        <option value="" />
        {choices.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </Select>
    )
  }
  if (kind === 'number') {
    return (
      <Input
        inputMode="decimal"
        value={value === undefined ? '' : String(value)}
        // Text that is no number is sent as it is, so that the server can refuse it.
        onChange={(_, { value: next }) => set(next === '' ? undefined : numberOr(next))}
      />
    )
  }
  if (kind === 'texts' || kind === 'map' || kind === 'json') {
    return <Written key={kind} kind={kind} value={value} onChange={set} />
  }
  return (
    <Input
      type={schema.writeOnly === true ? 'password' : 'text'}
      autoComplete="off"
      value={value === undefined ? '' : String(value)}
      onChange={(_, { value: next }) => set(next === '' ? none : next)}
    />
  )
}

function numberOr(text: string): unknown {
  const number = Number(text)
  return text.trim() === '' || Number.isNaN(number) || text.endsWith('.') ? text : number
}

/**
 * Several lines: texts, `name=value`, or JSON if the schema says no more. The typed text stays until it can be
 * parsed.
 */
function Written({
  kind,
  value,
  onChange,
}: {
  readonly kind: 'texts' | 'map' | 'json'
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}) {
  const [typed, setTyped] = useState(() => written(kind, value))
  const current = sameAs(kind, typed, value) ? typed : written(kind, value)
  return (
    <Textarea
      resize="vertical"
      spellCheck={false}
      placeholder={writeTexts.how[kind]}
      value={current}
      onChange={(_, { value: next }) => {
        setTyped(next)
        const read = readWritten(kind, next)
        if (read !== undefined) onChange(read.value)
      }}
    />
  )
}

/** Incomplete JSON has no value yet. */
function sameAs(kind: 'texts' | 'map' | 'json', typed: string, value: unknown): boolean {
  const read = readWritten(kind, typed)
  return read === undefined || JSON.stringify(read.value) === JSON.stringify(value)
}

function written(kind: 'texts' | 'map' | 'json', value: unknown): string {
  if (value === undefined) return ''
  if (kind === 'json') return asJson(value)
  if (kind === 'texts') return Array.isArray(value) ? value.join('\n') : ''
  return Object.entries(Object(value) as Readonly<Record<string, unknown>>)
    .map(([name, one]) => `${name}=${String(one)}`)
    .join('\n')
}

function readWritten(kind: 'texts' | 'map' | 'json', text: string): { value: unknown } | undefined {
  if (kind === 'texts') return { value: text === '' ? [] : text.split('\n') }
  if (kind === 'json') {
    const read = readJson(text)
    return read.problem === undefined ? read : undefined
  }
  const lines = text.split('\n').filter((line) => line !== '')
  const pairs = lines.map((line) => {
    const at = line.indexOf('=')
    return at < 0 ? [line, ''] : [line.slice(0, at), line.slice(at + 1)]
  })
  return { value: Object.fromEntries(pairs) }
}
