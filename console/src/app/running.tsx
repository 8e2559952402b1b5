/**
 * How many operations are under way in the subscription, in the bar at the top, and a menu that leads to each. Not there
 * while there is none, and for somebody who may not read the audit trail.
 */

import {
  Button,
  Menu,
  MenuItem,
  MenuList,
  MenuPopover,
  MenuTrigger,
} from '@fluentui/react-components'
import { ArrowSyncRegular } from '@fluentui/react-icons/svg/arrow-sync'
import { shortId } from '../api/ids.ts'
import { useUnderWay } from '../components/activity.ts'
import { readableAction } from '../components/activity-list.tsx'
import { resourcePath, useGo } from '../components/app-link.tsx'
import { appTexts } from '../texts/app.ts'
import { useRights } from './rights.ts'
import { useSubscriptions } from './subscription.ts'

export function Running({ className }: { readonly className: string | undefined }) {
  const go = useGo()
  const rights = useRights()
  const { current } = useSubscriptions()
  const { rows } = useUnderWay({
    scope: `/subscriptions/${current?.subscriptionId ?? ''}`,
    enabled: current !== undefined && rights.may('activity'),
  })
  if (rows.length === 0) return null
  return (
    <Menu>
      <MenuTrigger disableButtonEnhancement>
        <Button
          className={className}
          appearance="subtle"
          icon={<ArrowSyncRegular />}
          aria-label={appTexts.running(rows.length)}
          title={appTexts.running(rows.length)}
        >
          {rows.length}
        </Button>
      </MenuTrigger>
      <MenuPopover>
        <MenuList>
          {rows.map(({ id, action }) => (
            <MenuItem
              key={id}
              secondaryContent={readableAction(action)}
              onClick={() => go(resourcePath(id))}
            >
              <bdi>{shortId(id)}</bdi>
            </MenuItem>
          ))}
        </MenuList>
      </MenuPopover>
    </Menu>
  )
}
