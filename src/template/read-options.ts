/** Reads what a resource says in `@options`: how its deployment goes on where it is there, refused, or not ready yet. */
import { type CompileDependencies, compile } from './compile.ts'
import type { Expression } from './expression.ts'
import { type Field, isArray, membersOf } from './fields.ts'
import { readDuration } from './functions/moment.ts'
import type { PlanNode } from './plan.ts'
import { childPath, type TemplatePath } from './template-path.ts'

export interface ResourceOptions extends Pick<PlanNode, 'onlyNew' | 'retryOn'> {
  /** An existing resource is null where it is not there. */
  readonly orNull?: true
  readonly waitUntil?: {
    /** Of the resource as it is read; it is ready when this is true. */
    readonly lambda: Expression
    readonly seconds: number
    readonly path: TemplatePath
  }
}

const retriesMax = 100
/** Where no time is given, and at most: a deployment itself has six hours. */
const waitSecondsUsual = 3600
const waitSecondsMax = 6 * 3600

/** Compilers write an option as the array of its arguments (decision 0172). */
export function readOptions(
  options: Field | undefined,
  deps: CompileDependencies,
): ResourceOptions {
  const { problems } = deps
  let read: ResourceOptions = { onlyNew: false }
  for (const [name, field] of membersOf(options, "'@options'", problems)) {
    switch (name.toLowerCase()) {
      case 'onlyifnotexists':
        read = { ...read, onlyNew: readFlag(field, deps) }
        break
      case 'nullifnotfound':
        read = { ...read, ...(readFlag(field, deps) ? { orNull: true } : {}) }
        break
      case 'retryon':
        read = { ...read, ...readRetryOn(field, deps) }
        break
      case 'waituntil':
        read = { ...read, ...readWaitUntil(field, deps) }
        break
      default:
        problems.add(field.path, `the option '${name.slice(0, 60)}' is not served here`)
    }
  }
  return read
}

function readFlag({ value, path }: Field, { problems }: CompileDependencies): boolean {
  if (isArray(value) && value.length === 0) return true
  if (typeof value !== 'boolean') problems.add(path, 'expected true or false')
  return value === true
}

function readRetryOn(
  { value, path }: Field,
  { problems }: CompileDependencies,
): Pick<ResourceOptions, 'retryOn'> {
  const [codes = null, count = 1] = isArray(value) && value.length <= 2 ? value : []
  const words = isArray(codes) ? codes.filter((one) => typeof one === 'string' && one !== '') : []
  const isWhole = typeof count === 'number' && Number.isInteger(count)
  if (!isArray(codes) || words.length === 0 || words.length < codes.length) {
    problems.add(path, "expected the codes of errors and how often: [['Conflict'], 3]")
  } else if (!isWhole || count < 1 || count > retriesMax) {
    problems.add(path, `an error is retried 1 to ${retriesMax} times`)
  } else return { retryOn: { codes: words.map((one) => String(one).toLowerCase()), count } }
  return {}
}

function readWaitUntil(
  { value, path }: Field,
  deps: CompileDependencies,
): Pick<ResourceOptions, 'waitUntil'> {
  const { problems } = deps
  const [text = null, time = `PT${waitSecondsUsual}S`] =
    isArray(value) && value.length <= 2 ? value : []
  const lambda = compile(text, childPath(path, 0), deps)
  const duration = typeof time === 'string' ? readDuration(time) : undefined
  if (lambda.kind === 'broken') return {}
  if (lambda.kind !== 'expression' || !isLambda(lambda.expression)) {
    problems.add(path, "expected a lambda of the resource and a duration: ['[lambda(…)]', 'PT1M']")
  } else if (duration === undefined || duration.seconds < 0 || duration.seconds > waitSecondsMax) {
    problems.add(path, `a resource is waited for at most ${waitSecondsMax / 3600} hours: PT1M`)
  } else {
    return { waitUntil: { lambda: lambda.expression, seconds: duration.seconds, path } }
  }
  return {}
}

export function isLambda(expression: Expression): boolean {
  return expression.kind === 'call' && expression.name.toLowerCase() === 'lambda'
}
