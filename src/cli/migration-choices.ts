/**
 * What a migration waits for, and the answers a watching person may give: keys, questions, and the properties of
 * the PATCH (facts 8.4). Pure.
 */

import {
  hasEnded,
  type MigrationStatus,
  namesIn,
  openDatabases,
  readyForCutover,
} from './migrations.ts'

interface Choice {
  /** One character. */
  readonly key: string
  readonly text: string
  /** What the key does: answer at once, ask for a line, or leave. */
  readonly leads:
    | { readonly kind: 'patch'; readonly properties: object }
    | {
        readonly kind: 'ask'
        readonly question: string
        /** The properties of the PATCH, or what is wrong with the line. */
        read(line: string): object | string
      }
    | { readonly kind: 'leave' }
}

/** Why the migration waits for a person; undefined while it continues. */
export function waitReason(status: MigrationStatus): string | undefined {
  if (status.state !== 'WaitingForUserAction') return undefined
  if (status.answered.includes(status.subState)) return undefined
  switch (status.subState) {
    case 'WaitingForCutoverTrigger':
      return `waits for the cutover of ${readyForCutover(status).join(', ')}`
    case 'WaitingForTargetDBOverwriteConfirmation':
      return `waits for leave to drop at the target: ${withMessage(status).join(', ')}`
    case 'WaitingForLogicalReplicationSetupRequestOnSourceDB':
      return `${status.mayBeSetUp ? 'waits for the source' : 'waits for leave to set up the source'}: ${firstMessage(status)}`
    case 'WaitingForDBsToMigrateSpecification':
      return 'waits for the names of the databases to migrate'
    case 'WaitingForDataMigrationScheduling':
      return 'waits for its time: start it, or say when'
    // It continues by itself.
    case 'WaitingForDataMigrationWindow':
      return undefined
    default:
      return `waits: ${status.subState}`
  }
}

/** One database can be cut over while others are still being copied. */
export function choicesFor(status: MigrationStatus): readonly Choice[] {
  if (hasEnded(status)) return []
  const answers = answersTo(status)
  return answers.length === 0 && status.state !== 'WaitingForUserAction'
    ? []
    : [...answers, cancel, leave]
}

const leave: Choice = {
  key: 'q',
  text: 'stop watching; it goes on',
  leads: { kind: 'leave' },
}

const cancel: Choice = confirmed('x', 'call it off', 'Type yes to call it all off', {
  cancel: 'True',
})

function answersTo(status: MigrationStatus): readonly Choice[] {
  const ready = readyForCutover(status)
  if (ready.length > 0) return cutovers(ready, ready.length === openDatabases(status).length)
  if (status.state !== 'WaitingForUserAction') return []
  switch (status.subState) {
    case 'WaitingForTargetDBOverwriteConfirmation': {
      const names = withMessage(status).join(', ')
      const question = `Type yes to drop at the target: ${names}`
      return [
        confirmed('o', `drop ${names} at the target`, question, { overwriteDbsInTarget: 'True' }),
      ]
    }
    case 'WaitingForLogicalReplicationSetupRequestOnSourceDB': {
      const properties = { setupLogicalReplicationOnSourceDbIfNeeded: 'True' }
      const text = 'let the migration set up the source'
      return status.mayBeSetUp ? [] : [{ key: 'l', text, leads: { kind: 'patch', properties } }]
    }
    case 'WaitingForDBsToMigrateSpecification':
      return [names('d', 'name the databases', { property: 'dbsToMigrate' }, {})]
    case 'WaitingForDataMigrationScheduling':
    case 'WaitingForDataMigrationWindow':
      return [
        {
          key: 'n',
          text: 'start now',
          leads: { kind: 'patch', properties: { startDataMigration: 'True' } },
        },
        {
          key: 'w',
          text: 'say when',
          leads: { kind: 'ask', question: whenQuestion, read: readTime },
        },
      ]
    default:
      return []
  }
}

function cutovers(ready: readonly string[], areAll: boolean): readonly Choice[] {
  const properties = {
    triggerCutover: 'True',
    // The flag alone concerns all databases, of which some may not be ready.
    ...(areAll ? {} : { dbsToTriggerCutoverOn: ready }),
  }
  const all: Choice = {
    key: 'a',
    text: `cut over ${ready.length === 1 ? ready[0] : `all ${ready.length}`}`,
    leads: { kind: 'patch', properties },
  }
  const flag = { triggerCutover: 'True' }
  const some = names(
    's',
    'cut over some',
    { known: ready, property: 'dbsToTriggerCutoverOn' },
    flag,
  )
  return ready.length === 1 ? [all] : [all, some]
}

