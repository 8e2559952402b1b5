/** Texts of access and of the directory. */

export const accessTexts = {
  title: 'Access',
  assignments: 'Assignments',
  people: 'People and applications',
  lead: 'Who may do what here, and by which assignment.',
  scope: 'Where',
  everything: 'The whole installation',
  who: 'Who',
  kind: 'Kind',
  role: 'Role',
  given: 'Given at',
  condition: 'Condition',
  add: 'Add an assignment',
  addNow: 'Add',
  remove: 'Remove',
  removeTitle: 'Remove this assignment?',
  removeText: (who: string, role: string, scope: string) =>
    `${who} loses the role ${role} at ${scope} from the next request on.`,
  removeOwn: 'This is your own role. You may need somebody else to give it back to you.',
  none: 'Nobody has a role here.',
  person: 'Person, group or application',
  roleHint: 'What the role lets them do is in its description.',
  conditionHint: 'Optional. The role counts only where it holds.',
  description: 'Why',
  check: 'Check somebody',
  checkLead: 'May they take this action here?',
  action: 'Action',
  ask: 'Check',
  decisions: {
    Allowed: 'Yes',
    NotAllowed: 'No',
    Conditional: 'It depends on what is asked for',
  } as Readonly<Record<string, string>>,
  by: (role: string, scope: string) => `by ${role} at ${scope}`,
  nearest: 'What came nearest',
  denied: (name: string, scope: string) =>
    `The deny assignment ${name} at ${scope} stands in the way.`,
  you: 'You',
  onlyYou: 'You may not read who else there is, so you alone are offered.',
}

export const peopleTexts = {
  kind: 'Show',
  kinds: { users: 'People', groups: 'Groups', servicePrincipals: 'Applications' },
  add: { users: 'Add a person', groups: 'Add a group', servicePrincipals: 'Add an application' },
  addNow: 'Add',
  name: 'Name',
  signInName: 'Sign-in name',
  clientId: 'Client id',
  id: 'Id',
  roles: 'Roles',
  noRoles: 'No role, as far as you may see.',
  byGroup: 'by a group',
  password: 'Password',
  passwordHint: 'One is made up and shown once when this is left empty.',
  actions: 'What can be done',
  revoke: 'Sign out',
  revokeWhat: 'End every session and take back every token',
  delete: 'Delete',
  deleteTitle: (name: string) => `Delete ${name}?`,
  deleteText: {
    users:
      'Memberships, credentials, sessions and tokens end with the account. This cannot be undone.',
    groups: 'Members lose the roles that they have by this group. This cannot be undone.',
    servicePrincipals:
      'Memberships, secrets and tokens end with the application. This cannot be undone.',
  },
  none: 'Nobody yet.',
  onlyNow: (name: string) => `${name} signs in with this. It is shown this once.`,
  members: 'Members',
  membersOf: (name: string) => `Members of ${name}`,
  noMembers: 'Nobody is in it yet.',
  takeOut: 'Take out',
  putIn: 'Put in',
}

export const pathTexts = {
  of: (who: string, role: string) => `How ${role} reaches from ${who}`,
  who: 'Who',
  group: 'By the group',
  role: 'Has the role',
  given: 'Given at',
  reaches: 'Reaches',
  action: 'Wants',
  outcomes: { Allowed: 'Allowed', NotAllowed: 'Ends here', Conditional: 'If the condition holds' },
}

export const conditionTexts = {
  title: 'Only for some',
  lead: 'For roles that assign roles: what may be given and taken away. Built by clicks, the condition is the text below.',
  roles: 'Only these roles',
  kinds: 'Only to',
  kindNames: { User: 'People', Group: 'Groups', ServicePrincipal: 'Applications' },
  people: 'Only to these',
}
