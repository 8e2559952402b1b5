/** Texts of the frame and of the components that all views share. */

export const appTexts = {
  name: 'Armature',
  skip: 'Skip to the content',
  menu: 'Menu',
  navigation: 'Areas',
  areas: {
    home: 'Home',
    resources: 'Resources',
    access: 'Access',
    deployments: 'Deployments',
    containers: 'Containers',
    migrations: 'Migrations',
    sharing: 'Sharing',
    health: 'Health',
    billing: 'Billing',
    apis: 'APIs',
    business: 'Business',
    explorer: 'Explorer',
    activity: 'Activity',
  },
  search: 'Search (Ctrl K)',
  searchFor: 'Names, types, groups, tags, people, or an id',
  searching: 'Looking',
  searchNothing:
    'Nothing that you may read has this in its name, type, group or tags, and nobody this name.',
  searchMore: 'There is more: another word finds less.',
  scope: 'Scope',
  everywhere: 'All that you may read',
  kinds: { users: 'Person', groups: 'Group of people', servicePrincipals: 'Application' },
  theme: 'Light or dark',
  running: (count: number) => `${count} ${count === 1 ? 'operation' : 'operations'} under way`,
  requests: 'Requests',
  person: 'Your account',
  signOut: 'Sign out',
  signIn: 'Sign in',
  signingIn: 'Signing in',
  signedOut: 'You are not signed in',
  signInStopped: 'The sign-in was stopped.',
  signedOutWhy: 'The sign-in did not end with an account.',
  sessionOver: 'Your session has ended. Sign in again to go on; this page stays where it is.',
  notFound: 'There is no such page',
  notFoundWhy: 'The address leads nowhere in this console.',
  goHome: 'Go to Home',
  crashed: 'This view has a fault',
  again: 'Try again',
  loading: 'Loading',
  tryingAgain: 'The page asks again until it does.',
  close: 'Close',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  refresh: 'Refresh',
  stale: (time: string) => `The server has not answered since ${time}. What is shown may be old.`,
}

export const requestTexts = {
  title: 'Requests behind this page',
  lead: 'Everything here is a call of the public API. The newest first.',
  none: 'Nothing was asked yet.',
  http: 'HTTP',
  curl: 'curl',
  command: 'Command',
  template: 'Template',
  running: 'under way',
  correlation: 'Correlation id',
}

export const tableTexts = {
  rows: (count: number, more: boolean) =>
    `${count.toLocaleString()}${more ? ' or more' : ''} ${count === 1 && !more ? 'row' : 'rows'}`,
  sortedSoFar: ', sorted as far as they were read',
  sorting: ', being sorted',
  csv: 'Save as CSV',
  columns: 'Columns',
  more: 'Load more',
  choose: 'Choose',
}

export const chartTexts = {
  range: (least: string, most: string) => `${least} to ${most}`,
  notShown: (count: number) => `${count} more ${count === 1 ? 'is' : 'are'} not drawn.`,
}

export const refusalTexts = {
  title: (status: number) =>
    status === 403
      ? 'You may not do this'
      : status === 404
        ? 'There is no such thing, or you may not see it'
        : status === 0
          ? 'The server does not answer'
          : 'The server refused this',
  notSeen: 'You may not see this',
  taken: 'This name is taken. What has it was not changed.',
  why: 'Why?',
  whyTitle: 'Why this was refused',
  correlation: 'Correlation id',
  action: 'Action',
  scope: 'Scope',
  nearest: 'What came nearest',
  noneNear: 'You have no role here at all.',
  now: 'You may do it now. Try again.',
  ask: 'Whom to ask',
  askFor: (action: string) =>
    `A role that lists ${action}, from one of these who may assign roles:`,
  askNobody: 'You may not see who assigns roles here. Ask whoever gave you this address.',
  copyAsk: 'Copy a message to them',
  request: (action: string, scope: string, correlationId: string) =>
    `Please give me a role that lists ${action} at ${scope}. (${correlationId})`,
}

export const accountTexts = {
  title: 'Your sessions',
  lead: (name: string) => `Where ${name} is signed in.`,
  with: 'With',
  browser: 'A browser',
  address: 'From',
  since: 'Since',
  used: 'Last used',
  end: 'End it',
  none: 'No session.',
  all: 'End all sessions',
  allWhy: 'Ends every session and takes back every token of yours, this page’s too.',
}
