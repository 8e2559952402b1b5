/**
 * Versions that published clients and templates send for types of this namespace, besides those with a shape here.
 */
export const publishedVersions: readonly string[] = [
  '2017-08-01-preview',
  '2017-10-01-preview',
  '2017-12-01-preview',
  '2018-02-01-preview',
  '2018-04-01',
  '2018-06-01',
  '2018-09-01',
  '2018-10-01',
  '2019-12-01',
  '2020-11-01',
  '2021-03-01',
  '2021-07-01',
  '2021-09-01',
  '2021-10-01',
  '2022-09-01',
  '2022-10-01-preview',
  '2023-05-01',
  '2024-05-01-preview',
  '2024-09-01-preview',
  '2024-10-01-preview',
  '2024-11-01-preview',
]
