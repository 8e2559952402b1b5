/**
 * Versions that published clients and templates send for types of this namespace, besides those with a shape here.
 */
export const publishedVersions: readonly string[] = [
  '2014-04-01',
  '2015-05-01-preview',
  '2017-10-01-preview',
  '2018-06-01-preview',
  '2019-06-01-preview',
  '2020-02-02-preview',
  '2020-08-01-preview',
  '2020-11-01-preview',
  '2021-02-01-preview',
  '2021-05-01-preview',
  '2021-08-01-preview',
  '2022-05-01-preview',
  '2022-08-01-preview',
  '2022-11-01-preview',
  '2023-02-01-preview',
  '2023-05-01-preview',
  '2023-08-01',
  '2023-08-01-preview',
  '2024-05-01-preview',
  '2024-11-01-preview',
  '2025-01-01',
]
