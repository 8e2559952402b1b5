/**
 * The operations on the installation itself, below `/_armature/`: who may call them, what is recorded, and what
 * each does. They exist only when the setting is on. Then only the owner may call them, by default only from this
 * machine.
 */

import { type Static, type TSchema, Type } from 'typebox'
import type { ActivityQueue } from '#activity/queue.ts'
import { type Initiator, targetOf } from '#activity/record.ts'
import type { DirectoryRoute } from '#http/directory.ts'
import { refuse } from '#kernel/error.ts'
import { qualify } from '#kernel/vendor.ts'
import type { Config } from '../config.ts'
import { parseDuration } from '../control/duration.ts'
import type { Faults } from '../control/faults.ts'
import { isMoment, type MovedClock, rateMax } from '../control/moved-clock.ts'
import type { SavedState } from '../control/snapshots.ts'
import { initialState } from '../control/snapshots.ts'
import { openStateChunks } from '../control/state-chunks.ts'
import type { States } from '../control/states.ts'
import { faultRuleBody, withEffect } from './fault-rule.ts'

/** Actions that only the owner has and no role gives. */
export const controlNamespace = 'Control/'

interface ControlOptions {
  readonly config: Pick<Config, 'control' | 'words'>
  readonly movedClock: MovedClock | undefined
  readonly states: States
  readonly faults: Faults | undefined
  readonly activity: Pick<ActivityQueue, 'note'>
}

interface ControlRoute extends Omit<DirectoryRoute, 'action' | 'status' | 'run'> {
  /** `Control/clock/advance/action` */
  readonly action: string
  run(body: unknown, params: Readonly<Record<string, string>>): Promise<object> | object
}

/** Empty when control is off: the paths are then unknown like any other. */
export function controlRoutes(options: ControlOptions): readonly DirectoryRoute[] {
  const { config, movedClock, states, faults, activity } = options
  if (faults === undefined) return []
  const routes = [...clockRoutes(movedClock), ...stateRoutes(states), ...faultRoutes(faults)]
  return routes.map((route) => ({
    ...route,
    status: 200,
    async run(params, body, _query, initiator) {
      if (config.control === 'local' && !isLocal(initiator)) {
        throw refuse.ControlNotPossible({
          reason:
            'it is asked from another machine or through a proxy, and ARMATURE_CONTROL is `local`',
        })
      }
      const answer = await route.run(body, params)
      if (route.method !== 'GET') {
        activity.note({
          initiator,
          action: qualify(config.words, route.action),
          target: targetOf(route.path),
          status: 'Succeeded',
          httpStatus: 200,
        })
      }
      return answer
    },
  }))
}

/** A proxy on this machine has an address of it, and that is what counts where its headers say nothing certain. */
function isLocal({ from }: Initiator): boolean {
  if (from?.isForwarded === true) return false
  return /^(?:::ffff:)?127\.|^::1$/.test(from?.address ?? '')
}

/** Defines a route whose body has the schema's type. */
function define<T extends TSchema>(
  route: Omit<ControlRoute, 'run' | 'body'> & {
    readonly body: T
    run(body: Static<T>, params: Readonly<Record<string, string>>): Promise<object> | object
  },
): ControlRoute {
  // The edge validates the body by this schema before it calls `run`.
  return route as unknown as ControlRoute
}

const ClockUpdate = Type.Object(
  {
    /** ISO 8601. */
    at: Type.Optional(Type.String({ maxLength: 40 })),
    rate: Type.Optional(Type.Number({ minimum: 0, maximum: rateMax })),
  },
  { additionalProperties: false },
)
const ClockAdvance = Type.Object(
  { by: Type.String({ maxLength: 40 }) },
  { additionalProperties: false },
)

