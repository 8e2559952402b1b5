/** The log of a container: followed as it grows, filtered, with times or without. */

import { Field, Input, makeStyles, Select, Switch, Text, tokens } from '@fluentui/react-components'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { type ApiFailure, call } from '../../api/client.ts'
import { paceOf } from '../../api/pace.ts'
import { refusalOf } from '../../api/queries.ts'
import { Card } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { containerTexts } from '../../texts/work.ts'
import type { GroupPath } from './containers-tab.tsx'
import {
  beginLog,
  continueLog,
  drawnText,
  type FollowedLog,
  keptMax,
  readLine,
  rejoinLog,
} from './log-lines.ts'

/** Milliseconds between two looks at a log that grows. */
const lookEvery = 2_000
/** The lines read at a look. If they do not reach back to what is shown, all that is kept is read again. */
const lookLines = 200

const useStyles = makeStyles({
  bar: { display: 'flex', flexWrap: 'wrap', gap: tokens.spacingHorizontalM, alignItems: 'end' },
  log: {
    margin: 0,
    padding: tokens.spacingHorizontalM,
    minHeight: '64px',
    maxHeight: '320px',
    overflow: 'auto',
    fontFamily: tokens.fontFamilyMonospace,
    fontSize: tokens.fontSizeBase200,
    lineHeight: tokens.lineHeightBase300,
    backgroundColor: tokens.colorNeutralBackground3,
    whiteSpace: 'pre-wrap',
    overflowWrap: 'anywhere',
    borderRadius: tokens.borderRadiusMedium,
  },
})

function useLog(path: GroupPath, containerName: string, follow: boolean) {
  const cache = useQueryClient()
  const queryKey = ['log', path, containerName]
  return useQuery<FollowedLog, ApiFailure>({
    queryKey,
    async queryFn({ signal }) {
      const read = async (tail: number): Promise<string> => {
        const query = { tail: String(tail), timestamps: 'true' }
        const input = { path: { ...path, containerName }, query }
        return (await call('getContainerLog', input, signal)).body.content
      }
      const log = cache.getQueryData<FollowedLog>(queryKey)
      if (log === undefined) return beginLog(await read(keptMax))
      return continueLog(log, await read(lookLines)) ?? rejoinLog(log, await read(keptMax))
    },
    refetchInterval: (query) => (follow ? paceOf(query, lookEvery) : false),
    meta: { live: follow },
  })
}

export function LogCard({
  path,
  names,
}: {
  readonly path: GroupPath
  readonly names: readonly string[]
}) {
  const styles = useStyles()
  const [chosen, setChosen] = useState(names[0] ?? '')
  const [follow, setFollow] = useState(true)
  const [times, setTimes] = useState(false)
  const [filter, setFilter] = useState('')
  const box = useRef<HTMLPreElement>(null)
  const found = useLog(path, chosen, follow)
  const refused = refusalOf(found)
  const shown = found.data === undefined ? '' : textOf(found.data, filter, times)
  // biome-ignore lint/correctness/useExhaustiveDependencies: what came is shown
  useEffect(() => {
    if (follow) box.current?.scrollTo({ top: box.current.scrollHeight })
  }, [shown, follow])
  return (
    <Card title={containerTexts.logs}>
      <div className={styles.bar}>
        {names.length > 1 && (
          <Field label={containerTexts.container}>
            <Select value={chosen} onChange={(_, { value }) => setChosen(value)}>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </Select>
          </Field>
        )}
        <Field label={containerTexts.filter}>
          <Input type="search" value={filter} onChange={(_, { value }) => setFilter(value)} />
        </Field>
        <Switch
          label={containerTexts.follow}
          checked={follow}
          onChange={(_, { checked }) => setFollow(checked)}
        />
        <Switch
          label={containerTexts.times}
          checked={times}
          onChange={(_, { checked }) => setTimes(checked)}
        />
      </div>
      {found.data?.leftOut === true && <Text size={200}>{containerTexts.linesLeftOut}</Text>}
      {refused !== null ? (
        <Refusal failure={refused} onRetry={() => void found.refetch()} />
      ) : (
        <pre
          ref={box}
          className={styles.log}
          tabIndex={0}
          role="region"
          aria-label={containerTexts.logOf(chosen)}
        >
          {shown === '' ? containerTexts.emptyLog : shown}
        </pre>
      )}
    </Card>
  )
}

function textOf(log: FollowedLog, filter: string, times: boolean): string {
  const wanted = filter.toLowerCase()
  const shown: string[] = []
  for (const [index, line] of [...log.lines, log.unfinished].entries()) {
    if (log.gaps.includes(index)) shown.push(containerTexts.linesMissing)
    const { at, text } = readLine(line)
    const whole = times && at !== '' ? `${at} ${text}` : text
    if (whole.toLowerCase().includes(wanted)) shown.push(whole)
  }
  return drawnText(shown)
}