/** Parses a list of names, which must be among the known ones. */
function names(
  key: string,
  text: string,
  { known, property }: { readonly known?: readonly string[]; readonly property: string },
  more: object,
): Choice {
  const which = known === undefined ? '' : ` of ${known.join(', ')}`
  const read = (line: string): object | string => {
    const given = namesIn(line)
    if (given.length === 0) return 'no name was typed'
    const unknown = given.find((name) => known !== undefined && !known.includes(name))
    if (unknown !== undefined) return `${unknown} is not among them`
    return { ...more, [property]: given }
  }
  return { key, text, leads: { kind: 'ask', question: `Names, with commas${which}`, read } }
}

function confirmed(key: string, text: string, question: string, properties: object): Choice {
  const read = (line: string): object | string => (line === 'yes' ? properties : 'nothing was done')
  return { key, text, leads: { kind: 'ask', question, read } }
}

const whenQuestion = 'Not before, as 2030-01-31T22:00:00Z'

function readTime(line: string): object | string {
  return line === '' ? 'no time was typed' : { migrationWindowStartTimeInUtc: line }
}

/** The databases with a message while the migration waits. */
function withMessage({ databases }: MigrationStatus): readonly string[] {
  return databases.filter(({ message }) => message !== '').map(({ name }) => name)
}

function firstMessage({ databases }: MigrationStatus): string {
  return databases.find(({ message }) => message !== '')?.message ?? ''
}

/** The state of the dialogue with the watching person. */
interface PromptState {
  /** The question that is being answered, and the line typed so far. */
  readonly asked: { readonly key: string; readonly typed: string } | undefined
  /** The fault of the last answer. */
  readonly complaint: string
}

export const emptyPrompt: PromptState = { asked: undefined, complaint: '' }

export type PromptDecision =
  | { readonly kind: 'patch'; readonly properties: object }
  | { readonly kind: 'leave' }

/** Handles one key. A selection that is no longer offered is dropped. */
export function handleKey(
  talk: PromptState,
  character: string,
  choices: readonly Choice[],
): { readonly talk: PromptState; readonly said?: PromptDecision } {
  if (character === '\u0003' || character === '\u0004') return { talk, said: { kind: 'leave' } }
  const open = questionOf(talk, choices)
  if (talk.asked === undefined || open === undefined) return choose(character, choices)
  const { key, typed } = talk.asked
  if (character === '\u001b') return { talk: emptyPrompt }
  if (character === '\u007f' || character === '\b') {
    return { talk: { asked: { key, typed: typed.slice(0, -1) }, complaint: '' } }
  }
  if (character !== '\r' && character !== '\n') {
    return { talk: { asked: { key, typed: typed + character }, complaint: '' } }
  }
  const properties = open.read(typed.trim())
  if (typeof properties === 'string') return { talk: { asked: undefined, complaint: properties } }
  return { talk: emptyPrompt, said: { kind: 'patch', properties } }
}

function choose(
  character: string,
  choices: readonly Choice[],
): { readonly talk: PromptState; readonly said?: PromptDecision } {
  const chosen = choices.find(({ key }) => key === character.toLowerCase())
  switch (chosen?.leads.kind) {
    case undefined:
      return { talk: emptyPrompt }
    case 'ask':
      return { talk: { asked: { key: chosen?.key ?? '', typed: '' }, complaint: '' } }
    case 'patch':
      return { talk: emptyPrompt, said: chosen.leads }
    default:
      return { talk: emptyPrompt, said: { kind: 'leave' } }
  }
}

function questionOf(
  { asked }: PromptState,
  choices: readonly Choice[],
): Extract<Choice['leads'], { kind: 'ask' }> | undefined {
  const leads = choices.find(({ key }) => key === asked?.key)?.leads
  return leads?.kind === 'ask' ? leads : undefined
}

/** The lines below the bars. */
export function promptLines(
  status: MigrationStatus,
  talk: PromptState,
  choices: readonly Choice[],
): readonly string[] {
  if (choices.length === 0) return []
  const question = questionOf(talk, choices)
  const reason = waitReason(status)
  return [
    '',
    ...(reason === undefined ? [] : [`It ${reason}.`]),
    ...(talk.complaint === '' ? [] : [`(${talk.complaint})`]),
    question === undefined
      ? choices.map(({ key, text }) => `${key}: ${text}`).join('   ')
      : `${question.question}: ${talk.asked?.typed ?? ''}`,
  ]
}