function clockRoutes(clock: MovedClock | undefined): readonly ControlRoute[] {
  const movable = (): MovedClock => {
    if (clock !== undefined) return clock
    throw refuse.ControlNotPossible({
      reason: 'the clock is the machine’s; start with ARMATURE_CLOCK=manual to move it',
    })
  }
  const shown = () => {
    const { at, rate } = movable().state()
    return { at: new Date(at).toISOString(), rate, state: rate === 0 ? 'stopped' : 'running' }
  }
  return [
    {
      method: 'GET',
      path: '/_armature/clock',
      action: `${controlNamespace}clock/read`,
      run: shown,
    },
    define({
      method: 'PATCH',
      path: '/_armature/clock',
      action: `${controlNamespace}clock/write`,
      body: ClockUpdate,
      async run({ at, rate }) {
        const moment = at === undefined ? undefined : Date.parse(at)
        if (moment !== undefined && !isMoment(moment)) {
          throw refuse.InvalidRequestContent(
            { reason: `'at' must be a moment such as 2030-01-31T12:00:00Z` },
            { target: 'at' },
          )
        }
        if (rate !== undefined) movable().setRate(rate)
        if (moment !== undefined) await movable().set(moment)
        return shown()
      },
    }),
    define({
      method: 'POST',
      path: '/_armature/clock/advance',
      action: `${controlNamespace}clock/advance/action`,
      body: ClockAdvance,
      async run({ by }) {
        const milliseconds = parseDuration(by)
        if (milliseconds === undefined) {
          throw refuse.InvalidRequestContent(
            { reason: `'by' must be a span of time such as 90s, 2h, 1d12h or PT2H` },
            { target: 'by' },
          )
        }
        await movable().advance(milliseconds)
        return shown()
      },
    }),
  ]
}

const StateContent = Type.Object(
  {
    content: Type.String({ minLength: 1 }),
    /** Of a chunk of a state: where it begins, and the length of the whole. */
    at: Type.Optional(Type.Integer({ minimum: 0 })),
    total: Type.Optional(Type.Integer({ minimum: 1 })),
  },
  { additionalProperties: false },
)

function stateRoutes(states: States): readonly ControlRoute[] {
  const shown = ({ name, bytes, savedAt }: SavedState) => ({
    name,
    bytes,
    savedAt: new Date(savedAt).toISOString(),
  })
  const restore = async (name: string) => {
    const { savedAt, rows } = await states.restore(name)
    return { name, savedAt: new Date(savedAt).toISOString(), rows }
  }
  const chunks = openStateChunks()
  const one = '/_armature/snapshots/{name}'
  return [
    {
      method: 'GET',
      path: '/_armature/snapshots',
      action: `${controlNamespace}snapshots/read`,
      run: () => ({ value: states.list().map(shown) }),
    },
    {
      method: 'PUT',
      path: one,
      action: `${controlNamespace}snapshots/write`,
      run: async (_body, { name = '' }) => shown(await states.save(name)),
    },
    {
      method: 'DELETE',
      path: one,
      action: `${controlNamespace}snapshots/delete`,
      run(_body, { name = '' }) {
        states.remove(name)
        return {}
      },
    },
    {
      method: 'POST',
      path: `${one}/restore`,
      action: `${controlNamespace}snapshots/restore/action`,
      run: (_body, { name = '' }) => restore(name),
    },
    {
      method: 'GET',
      path: `${one}/content`,
      action: `${controlNamespace}snapshots/export/action`,
      run: (_body, { name = '' }) => ({
        name,
        content: Buffer.from(states.read(name)).toString('base64'),
      }),
    },
    define({
      method: 'PUT',
      path: `${one}/content`,
      action: `${controlNamespace}snapshots/import/action`,
      body: StateContent,
      run(body, { name = '' }) {
        const content = Buffer.from(body.content, 'base64')
        const { at = 0, total = content.length } = body
        const whole = chunks.take(name, { content, at, total })
        return whole === undefined
          ? { name, bytes: at + content.length }
          : shown(states.write(name, whole))
      },
    }),
    {
      method: 'POST',
      path: '/_armature/reset',
      action: `${controlNamespace}reset/action`,
      run: () => restore(initialState),
    },
  ]
}

function faultRoutes(faults: Faults): readonly ControlRoute[] {
  const all = () => ({ value: faults.list() })
  return [
    {
      method: 'GET',
      path: '/_armature/faults',
      action: `${controlNamespace}faults/read`,
      run: all,
    },
    define({
      method: 'POST',
      path: '/_armature/faults',
      action: `${controlNamespace}faults/write`,
      body: faultRuleBody,
      run: (rule) => ({ id: faults.add(withEffect(rule)) }),
    }),
    {
      method: 'POST',
      path: '/_armature/faults/scenarios/{name}',
      action: `${controlNamespace}faults/write`,
      run: (_body, { name = '' }) => ({ ids: faults.play(name) }),
    },
    {
      method: 'DELETE',
      path: '/_armature/faults',
      action: `${controlNamespace}faults/delete`,
      run() {
        faults.clear()
        return {}
      },
    },
    {
      method: 'DELETE',
      path: '/_armature/faults/{id}',
      action: `${controlNamespace}faults/delete`,
      run(_body, { id = '' }) {
        faults.clear(id)
        return {}
      },
    },
  ]
}
