/** The drawer with the calls behind a page: as HTTP, as curl, as a command, as part of a template. */

import {
  Badge,
  Button,
  DrawerBody,
  DrawerHeader,
  DrawerHeaderTitle,
  makeStyles,
  OverlayDrawer,
  Tab,
  TabList,
  Text,
  tokens,
} from '@fluentui/react-components'
import { DismissRegular } from '@fluentui/react-icons/svg/dismiss'
import { useState } from 'react'
import { readId } from '../api/ids.ts'
import { apiUrl } from '../api/place.ts'
import { type RequestRecord, useRequests } from '../api/requests.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { useReturnFocus } from '../components/return-focus.ts'
import { quoted } from '../components/shell.ts'
import { appTexts, requestTexts } from '../texts/app.ts'

const useStyles = makeStyles({
  drawer: { width: 'min(560px, 100vw)' },
  list: {
    listStyle: 'none',
    margin: 0,
    padding: 0,
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr)',
    gap: tokens.spacingVerticalXS,
  },
  entry: {
    width: '100%',
    display: 'flex',
    gap: tokens.spacingHorizontalS,
    justifyContent: 'flex-start',
    fontWeight: tokens.fontWeightRegular,
    minWidth: 0,
    '& > :not(:last-child)': { flexShrink: 0 },
  },
  path: {
    overflow: 'hidden',
    textOverflow: 'ellipsis',
    whiteSpace: 'nowrap',
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
  },
  detail: {
    padding: tokens.spacingVerticalS,
    borderLeft: `2px solid ${tokens.colorBrandStroke1}`,
    display: 'grid',
    gap: tokens.spacingVerticalS,
    minWidth: 0,
  },
})

const forms = ['http', 'curl', 'command', 'template'] as const
type Form = (typeof forms)[number]

export function RequestsDrawer({
  open,
  onClose,
}: {
  readonly open: boolean
  readonly onClose: () => void
}) {
  const styles = useStyles()
  const records = useRequests()
  useReturnFocus()
  const [shown, setShown] = useState<number>()
  return (
    <OverlayDrawer
      className={styles.drawer}
      position="end"
      open={open}
      onOpenChange={(_, { open: next }) => next || onClose()}
    >
      <DrawerHeader>
        <DrawerHeaderTitle
          action={
            <Button
              appearance="subtle"
              aria-label={appTexts.close}
              icon={<DismissRegular />}
              onClick={onClose}
            />
          }
        >
          {requestTexts.title}
        </DrawerHeaderTitle>
        <Text>{requestTexts.lead}</Text>
      </DrawerHeader>
      <DrawerBody>
        {records.length === 0 && <Text>{requestTexts.none}</Text>}
        <ul className={styles.list}>
          {records.map((record) => (
            <li key={record.id}>
              <Button
                appearance="subtle"
                className={styles.entry}
                aria-expanded={shown === record.id}
                onClick={() => setShown(shown === record.id ? undefined : record.id)}
              >
                <StatusBadge record={record} />
                <strong>{record.method}</strong>
                <span className={styles.path}>{record.path}</span>
              </Button>
              {shown === record.id && <RequestDetail record={record} />}
            </li>
          ))}
        </ul>
      </DrawerBody>
    </OverlayDrawer>
  )
}

function StatusBadge({ record: { status } }: { readonly record: RequestRecord }) {
  if (status === undefined) return <Badge appearance="outline">{requestTexts.running}</Badge>
  return (
    <Badge appearance="tint" color={status >= 400 || status === 0 ? 'danger' : 'success'}>
      {status}
    </Badge>
  )
}

function RequestDetail({ record }: { readonly record: RequestRecord }) {
  const styles = useStyles()
  const [form, setForm] = useState<Form>('http')
  const template = templateOf(record)
  return (
    <div className={styles.detail}>
      <TabList
        size="small"
        selectedValue={form}
        onTabSelect={(_, { value }) => setForm(value as Form)}
      >
        {forms
          .filter((one) => one !== 'template' || template !== undefined)
          .map((one) => (
            <Tab key={one} value={one}>
              {requestTexts[one]}
            </Tab>
          ))}
      </TabList>
      <CodeBlock
        label={requestTexts[form]}
        text={form === 'template' ? (template ?? '') : written(record, form)}
      />
      {record.code !== undefined && (
        <Text size={200}>
          {record.code}
          {record.correlationId === undefined
            ? ''
            : ` · ${requestTexts.correlation} ${record.correlationId}`}
        </Text>
      )}
    </div>
  )
}

/** As a person would type it. It never contains the token. */
export function written(
  { method, path, body }: RequestRecord,
  form: 'http' | 'curl' | 'command',
): string {
  const url = apiUrl(path)
  const json = body === undefined ? undefined : JSON.stringify(body)
  if (form === 'http') {
    const lines = [
      `${method} ${url.pathname}${url.search} HTTP/1.1`,
      `Host: ${url.host}`,
      'Authorization: Bearer …',
    ]
    if (body === undefined) return lines.join('\n')
    return [...lines, 'Content-Type: application/json', '', JSON.stringify(body, null, 2)].join(
      '\n',
    )
  }
  if (form === 'curl') {
    return [
      `curl -sS -X ${method} ${quoted(url.href)}`,
      '-H "Authorization: Bearer $(armature token)"',
      ...(json === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${quoted(json)}`]),
    ].join(' \\\n  ')
  }
  return `armature rest ${method} ${quoted(path)}${json === undefined ? '' : ` \\\n  --body ${quoted(json)}`}`
}

/** A PUT of a resource as the part of a template that would create it. */
function templateOf({ method, path, body }: RequestRecord): string | undefined {
  const [id = '', query = ''] = path.split('?')
  const { type, name } = readId(id)
  if (method !== 'PUT' || type === undefined || typeof body !== 'object') return undefined
  const apiVersion = new URLSearchParams(query).get('api-version')
  return JSON.stringify({ type, apiVersion, name, ...body }, null, 2)
}
