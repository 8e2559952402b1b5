/** What each noun of the command line is about: one line each, for the help. */

export const nounSummaries: Readonly<Record<string, string>> = {
  access: 'Who may do what, and why',
  billing: 'What things cost: transactions, invoices, refunds, imports',
  consent: 'Consents of people, by which authorizations get their tokens',
  'container-group': 'Groups of containers that run together',
  deployment: 'Templates carried out: many resources in one go',
  group: 'Who is in which group',
  health: 'What is out of order, and whom it touches',
  key: 'The keys that sign access tokens',
  principal: 'Users, groups and service principals of the directory',
  'principal secret': 'Secrets by which an application signs in',
  'resource-group': 'Resource groups: what is created and deleted together',
  role: 'Roles, and who has them where',
  'role assignment': 'Who has which role at which scope',
  'role definition': 'The roles there are',
  share: 'What is shared between accounts, and where its copies go',
  secret: 'Secrets of vaults, which other resources refer to',
  subscription: 'Subscriptions: the topmost scopes',
  synchronization: 'Copies of what was shared, and what each data set came to',
  template: 'The language of templates: expressions tried out',
}
