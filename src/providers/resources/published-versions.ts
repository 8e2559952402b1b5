/**
 * Versions that published clients and templates send for types of this namespace, besides those with a shape here.
 */
export const publishedVersions: readonly string[] = [
  '2015-01-01',
  '2015-11-01',
  '2016-02-01',
  '2016-06-01',
  '2016-07-01',
  '2016-09-01',
  '2017-05-10',
  '2017-08-01',
  '2018-02-01',
  '2018-05-01',
  '2018-06-01',
  '2018-11-01',
  '2019-03-01',
  '2019-05-01',
  '2019-05-10',
  '2019-06-01',
  '2019-07-01',
  '2019-08-01',
  '2019-09-01',
  '2019-10-01',
  '2019-11-01',
  '2020-01-01',
  '2020-06-01',
  '2020-07-01',
  '2020-08-01',
  '2020-10-01',
  '2021-01-01',
  '2021-04-01',
  '2021-10-01',
  '2022-06-01',
  '2022-09-01',
  '2022-12-01',
  '2023-07-01',
  '2024-03-01',
  '2024-07-01',
  '2024-11-01',
  '2025-03-01',
  '2025-04-01',
  '2025-07-01',
  '2026-06-01',
]

/** Versions that clients of subscriptions, tenants and locations send. */
export const subscriptionVersions: readonly string[] = Object.freeze([
  '2019-11-01',
  '2020-01-01',
  '2021-01-01',
  '2022-12-01',
])

/** Versions that clients of groups, generic lists and provider lists send. */
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

/** Versions that clients of tags send; the type exists since the first. */
export const tagVersions: readonly string[] = managerVersions

/** Versions that clients of template specs send, except the first preview, which has other properties. */
export const templateSpecVersions: readonly string[] = Object.freeze([
  '2021-03-01-preview',
  '2021-05-01',
  '2022-02-01',
])
