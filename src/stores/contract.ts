/**
 * The store port as tests: every promise of `store.ts`, asked of each dialect. Knows no dialect; what only
 * one of them can show is tested beside it.
 */

import { feedContract } from './contract/feeds.ts'
import { listContract } from './contract/lists.ts'
import { openingContract } from './contract/opening.ts'
import { type ContractSetting, givenOn } from './contract/setting.ts'
import { transactionContract } from './contract/transactions.ts'
import { workContract } from './contract/work.ts'

export function storeContract(name: string, setting: ContractSetting): void {
  const given = givenOn(setting)
  transactionContract(name, given)
  listContract(name, given, setting)
  workContract(name, given)
  feedContract(name, given)
  openingContract(name, given, setting)
}
