/** The versions in which the computed lists of this provider answer; all of them have one shape. */

/** What clients of subscriptions, tenants and locations ask for. */
export const subscriptionVersions: readonly string[] = Object.freeze([
  '2019-11-01',
  '2020-01-01',
  '2021-01-01',
  '2022-12-01',
])

/** What clients of groups, generic lists and provider lists ask for. */
export const managerVersions: readonly string[] = Object.freeze([
  '2019-10-01',
  '2020-06-01',
  '2020-10-01',
  '2021-01-01',
  '2021-04-01',
  '2022-09-01',
  '2023-07-01',
  '2024-03-01',
  '2024-07-01',
  '2024-11-01',
  '2025-04-01',
])
