/** A resource at a glance: its location, tags, and properties one by one. */

import { makeStyles, Tag, TagGroup, Text } from '@fluentui/react-components'
import { readId } from '../../api/ids.ts'
import { AppLink, resourcePath } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { CopyButton } from '../../components/code-block.tsx'
import { momentText, State } from '../../components/state.tsx'
import { resourceTexts, subscriptionTexts } from '../../texts/resources.ts'
import { GroupContent } from './group-content.tsx'
import type { TabProps } from './resource.tsx'
import { SubscriptionContent } from './subscription-content.tsx'

const useStyles = makeStyles({ tags: { flexWrap: 'wrap', rowGap: '4px' } })

const depthMax = 6
/** A template has tens of thousands, and drawing them holds the page for seconds. The JSON has all of them. */
const rowsMax = 1_000

export function Overview({ id, resource }: TabProps) {
  const styles = useStyles()
  const { subscriptionId, group, type } = readId(id)
  const { location, tags, systemData, properties } = resource
  const rows = flatten(properties)
  return (
    <>
      <Card title={resourceTexts.tabs.overview}>
        <Pairs
          pairs={[
            [subscriptionTexts.name, resource.displayName],
            [
              resourceTexts.id,
              <span key="id">
                {id} <CopyButton text={id} />
              </span>,
            ],
            [
              resourceTexts.group,
              type === undefined || group === undefined ? undefined : (
                <AppLink
                  key="group"
                  to={resourcePath(`/subscriptions/${subscriptionId}/resourceGroups/${group}`)}
                >
                  {group}
                </AppLink>
              ),
            ],
            [resourceTexts.location, location],
            [resourceTexts.created, createdText(systemData)],
            [resourceTexts.changed, momentText(systemData?.['lastModifiedAt'])],
            [
              resourceTexts.tags,
              Object.keys(tags ?? {}).length === 0 ? undefined : (
                <TagGroup
                  key="tags"
                  className={styles.tags}
                  role="list"
                  aria-label={resourceTexts.tags}
                >
                  {Object.entries(tags ?? {}).map(([name, value]) => (
                    <Tag key={name} size="small" role="listitem">
                      {name}: {value}
                    </Tag>
                  ))}
                </TagGroup>
              ),
            ],
          ]}
        />
      </Card>
      {group !== undefined && type === undefined && <GroupContent id={id} />}
      {group === undefined && type === undefined && <SubscriptionContent id={id} />}
      {rows.length > 0 && (
        <Card title={resourceTexts.tabs.properties}>
          <Pairs pairs={rows.slice(0, rowsMax)} />
          {rows.length > rowsMax && (
            <Text>{resourceTexts.moreProperties(rows.length - rowsMax)}</Text>
          )}
        </Card>
      )}
    </>
  )
}

function createdText(systemData: Readonly<Record<string, string>> | undefined): string {
  return momentText(systemData?.['createdAt'])
}

/** Nested properties by their path. A list of plain values is one line. */
function flatten(
  value: unknown,
  path = '',
  depth = 0,
): readonly (readonly [string, React.ReactNode])[] {
  if (value === null || value === undefined) return []
  if (typeof value !== 'object') {
    const text = String(value)
    if (/State$/.test(path)) return [[path, <State key={path} value={text} />]]
    return [
      [path, /^\d{4}-\d\d-\d\dT/.test(text) ? momentText(text) : <Linked key={path} text={text} />],
    ]
  }
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) {
    return value.length === 0 ? [] : [[path, value.join(', ')]]
  }
  if (depth > depthMax) return [[path, JSON.stringify(value)]]
  return Object.entries(value).flatMap(([name, one]) => {
    const below = Array.isArray(value) ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`
    return flatten(one, below, depth + 1)
  })
}

/** An id is a link to its resource. */
function Linked({ text }: { readonly text: string }) {
  if (!/^\/subscriptions\/[^/]+\/resourceGroups\/[^/]+\/providers\//i.test(text))
    return <bdi>{text}</bdi>
  return <AppLink to={resourcePath(text)}>{text}</AppLink>
}
