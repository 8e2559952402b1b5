/** Texts of API management and of the explorer. */

export const apiTexts = {
  title: 'APIs',
  lead: 'APIs that are described here, by service.',
  noServices: 'No API management services here',
  noServicesText: 'A service is made by command: `armature api-service create`.',
  none: 'No APIs in this service yet',
  name: 'Name',
  path: 'Path',
  backend: 'Backend',
  version: 'Version',
  operations: 'Operations',
  noOperations: 'No operations are described yet.',
  pathParameters: 'In the path',
  queryParameters: 'In the query',
  headers: 'Headers',
  required: 'required',
  answers: 'Answers',
  notHere:
    'Its backend is not this installation, and pages of the console ask nobody else. As a command:',
  connection: 'Connection',
  connected: 'Somebody has consented; tokens are kept and renewed.',
  notConnected: 'Nobody has consented yet.',
  connect: 'Connect',
  unexpected:
    'This address holds a consent that was not begun in this tab. Whoever gave it may have signed in with an account of their own: finish only if you began it.',
  finish: 'Finish connecting',
  ignore: 'Ignore',
  confirming: 'Confirming the consent',
}

export const explorerTexts = {
  title: 'Explorer',
  lead: 'Every operation of the API, as its documents say. What is sent is sent with your rights.',
  document: 'Document',
  filter: 'Filter operations',
  none: 'No operation has this in its name or path.',
  permission: 'Needs',
  value: 'Body',
  send: 'Send',
  sends: 'Sends',
  confirm: 'I have read it. It is sent with my rights.',
  answer: (status: number, milliseconds: number) => `${status} in ${Math.round(milliseconds)} ms`,
  answerTitle: 'Answer',
  notJson: (why: string) => `This is no JSON: ${why}`,
  choose: 'Choose an operation.',
}
