/** The versions of this namespace (contract, Versioning), and the first version of each type. */

export const allDates = [
  '2016-07-07',
  '2016-10-10',
  '2017-03-01',
  '2018-01-01',
  '2018-06-01-preview',
  '2019-01-01',
  '2019-12-01',
  '2019-12-01-preview',
  '2020-06-01-preview',
  '2020-12-01',
  '2021-01-01-preview',
  '2021-04-01-preview',
  '2021-08-01',
  '2021-12-01-preview',
  '2022-04-01-preview',
  '2022-08-01',
  '2022-09-01-preview',
  '2023-03-01-preview',
  '2023-05-01-preview',
  '2023-09-01-preview',
  '2024-05-01',
  '2024-06-01-preview',
  '2024-10-01-preview',
  '2025-03-01-preview',
] as const

/** Versions from one day on; dates as text are in order of time. */
function datesFrom(day: string): readonly string[] {
  return allDates.filter((date) => date >= day)
}

/** Versions with workspaces (contract, API operation definition). */
export const workspaceDates: readonly string[] = datesFrom('2024-05-01')

/** Versions of authorizations: one shape in all of them; the contract names 2024-05-01. */
export const authorizationDates: readonly string[] = datesFrom('2022-04-01-preview')

/** Version sets, products, groups, fragments and backends: one shape in all of these. */
export const definitionDates: readonly string[] = datesFrom('2021-08-01')
