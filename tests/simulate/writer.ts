/**
 * One writer: random calls on its own groups and role assignments, one after the other. It compares each answer
 * with what it knows, and sometimes writes where all writers meet. It judges answers; `audit.ts` judges the store.
 */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Random } from '../fuzz/random.ts'
import type { Ledger, Verdict } from './ledger.ts'
import { absent, GroupModel, going, implied, type Value } from './model.ts'
import type { Replica } from './server-process.ts'

const groupVersion = '2021-04-01'
const assignmentVersion = '2022-04-01'
const requestSeconds = 20
/** Each of these lets its holder read a group. Owner is left out: the reader must not change anything. */
const roles = [
  'acdd72a7-3385-48ef-bd42-f606fba81ae7',
  'b24988ac-6180-42a0-ab88-20f7382dd24c',
  '18d7d88d-d35e-4fb5-a5c3-7773c20a72d9',
] as const

interface WriterDependencies {
  readonly number: number
  readonly random: Random
  readonly replicas: readonly Replica[]
  readonly subscriptionId: string
  readonly ownerToken: string
  /** A service principal whose only rights are those that this writer gives and takes. */
  readonly reader: { readonly principalId: string; readonly token: string }
  readonly ledger: Ledger
  /** Called once for each impossible answer. */
  readonly problem: (text: string) => void
}

interface Reply {
  readonly status: number
  readonly body: unknown
  readonly operation: string | undefined
}

export class Writer {
  readonly groups: readonly GroupModel[]
  /** Paths of started operations, to be followed to their end. */
  readonly operations: string[] = []
  readonly #parts: WriterDependencies
  readonly #shared: readonly string[]

