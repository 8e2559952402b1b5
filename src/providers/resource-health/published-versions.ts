/**
 * Versions that published clients and templates send for types of this namespace, besides those with a shape here.
 */
export const publishedVersions: readonly string[] = [
  '2015-01-01',
  '2017-07-01',
  '2018-07-01',
  '2018-08-01-preview',
  '2020-05-01',
  '2020-05-01-preview',
  '2022-05-01',
  '2022-05-01-preview',
  '2022-10-01',
  '2022-10-01-preview',
  '2023-10-01-preview',
  '2024-02-01',
]
