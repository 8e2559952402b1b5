/** Texts of the forms that write a resource. */

export const writeTexts = {
  create: 'Create a resource',
  createLead:
    'The fields are those of the type’s newest version; the JSON beside is the same, and either can be changed.',
  type: 'Type',
  anyType: 'Choose a type',
  name: 'Name',
  names: (type: string) => `Name (${type})`,
  version: 'API version',
  json: 'JSON',
  fields: 'Fields',
  notJson: (why: string) => `This is no JSON: ${why}`,
  createNow: 'Create',
  save: 'Save',
  saved: 'Saved',
  noForm: 'This version says nothing of its fields; write the JSON.',
  cannotWrite: 'This type is not written by itself.',
  secrets:
    'What is secret was not read: leave it empty, and it stays if its type keeps it, or type it again.',
  add: 'Add a property',
  addTo: (path: string) => (path === '' ? 'Add a property' : `Add a property to ${path}`),
  remove: (name: string) => `Remove ${name}`,
  another: (path: string) => `Add one to ${path}`,
  anotherShort: 'Add one',
  how: { texts: 'One a line', map: 'One a line: name=value', json: 'JSON' },
} as const
