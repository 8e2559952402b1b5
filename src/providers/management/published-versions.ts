/** What published clients and templates send besides the version that has a shape here. */
export const publishedVersions: readonly string[] = Object.freeze([
  '2018-01-01-preview',
  '2018-03-01-preview',
  '2019-11-01',
  '2020-02-01',
  '2020-05-01',
  '2020-10-01',
  '2021-04-01',
  '2023-04-01',
])
