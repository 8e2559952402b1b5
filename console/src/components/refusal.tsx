/**
 * A refusal with its code and correlation id, and for a 403 the reason: the nearest assignment, and whom to ask.
 */

import {
  Button,
  MessageBar,
  MessageBarActions,
  MessageBarBody,
  MessageBarTitle,
  makeStyles,
  Text,
  tokens,
} from '@fluentui/react-components'
import { useState } from 'react'
import type { ApiFailure, Problem } from '../api/client.ts'
import { shortId } from '../api/ids.ts'
import { person } from '../api/session.ts'
import { appTexts, refusalTexts } from '../texts/app.ts'
import { AccessPath } from './access-path.tsx'
import { CopyButton } from './code-block.tsx'
import { useExplanation } from './explanation.ts'

const useStyles = makeStyles({
  block: {
    display: 'grid',
    gridTemplateColumns: 'minmax(0, 1fr)',
    gap: tokens.spacingVerticalM,
    justifyItems: 'stretch',
    maxWidth: '900px',
  },
  bar: { wordBreak: 'break-word' },
  details: { margin: 0, paddingLeft: tokens.spacingHorizontalL },
  soft: { color: tokens.colorNeutralForeground2, overflowWrap: 'anywhere' },
  path: {
    borderLeft: `3px solid ${tokens.colorBrandStroke1}`,
    paddingLeft: tokens.spacingHorizontalM,
    overflowWrap: 'anywhere',
  },
})

export function Refusal({
  failure,
  onRetry,
  quiet = false,
}: {
  readonly failure: ApiFailure
  readonly onRetry?: () => void
  /** One of many things of a page, which somebody may not see: said in few words, and explained where somebody wants it. */
  readonly quiet?: boolean
}) {
  const styles = useStyles()
  const [explained, setExplained] = useState(false)
  const { problem, status, correlationId } = failure
  const { message, details } = partsOf(problem)
  const explainable = status === 403 && correlationId !== undefined
  const isBrief = quiet && explainable && !explained
  return (
    <div className={styles.block} role={quiet ? 'note' : 'alert'}>
      <MessageBar
        intent={quiet && status === 403 ? 'info' : status === 404 ? 'warning' : 'error'}
        layout="multiline"
        className={styles.bar}
      >
        <MessageBarBody>
          <MessageBarTitle>
            {quiet && status === 403 ? refusalTexts.notSeen : refusalTexts.title(status)}
          </MessageBarTitle>
          {!isBrief && (
            <>
              {message}{' '}
              <Text className={styles.soft} size={200} block>
                {problem.code}
                {correlationId === undefined
                  ? ''
                  : ` · ${refusalTexts.correlation} ${correlationId}`}
              </Text>
            </>
          )}
          {!isBrief && details.length > 0 && (
            <ul className={styles.details}>
              {details.map((one) => (
                <li key={`${one.target} ${one.message}`}>
                  {one.target === undefined ? '' : `${shortId(one.target)}: `}
                  {one.message}
                </li>
              ))}
            </ul>
          )}
        </MessageBarBody>
        <MessageBarActions>
          {explainable && !explained && (
            <Button onClick={() => setExplained(true)}>{refusalTexts.why}</Button>
          )}
          {onRetry !== undefined && <Button onClick={onRetry}>{appTexts.again}</Button>}
        </MessageBarActions>
      </MessageBar>
      {explained && <Explanation failure={failure} />}
    </div>
  )
}

/** The message, and the details below it. What both say is shown once. */
function partsOf({
  message,
  details = [],
}: Problem): Pick<Required<Problem>, 'message' | 'details'> {
  const [first] = details
  if (first === undefined || !message.includes(first.message)) return { message, details }
  if (details.length === 1) return { message, details: [] }
  const begin = message.indexOf(`${first.target}: ${first.message}`)
  return { message: message.slice(0, Math.max(begin, 0)).trim() || message, details }
}

function Explanation({ failure }: { readonly failure: ApiFailure }) {
  const styles = useStyles()
  const found = useExplanation(failure)
  if (found.error !== null) return <Text>{found.error.message}</Text>
  const { data } = found
  if (data === undefined) return <Text>{appTexts.loading}</Text>
  const message = refusalTexts.request(data.action, data.scope, failure.correlationId ?? '')
  return (
    <section className={styles.path} aria-label={refusalTexts.whyTitle}>
      <Text as="h2" weight="semibold" block>
        {refusalTexts.whyTitle}
      </Text>
      <Text block className={styles.soft}>
        {refusalTexts.action}: {data.action}
      </Text>
      <Text block className={styles.soft}>
        {refusalTexts.scope}: {data.scope}
      </Text>
      {data.allowedNow ? (
        <Text block>{refusalTexts.now}</Text>
      ) : data.nearest.length === 0 ? (
        <Text block>{refusalTexts.noneNear}</Text>
      ) : (
        <>
          <Text weight="semibold" block>
            {refusalTexts.nearest}
          </Text>
          {data.nearest.map((one) => (
            <AccessPath
              key={one.key}
              who={person()?.name ?? ''}
              group={one.group}
              role={one.role}
              given={one.scope}
              wanted={data.scope}
              action={data.action}
              outcome="NotAllowed"
              reason={one.reason}
            />
          ))}
        </>
      )}
      <Text weight="semibold" block>
        {refusalTexts.ask} <CopyButton text={message} label={refusalTexts.copyAsk} />
      </Text>
      {data.askable.length === 0 ? (
        <Text block>{refusalTexts.askNobody}</Text>
      ) : (
        <>
          <Text block>{refusalTexts.askFor(data.action)}</Text>
          <ul className={styles.details}>
            {data.askable.map((one) => (
              <li key={one}>{one}</li>
            ))}
          </ul>
        </>
      )}
    </section>
  )
}
