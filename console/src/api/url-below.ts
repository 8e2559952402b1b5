/**
 * The address of a path below `base`, which ends with a slash. Throws for a path that leads elsewhere. Paths come
 * from the address bar and from data that others wrote, and a token must not be sent to another place.
 */
export function urlBelow(base: URL, path: string): URL {
  // With `./` in front, `https:/host` and `//host` are read as names of a folder.
  const url = new URL(`./${path.replace(/^\/+/, '')}`, base)
  if (url.origin === base.origin && url.pathname.startsWith(base.pathname)) return url
  throw new TypeError(`${path} is no path of this installation`)
}
