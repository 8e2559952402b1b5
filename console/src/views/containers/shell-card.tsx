/** A shell in a container: choose container and command, then open the terminal. */

import { Button, Field, Input, makeStyles, Select, Text, tokens } from '@fluentui/react-components'
import { lazy, Suspense, useState } from 'react'
import { ApiFailure } from '../../api/client.ts'
import { Card } from '../../components/card.tsx'
import { Loading } from '../../components/page.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { containerTexts, shellTexts } from '../../texts/work.ts'
import type { GroupPath } from './containers-tab.tsx'

const ShellTerminal = lazy(async () => ({
  default: (await import('./shell-terminal.tsx')).ShellTerminal,
}))

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'end' },
  hint: { color: tokens.colorNeutralForeground2 },
})

interface Opened {
  readonly number: number
  readonly container: string
  readonly command: string
}

export function ShellCard({
  path,
  names,
}: {
  readonly path: GroupPath
  readonly names: readonly string[]
}) {
  const styles = useStyles()
  const [container, setContainer] = useState(names[0] ?? '')
  const [command, setCommand] = useState('/bin/sh')
  const [opened, setOpened] = useState<Opened>()
  const [ended, setEnded] = useState<string | ApiFailure>()
  const isOpen = opened !== undefined && ended === undefined
  return (
    <Card title={shellTexts.title}>
      <form
        className={styles.bar}
        onSubmit={(event) => {
          event.preventDefault()
          if (isOpen) return setEnded(shellTexts.closed)
          setEnded(undefined)
          setOpened({ number: (opened?.number ?? 0) + 1, container, command })
        }}
      >
        {names.length > 1 && (
          <Field label={containerTexts.container}>
            <Select
              value={container}
              disabled={isOpen}
              onChange={(_, { value }) => setContainer(value)}
            >
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </Field>
        )}
        <Field label={shellTexts.command}>
          <Input
            value={command}
            disabled={isOpen}
            spellCheck={false}
            onChange={(_, { value }) => setCommand(value)}
          />
        </Field>
        <Button type="submit" disabled={command.trim() === ''}>
          {isOpen ? shellTexts.close : shellTexts.open}
        </Button>
      </form>
      {opened !== undefined && !(ended instanceof ApiFailure) && (
        <Suspense fallback={<Loading />}>
          <ShellTerminal
            key={opened.number}
            {...opened}
            path={path}
            isEnded={ended !== undefined}
            onEnd={(reason) => setEnded((before) => before ?? reason)}
          />
        </Suspense>
      )}
      <div role="status">{typeof ended === 'string' && <Text>{shellTexts.ended(ended)}</Text>}</div>
      {isOpen && <Text className={styles.hint}>{shellTexts.leave}</Text>}
      {ended instanceof ApiFailure && <Refusal failure={ended} />}
    </Card>
  )
}
