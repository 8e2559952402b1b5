/**
 * Decides who may do what in a company. `full` allows everything, `sales` reads everything and writes customers and
 * sales documents, `read` reads everything. Rights name principals or groups; administrators of the installation
 * have full rights everywhere.
 */

import type { Principal } from '#kernel/principal.ts'
import { allRows } from '#query/rows.ts'
import { selecting } from '#query/table.ts'
import { type Role, roles } from './entities/access-rights.ts'
import type { Entity } from './entity.ts'
import { refuse } from './errors.ts'
import type { BusinessRequest, Reads } from './message.ts'
import { accessRights } from './tables.ts'
import { lockFor, sharedTurn, type Writing } from './write/rows.ts'

export interface AccessDependencies {
  groupsOf(principalId: string): Promise<readonly string[]>
  /** Whether the caller may administer the installation's companies: with `refreshed`, as is known once it resolves. */
  administers(principal: Principal, refreshed?: Promise<unknown>): Promise<boolean>
}

interface Rights {
  readonly isAdministrator: boolean
  /** The strongest role of the caller, by company. */
  readonly byCompany: ReadonlyMap<string, Role>
}

/** The caller as rights name it. It is looked up before any transaction. */
export interface Caller {
  readonly principal: Principal
  readonly isAdministrator: boolean
  /** The caller's id and those of its groups. */
  readonly names: readonly string[]
}

export async function callerOf(
  deps: AccessDependencies,
  principal: Principal,
  refreshed?: Promise<unknown>,
): Promise<Caller> {
  const isAdministrator = await deps.administers(principal, refreshed)
  if (isAdministrator) return { principal, isAdministrator, names: [] }
  const known = [principal.id, ...principal.groups, ...(await deps.groupsOf(principal.id))]
  return { principal, isAdministrator, names: [...new Set(known)].slice(0, groupsMax) }
}

/** The caller of a request that waited, as they are now. Rejects with the refusal if they may not act any more. */
export async function callerAgain(
  deps: AccessDependencies,
  request: Pick<BusinessRequest, 'principal' | 'authorizeAgain'>,
): Promise<Caller> {
  return await callerOf(deps, (await request.authorizeAgain?.()) ?? request.principal)
}

const granted = selecting(accessRights, 'company_id', 'role')

/** What the caller may do in all companies. */
export function rightsOf(
  reads: Reads,
  caller: Pick<Caller, 'isAdministrator' | 'names'>,
): Promise<Rights> {
  return granting(reads, caller, { beginning: '', ending: '' })
}

/**
 * What the caller may do in a company. Whoever changes that waits until the transaction has ended, and whoever comes
 * later waits for them.
 */
export async function keptRightsOf(
  writing: Writing,
  caller: Pick<Caller, 'isAdministrator' | 'names'>,
  companyId: string | undefined,
): Promise<Rights> {
  const isShared = writing.dialect === 'postgres'
  // As they are once it is the caller's turn, not as they were before.
  const beginning = isShared
    ? `id in (select id from (select id, ${sharedTurn} from ${accessRights.name} where `
    : ''
  const ending = isShared ? ` offset 0) as waited)${lockFor(writing, 'permission')}` : ''
  const how = { beginning, ending: ` and company_id = ?${ending}` }
  return await granting(writing.tx, caller, how, companyId ?? '')
}

async function granting(
  reads: Reads,
  { isAdministrator, names }: Pick<Caller, 'isAdministrator' | 'names'>,
  { beginning, ending }: { readonly beginning: string; readonly ending: string },
  ...values: readonly string[]
): Promise<Rights> {
  const byCompany = new Map<string, Role>()
  if (isAdministrator) return { isAdministrator, byCompany }
  const where = `where ${beginning}principal_id in (${names.map(() => '?').join(', ')})${ending}`
  for (const row of await allRows(reads, granted, where, ...names, ...values)) {
    const { company_id: companyId } = row
    const role = roles.find((one) => one === row.role)
    const had = byCompany.get(companyId)
    if (role !== undefined && (had === undefined || roles.indexOf(role) < roles.indexOf(had))) {
      byCompany.set(companyId, role)
    }
  }
  return { isAdministrator, byCompany }
}

/** The companies in which the caller may write. Undefined means all. */
export function writableCompanies(rights: Rights): readonly string[] | undefined {
  if (rights.isAdministrator) return undefined
  return [...rights.byCompany].flatMap(([id, role]) => (role === 'read' ? [] : [id]))
}

/** Throws 403 unless there is a company in which the caller may write. */
export function requireWriter(rights: Rights): void {
  if (writableCompanies(rights)?.length !== 0) return
  const needs = 'sales'
  throw refuse.Authorization_RequestDenied({ what: 'write', company: '*', needs })
}

/** Whether the caller has full rights in the company. */
export function isFull(rights: Rights, companyId: string | undefined): boolean {
  return rights.isAdministrator || rights.byCompany.get(companyId ?? '') === 'full'
}

/** The number of groups that are considered. */
const groupsMax = 500

const salesSets: ReadonlySet<string> = new Set([
  'customers',
  'salesInvoices',
  'salesInvoiceLines',
  'salesQuotes',
  'salesQuoteLines',
  'salesCreditMemos',
  'salesCreditMemoLines',
  'customerPayments',
  'outboxEntries',
])

/** Throws 403. `companyId` is undefined only for the set of companies itself. */
export function authorize(
  rights: Rights,
  companyId: string | undefined,
  entity: Entity,
  isWrite: boolean,
): void {
  if (rights.isAdministrator) return
  if (companyId === undefined) {
    if (!isWrite) return
    throw refuse.Authorization_RequestDenied({
      what: 'write',
      company: '*',
      needs: 'of an administrator',
    })
  }
  const role = rights.byCompany.get(companyId)
  const what = `${isWrite ? 'write' : 'read'} ${entity.set}`
  if (!mayRead(rights, companyId, entity)) {
    const needs = entity.set === 'accessRights' ? 'full' : isWrite ? roleToWrite(entity) : 'read'
    throw refuse.Authorization_RequestDenied({ what, company: companyId, needs })
  }
  if (!isWrite || role === 'full') return
  if (role === 'sales' && salesSets.has(entity.set)) return
  throw refuse.Authorization_RequestDenied({ what, company: companyId, needs: roleToWrite(entity) })
}

/** Whether the caller may read the entity in a company, if there is one of this id. */
export function mayRead(rights: Rights, companyId: string, entity: Entity): boolean {
  if (rights.isAdministrator) return true
  const role = rights.byCompany.get(companyId)
  return role !== undefined && (entity.set !== 'accessRights' || role === 'full')
}

function roleToWrite(entity: Entity): 'sales' | 'full' {
  return salesSets.has(entity.set) ? 'sales' : 'full'
}