  constructor(deps: WriterDependencies) {
    this.#parts = deps
    const base = `/subscriptions/${deps.subscriptionId}/resourceGroups`
    const assignments = (group: string, seed: number): readonly string[] =>
      roles.map(
        (_, at) =>
          `${group}/providers/Vendor.Authorization/roleAssignments/${guid(deps.number, seed * 10 + at)}`,
      )
    this.groups = [0, 1].map((at) => {
      const path = `${base}/sim-${deps.number}-${at}`
      return new GroupModel(path, assignments(path, at))
    })
    const shared = `${base}/sim-shared`
    this.#shared = [
      shared,
      `${shared}/providers/Vendor.Authorization/roleAssignments/${guid(999, 0)}`,
    ]
  }

  /** Writes until told to stop. Each call is answered or given up before the next. */
  async run(isOver: () => boolean): Promise<void> {
    const { random } = this.#parts
    while (!isOver()) {
      const group = random.pick(this.groups)
      if (this.#upReplicas().length === 0) await sleep(5)
      else if (random.chance(0.15)) await this.#shareOne()
      else if (!group.isUnknown) await this.#writeOne(group)
      else await sleep(5)
    }
  }

  /**
   * A replica that is known to be down is not called: otherwise every call at the end of a round would be doubtful.
   */
  #upReplicas(): readonly Replica[] {
    return this.#parts.replicas.filter((replica) => replica.started !== undefined)
  }

  async #writeOne(group: GroupModel): Promise<void> {
    const { random } = this.#parts
    const at = random.below(roles.length)
    const path = group.assignments[at] ?? ''
    const dice = random.next()
    if (dice < 0.2) return this.#putGroup(group, 'PUT')
    if (dice < 0.3) return this.#putGroup(group, 'PATCH')
    if (dice < 0.35) return this.#deleteGroup(group)
    if (dice < 0.6) return this.#putAssignment(group, path, roles[at] ?? '')
    if (dice < 0.75) return this.#deleteAssignment(group, path)
    if (dice < 0.88) return this.#read(group, random.chance(0.5) ? group.path : path)
    return this.#readAsGranted(group)
  }

  async #putGroup(group: GroupModel, method: 'PUT' | 'PATCH'): Promise<void> {
    const { path } = group
    const content = randomUUID()
    const body = { ...(method === 'PUT' ? { location: 'local' } : {}), tags: { content } }
    const reply = await this.#write(method, path, groupVersion, body, content)
    if (reply === undefined) {
      if (method === 'PUT' || group.mayExist(path)) group.allow(path, content)
      return
    }
    switch (reply.status) {
      case 201:
        if (!group.may(path, absent, going)) this.#wrong(path, '201 for a group that exists')
        return group.groupWritten(content, true)
      case 200:
        if (![...group.possible(path)].some((value) => value !== absent && value !== going)) {
          this.#wrong(path, '200 for a group that does not exist')
        }
        return group.groupWritten(content, false)
      case 404:
        if (method === 'PUT' || !group.may(path, absent, going)) {
          this.#wrong(path, `404 for ${method}`)
        }
        return group.groupGone()
      case 409:
        if (!group.may(path, going)) this.#wrong(path, `409: ${JSON.stringify(reply.body)}`)
        return
      default:
        this.#wrong(path, `${method} answered ${reply.status} ${JSON.stringify(reply.body)}`)
    }
  }

  async #deleteGroup(group: GroupModel): Promise<void> {
    const { path } = group
    const reply = await this.#write(
      'DELETE',
      path,
      groupVersion,
      undefined,
      randomUUID(),
      !group.may(path, going),
    )
    if (reply === undefined) return group.deletionUnknown()
    if (reply.operation !== undefined) this.operations.push(reply.operation)
    if (reply.status === 202) {
      if (!group.mayExist(path)) this.#wrong(path, '202 for deleting what is not there')
      return group.groupDeleted()
    }
    if (reply.status !== 204) return this.#wrong(path, `DELETE answered ${reply.status}`)
    if (!group.may(path, absent, going)) this.#wrong(path, '204 for deleting what is there')
    group.groupGone()
  }

  async #putAssignment(group: GroupModel, path: string, role: string): Promise<void> {
    const content = randomUUID()
    const reply = await this.#write(
      'PUT',
      path,
      assignmentVersion,
      this.#grant(role, content),
      content,
    )
    if (reply === undefined) return group.assignmentUnknown(path, content)
    switch (reply.status) {
      case 201:
        if (!group.may(path, absent)) this.#wrong(path, '201 for an assignment that exists')
        return group.assignmentWritten(path, content)
      case 200:
        if (!group.mayExist(path)) this.#wrong(path, '200 for an assignment that does not exist')
        return group.assignmentWritten(path, content)
      case 409:
        if (!group.may(group.path, going)) this.#wrong(path, `409: ${JSON.stringify(reply.body)}`)
        return
      default:
        this.#wrong(path, `PUT answered ${reply.status} ${JSON.stringify(reply.body)}`)
    }
  }

  #grant(role: string, content: string): object {
    const { principalId } = this.#parts.reader
    return {
      properties: {
        principalId,
        principalType: 'ServicePrincipal',
        roleDefinitionId: `/providers/Vendor.Authorization/roleDefinitions/${role}`,
        description: content,
      },
    }
  }

  async #deleteAssignment(group: GroupModel, path: string): Promise<void> {
    const existed = group.possible(path)
    const isCertain = !existed.has(absent)
    const reply = await this.#write(
      'DELETE',
      path,
      assignmentVersion,
      undefined,
      randomUUID(),
      isCertain,
    )
    if (reply === undefined) return group.allow(path, absent)
    // In a group that is gone there is nothing to delete.
    if (reply.status === 404 && group.may(group.path, absent, going)) {
      return group.settle(path, absent)
    }
    if (reply.status === 204 && isCertain) this.#wrong(path, '204 for deleting what is there')
    else if (reply.status === 200 && !group.mayExist(path)) {
      this.#wrong(path, '200 for deleting what is not there')
    } else if (reply.status !== 200 && reply.status !== 204) {
      return this.#wrong(path, `DELETE answered ${reply.status} ${JSON.stringify(reply.body)}`)
    }
    group.settle(path, absent)
  }

  /** Read your writes, on any replica. */
  async #read(group: GroupModel, path: string): Promise<void> {
    const found = await this.read(path)
    if (found === undefined) return
    const possible = group.possible(path)
    if (possible.has(found)) return
    this.#wrong(path, `GET found ${found}; possible: ${[...possible].join(', ')}`)
  }

  /** A change of rights takes effect with the next request, on any replica. */
  async #readAsGranted(group: GroupModel): Promise<void> {
    const expected = group.grants
    if (expected === undefined) return
    const allowed = await this.isGranted(group)
    if (allowed === undefined || allowed === expected) return
    this.#wrong(
      group.path,
      `the reader is ${allowed ? 'let in' : 'refused'}, against its assignments`,
    )
  }

  async #shareOne(): Promise<void> {
    const { random } = this.#parts
    const content = randomUUID()
    const [group = '', assignment = ''] = this.#shared
    const dice = random.next()
    const isDelete = dice >= 0.8
    const reply =
      dice < 0.5
        ? await this.#write(
            'PUT',
            group,
            groupVersion,
            { location: 'local', tags: { content } },
            content,
          )
        : dice < 0.8
          ? await this.#write(
              'PUT',
              assignment,
              assignmentVersion,
              this.#sharedGrant(content),
              content,
            )
          : dice < 0.95
            ? await this.#write('DELETE', assignment, assignmentVersion, undefined, content, false)
            : await this.#write('DELETE', group, groupVersion, undefined, content, false)
    if (reply === undefined || [200, 201, 202, 204].includes(reply.status)) return
    // Others may delete the group meanwhile.
    if (isDelete && reply.status === 404) return
    if (reply.status !== 409) {
      this.#wrong(group, `a shared write answered ${reply.status} ${JSON.stringify(reply.body)}`)
    }
  }

  /** The same for all writers, since a different principal would be refused. */
  #sharedGrant(content: string): object {
    return {
      properties: {
        principalId: guid(998, 0),
        principalType: 'User',
        roleDefinitionId: `/providers/Vendor.Authorization/roleDefinitions/${roles[0]}`,
        description: content,
      },
    }
  }

  /** The current value at a path; `undefined` if unknown. */
  async read(path: string, on?: Replica): Promise<Value | undefined> {
    const version = path.includes('/providers/') ? assignmentVersion : groupVersion
    const reply = await this.#send(this.#parts.ownerToken, 'GET', path, version, undefined, {}, on)
    if (reply === undefined || reply.status >= 500) return undefined
    if (reply.status === 404) return absent
    if (reply.status !== 200) return `status ${reply.status}`
    // What the server shows of the two types that writers create.
    const { tags, properties } = reply.body as {
      readonly tags?: Readonly<Record<string, string>>
      readonly properties: { readonly provisioningState?: string; readonly description?: string }
    }
    if (properties.provisioningState === 'Deleting') return going
    return tags?.['content'] ?? properties.description ?? implied
  }

  /** Whether the writer's reader is allowed to read a group. */
  async isGranted(group: GroupModel, on?: Replica): Promise<boolean | undefined> {
    const { token } = this.#parts.reader
    const reply = await this.#send(token, 'GET', group.path, groupVersion, undefined, {}, on)
    if (reply === undefined || reply.status >= 500) return undefined
    return reply.status !== 403
  }

  /** `undefined`: doubtful. A refusal is returned as it is. */
  async #write(
    method: string,
    path: string,
    version: string,
    body: object | undefined,
    correlationId: string,
    leavesEvent = true,
  ): Promise<Reply | undefined> {
    const { ledger, ownerToken, random } = this.#parts
    const replica = random.pick(this.#upReplicas())
    const at = Date.now()
    const headers = { 'x-ms-correlation-request-id': correlationId }
    const reply = await this.#send(ownerToken, method, path, version, body, headers, replica)
    const verdict = verdictOf(reply)
    ledger.add({
      correlationId,
      at,
      replica: replica.name,
      method,
      path,
      verdict,
      answer: reply === undefined ? 'nothing' : String(reply.status),
      leavesEvent: leavesEvent && reply?.status !== 204,
    })
    if (verdict !== 'doubtful') return reply
    if (reply !== undefined && reply.status !== 503) {
      this.#wrong(path, `${method} answered ${reply.status} ${JSON.stringify(reply.body)}`)
    }
    await sleep(10)
    return undefined
  }

  async #send(
    token: string,
    method: string,
    path: string,
    version: string,
    body: object | undefined,
    headers: Readonly<Record<string, string>>,
    on: Replica | undefined = this.#parts.random.pick(this.#upReplicas()),
  ): Promise<Reply | undefined> {
    if (on?.started === undefined) return undefined
    try {
      const response = await fetch(`${on.started.url}${path}?api-version=${version}`, {
        method,
        signal: AbortSignal.timeout(requestSeconds * 1000),
        headers: {
          ...headers,
          authorization: `Bearer ${token}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      const link = response.headers.get('vendor-asyncoperation')
      return {
        status: response.status,
        body: text === '' ? undefined : JSON.parse(text),
        operation: link === null ? undefined : new URL(link).pathname + new URL(link).search,
      }
    } catch {
      // Killed during the request, or not listening: the outcome is unknown.
      return undefined
    }
  }

  #wrong(path: string, text: string): void {
    this.#parts.problem([`${path}: ${text}`, ...this.#parts.ledger.historyOf(path)].join('\n'))
  }
}

function verdictOf(reply: Reply | undefined): Verdict {
  if (reply === undefined || reply.status >= 500) return 'doubtful'
  return reply.status < 300 ? 'acknowledged' : 'refused'
}

function guid(first: number, last: number): string {
  const digits = (value: number, count: number): string => value.toString(16).padStart(count, '0')
  return `${digits(first, 8)}-0000-4000-8000-${digits(last, 12)}`
}
