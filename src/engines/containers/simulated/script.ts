/**
 * What a simulated container does, told by a variable of its own environment:
 * `ARMATURE_SIMULATE=exit:3@5s;log:hello`. Pure; words it does not know are refused, so that a typing error
 * does not look like a container that runs well.
 *
 * | word | meaning |
 * | --- | --- |
 * | `exit:N@Ts` | every run ends with code N after T seconds (`@…` left out: at once) |
 * | `crash` | `exit:1@1s`: with a restart policy, a crash loop |
 * | `pull-error` | its image cannot be pulled |
 * | `start-error` | its command cannot be run |
 * | `probe-fail@Ts` | its probes fail from T seconds after each start on |
 * | `log:text` | each run writes this line when it starts |
 */

import { type ContainerSpec, EngineError } from '../engine.ts'

export const scriptVariable = 'ARMATURE_SIMULATE'

export interface Script {
  /** How each run ends; undefined: it runs for ever. */
  readonly end?: { readonly exitCode: number; readonly afterMs: number }
  readonly pullError: boolean
  readonly startError: boolean
  /** How long after a start probes begin to fail; undefined: never. */
  readonly probeFailAfterMs?: number
  readonly lines: readonly string[]
}

const wordPattern =
  /^(exit:(\d{1,3})|crash|pull-error|start-error|probe-fail)(?:@(\d+(?:\.\d+)?)s)?$/

/** An init part without a script succeeds at once; otherwise its group would wait for ever. */
export function readScript(part: ContainerSpec): Script {
  const text = part.environment.find(({ name }) => name === scriptVariable)?.value ?? ''
  const lines: string[] = []
  let script: Script = {
    pullError: false,
    startError: false,
    lines,
    ...(part.init ? { end: { exitCode: 0, afterMs: 0 } } : {}),
  }
  for (const word of text.split(';')) {
    if (word.startsWith('log:')) lines.push(word.slice(4))
    else if (word !== '') script = withWord(script, word)
  }
  return script
}

function withWord(script: Script, word: string): Script {
  const match = wordPattern.exec(word)
  if (match === null)
    throw new EngineError('refused', `${scriptVariable}: '${word}' is no word of it`)
  const afterMs = Math.round(Number(match[3] ?? 0) * 1000)
  switch (match[1]) {
    case 'crash':
      return { ...script, end: { exitCode: 1, afterMs: match[3] === undefined ? 1000 : afterMs } }
    case 'pull-error':
      return { ...script, pullError: true }
    case 'start-error':
      return { ...script, startError: true }
    case 'probe-fail':
      return { ...script, probeFailAfterMs: afterMs }
    default:
      return { ...script, end: { exitCode: Number(match[2]), afterMs } }
  }
}
