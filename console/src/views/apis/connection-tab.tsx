/** An authorization: whether somebody has consented, and the way to the identity provider and back. */

import {
  Button,
  MessageBar,
  MessageBarActions,
  MessageBarBody,
  Text,
} from '@fluentui/react-components'
import { useEffect, useRef, useState } from 'react'
import { send } from '../../api/client.ts'
import { consoleBase } from '../../api/place.ts'
import { useWrite } from '../../api/queries.ts'
import { useSearch, useSetSearch } from '../../app/address.ts'
import { resourcePath } from '../../components/app-link.tsx'
import { Card, Pairs } from '../../components/card.tsx'
import { Refusal } from '../../components/refusal.tsx'
import { State } from '../../components/state.tsx'
import { apiTexts } from '../../texts/apis.ts'
import type { TabProps } from '../resource/resource.tsx'

/** The id of the authorization that this tab went to the identity provider for. */
const expectedKey = 'armature.connecting'

export function ConnectionTab({ id, resource, version }: TabProps) {
  const { consentCode } = useSearch()
  const setSearch = useSetSearch()
  const query = { 'api-version': version }
  const { status } = (resource.properties ?? {}) as { readonly status?: string }
  const connect = useWrite(async () => {
    const back = new URL(`.${resourcePath(id, 'connection')}`, consoleBase).href
    const body = { postLoginRedirectUrl: back }
    return (
      await send<{ readonly loginLink: string }>('POST', `${id}/getLoginLinks`, { query, body })
    ).body
  })
  const confirm = useWrite((code: string) =>
    send('POST', `${id}/confirmConsentCode`, { query, body: { consentCode: code } }),
  )
  const [waiting, setWaiting] = useState<string>()
  const used = useRef<string>(undefined)
  useEffect(() => {
    if (consentCode === undefined || used.current === consentCode) return
    // The code is good once. It is removed from the address at once.
    used.current = consentCode
    // A link of somebody else may hold a code for their own account at the provider.
    const isExpected = sessionStorage.getItem(expectedKey) === id
    sessionStorage.removeItem(expectedKey)
    if (isExpected) confirm.mutate(consentCode)
    else setWaiting(consentCode)
    setSearch({ consentCode: undefined }, { replace: true })
  })
  const failure = connect.error ?? confirm.error
  return (
    <Card title={apiTexts.connection}>
      <Pairs pairs={[[apiTexts.connection, <State key="status" value={status} />]]} />
      <Text>{status === 'Connected' ? apiTexts.connected : apiTexts.notConnected}</Text>
      {confirm.isPending && <Text role="status">{apiTexts.confirming}</Text>}
      {failure !== null && <Refusal failure={failure} />}
      {waiting !== undefined && (
        <Waiting
          onConfirm={() => {
            setWaiting(undefined)
            confirm.mutate(waiting)
          }}
          onIgnore={() => setWaiting(undefined)}
        />
      )}
      <div>
        <Button
          appearance="primary"
          disabled={connect.isPending}
          onClick={() =>
            connect.mutate(undefined, {
              onSuccess: ({ loginLink }) => {
                sessionStorage.setItem(expectedKey, id)
                location.assign(loginLink)
              },
            })
          }
        >
          {apiTexts.connect}
        </Button>
      </div>
    </Card>
  )
}

/** The way back from the identity provider, where this tab did not go there. */
function Waiting({ onConfirm, onIgnore }: { onConfirm(): void; onIgnore(): void }) {
  return (
    <MessageBar intent="warning" layout="multiline">
      <MessageBarBody>{apiTexts.unexpected}</MessageBarBody>
      <MessageBarActions>
        <Button onClick={onConfirm}>{apiTexts.finish}</Button>
        <Button onClick={onIgnore}>{apiTexts.ignore}</Button>
      </MessageBarActions>
    </MessageBar>
  )
}
