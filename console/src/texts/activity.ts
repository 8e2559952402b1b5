/** Texts of the audit trail. */

export const activityTexts = {
  title: 'Activity',
  lead: 'Who did what, when, and what came of it.',
  empty: 'Nothing was recorded in this time.',
  open: (action: string) => `Details of ${action}`,
  follow: 'Follow',
  since: 'Since',
  hours: {
    '1': 'The last hour',
    '24': 'The last day',
    '168': 'The last week',
    '2160': 'All that is kept',
  },
  status: 'Result',
  anyStatus: 'Any result',
  statuses: { Succeeded: 'Succeeded', Failed: 'Failed' },
  caller: 'Who',
  group: 'Group',
  subscription: 'Subscription',
  everywhere: 'The whole installation',
  before: 'Before',
  after: 'After',
  added: 'Added',
  removed: 'Removed',
  path: 'Property',
  noChanges: 'No change of properties was recorded.',
}
