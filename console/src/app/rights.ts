/**
 * What the person may do of what is read as a whole or not at all. Lists of resources leave out what one may not read, so
 * they need no right here. The menu and Home leave out what would only be refused.
 */

import type { AnswerOf } from '../api/client.ts'
import { qualified } from '../api/place.ts'
import { useCall } from '../api/queries.ts'
import { useSubscriptions } from './subscription.ts'

const atSubscription = {
  access: 'Authorization/roleAssignments/read',
  activity: 'Insights/eventtypes/values/read',
  health: 'ResourceHealth/events/read',
  types: 'Resources/subscriptions/providers/read',
  createGroup: 'Resources/subscriptions/resourceGroups/write',
} as const

const everywhere = {
  ...atSubscription,
  billing: 'Billing/billingAccounts/read',
  people: 'Directory/users/read',
  business: 'Business/companies/write',
} as const

export type Subject = keyof typeof everywhere

/** Milliseconds. Roles change seldom, and a page that is opened or looked at again asks again. */
export const keepFor = 60_000

export interface Rights {
  /** The server has said it, or could not. */
  readonly known: boolean
  /** In the subscription that is chosen or in the whole installation. False until it is known. */
  may(subject: Subject): boolean
  mayEverywhere(subject: Subject): boolean
}

export function useRights(): Rights {
  const { current, loading } = useSubscriptions()
  const here = useRightsAt(
    current === undefined ? undefined : `/subscriptions/${current.subscriptionId}`,
    atSubscription,
  )
  const root = useRightsAt('/', everywhere)
  return {
    known: !loading && here.known && root.known,
    may: (subject) => here.may(subject) || root.may(subject),
    mayEverywhere: root.may,
  }
}

type Checked = AnswerOf<'checkAccess'>['value'][number]

/** Where the question itself fails nothing is left out: a view that is refused says why. */
function useRightsAt(
  scope: string | undefined,
  subjects: Readonly<Partial<Record<Subject, string>>>,
): Pick<Rights, 'known' | 'may'> {
  const found = useCall(
    'checkAccess',
    {
      path: { scope: scope ?? '/' },
      body: { actions: Object.values(subjects).map((action) => qualified(action)) },
    },
    { enabled: scope !== undefined, live: false, keepFor },
  )
  const isAllowed = ({ accessDecision }: Checked): boolean => accessDecision !== 'NotAllowed'
  return {
    known: scope === undefined || !found.isLoading,
    may(subject) {
      const action = subjects[subject]
      if (scope === undefined || action === undefined) return false
      if (found.data === undefined) return found.error !== null
      const one = found.data.value.find((each) => each.action === qualified(action))
      return one !== undefined && isAllowed(one)
    },
  }
}
