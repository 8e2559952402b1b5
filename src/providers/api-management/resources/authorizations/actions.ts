/**
 * The POST actions of an authorization: login links, confirming consent, and the token for principals in a policy.
 */

import Type from 'typebox'
import { refuse } from '#kernel/error.ts'
import { formatEtag } from '#kernel/etag.ts'
import type { Principal } from '#kernel/principal.ts'
import type { ResourceId } from '#kernel/resource-id.ts'
import type { ActionContext, ReadingAction, WritingAction } from '#plane/declare/action.ts'
import type { Reader } from '#plane/declare/resource.ts'
import type { ConsentDependencies } from '../../dependencies.ts'
import type { ConsentCodeThrottle } from '../../domain/consent/consent-code-throttle.ts'
import { linkMilliseconds, loginsMax, newLink } from '../../domain/consent/flow.ts'
import { types } from '../../domain/consent/model.ts'
import { hashOf, isAllowedRedirect, sameHash } from '../../domain/consent/references.ts'
import { endOf, isDue, openTokens, refresh } from '../../domain/consent/tokens.ts'
import { refuseConsent, refuseFields } from '../../errors.ts'
import type { AccessPolicy } from '../access-policies/model.ts'
import { policiesMax } from '../access-policies/rules.ts'
import type { Authorization, Login } from './model.ts'

export function getLoginLinks(deps: ConsentDependencies): WritingAction<Authorization> {
  return {
    method: 'POST',
    description: 'A link that leads a person to the identity provider and back',
    body: Type.Object({ postLoginRedirectUrl: Type.Optional(Type.String({ maxLength: 2048 })) }),
    answer: Type.Object({ loginLink: Type.String() }),
    writes: true,
    async run({ resource, id, now }, given: { readonly postLoginRedirectUrl?: string }) {
      const { model } = resource
      if (model.grantType !== 'AuthorizationCode') {
        throw refuseConsent.LoginLinkUnsupported({ grant: model.grantType })
      }
      const { postLoginRedirectUrl } = given
      const path = 'postLoginRedirectUrl'
      if (postLoginRedirectUrl === undefined || postLoginRedirectUrl === '') {
        throw refuseFields([{ path, message: 'is required' }])
      }
      if (!isAllowedRedirect(postLoginRedirectUrl, deps)) {
        const message =
          'must be an address of this installation, of this machine, or one that the operator allows (setting consentRedirects)'
        throw refuseFields([{ path, message }])
      }
      const login: Login = {
        id: deps.ids.secret(12),
        postLoginRedirectUrl,
        expiresAt: now + linkMilliseconds,
      }
      const logins = [...model.logins.filter((one) => isKept(one, now)), login].slice(-loginsMax)
      const loginLink = `${deps.publicUrl()}/consent/login/${newLink(deps.seal, id.key, login)}`
      return { status: 200, body: { loginLink }, model: { ...model, logins } }
    },
  }
}

/** For a day, a code that was used or has expired is distinguished from one that never existed. */
function isKept({ expiresAt, returned }: Login, now: number): boolean {
  return expiresAt > now || (returned !== undefined && returned.codeExpiresAt + 86_400_000 > now)
}

export function confirmConsentCode(
  codeThrottle: ConsentCodeThrottle,
): WritingAction<Authorization> {
  return {
    method: 'POST',
    description: 'Confirm the code of a consent, so that the anti-phishing page is suppressed',
    body: Type.Object({ consentCode: Type.Optional(Type.String({ maxLength: 4096 })) }),
    writes: true,
    always200: true,
    async run({ resource, id, now }, given: { readonly consentCode?: string }) {
      const { consentCode } = given
      if (consentCode === undefined || consentCode === '') {
        throw refuseFields([{ path: 'consentCode', message: 'is required' }])
      }
      const seconds = codeThrottle.waitSeconds(id.key, now)
      if (seconds > 0) {
        throw refuse.TooManyRequests(
          { kind: 'wrong consent codes', seconds },
          { headers: { 'Retry-After': String(seconds) } },
        )
      }
      const { model } = resource
      const hash = hashOf(consentCode)
      // All codes are compared, so the time does not tell which one matched.
      const [login] = model.logins.filter((one) => sameHash(one.returned?.codeHash ?? '', hash))
      const returned = login?.returned
      if (login === undefined || returned === undefined) {
        codeThrottle.note(id.key, now)
        throw refuseConsent.ConsentCodeInvalid({}, { target: 'consentCode' })
      }
      if (returned.usedAt !== undefined) {
        throw refuseConsent.ConsentCodeUsed({}, { target: 'consentCode' })
      }
      const { tokens, ...rest } = returned
      if (returned.codeExpiresAt <= now || tokens === undefined) {
        throw refuseConsent.ConsentCodeExpired({}, { target: 'consentCode' })
      }
      const used: Login = { ...login, returned: { ...rest, usedAt: now } }
      const { error: _over, refreshingUntil: _none, confirmedFor: _before, ...kept } = model
      return {
        status: 200,
        model: {
          ...kept,
          status: 'Connected',
          ...(returned.shown === undefined ? {} : { confirmedFor: returned.shown }),
          tokens,
          logins: model.logins.map((one) => (one.id === used.id ? used : one)),
        },
      }
    },
  }
}

/** Our own addition: the published service gives tokens only to its gateway. */
export function getToken(deps: ConsentDependencies): ReadingAction<Authorization> {
  return {
    method: 'POST',
    description: 'The token of a connection, for those whom an access policy names',
    answer: Type.Object({
      accessToken: Type.String(),
      tokenType: Type.String(),
      expiresOn: Type.String(),
    }),
    open: true,
    unstored: true,
    countsAsRead: true,
    revealsSecret: true,
    async run(context) {
      const { resource, id, principal, now, reader } = context
      // Checked first, even when nothing exists: a caller whom no policy names learns of no authorization.
      await requirePolicy(deps, context)
      if (resource === undefined) throw refuse.ResourceNotFound({ id: id.text })
      if (isDue(resource.model, now)) {
        await refresh(deps, id.key)
        // The identity provider may take seconds, in which a policy can be deleted.
        await requirePolicy(deps, context)
      }
      const model = ((await reader.get(id)) ?? resource).model as Authorization
      const { tokens } = model
      if (tokens === undefined || endOf(tokens) <= now) {
        const reason = model.error?.message ?? 'it has expired and cannot be refreshed.'
        throw refuseConsent.AuthorizationNotConnected({ reason })
      }
      deps.log.info({ authorization: id.key, principal: principal.id }, 'a token was handed out')
      const { accessToken, tokenType } = openTokens(deps.seal, id.key, tokens)
      return {
        status: 200,
        body: { accessToken, tokenType, expiresOn: new Date(endOf(tokens)).toISOString() },
        headers: { ETag: formatEtag(resource.etag), 'Cache-Control': 'no-store' },
      }
    },
  }
}

/** This includes the owner of the subscription: no role gives a token, only a policy. */
async function requirePolicy(
  deps: ConsentDependencies,
  { reader, id, principal, words }: ActionContext<Authorization>,
): Promise<void> {
  const policies = await policiesOf(reader, id)
  const groups = new Set(
    policies.length === 0
      ? []
      : [...principal.groups, ...(await deps.directory.groupsOf(principal.id))],
  )
  if (policies.some((policy) => isNamed(policy, principal, groups))) return
  throw refuse.AuthorizationFailed({
    client: principal.displayName,
    principalId: principal.id,
    action: `${words.namespace}.${types.authorizations}/getToken/action`,
    scope: id.text,
  })
}

async function policiesOf(reader: Reader, id: ResourceId): Promise<readonly AccessPolicy[]> {
  const rows = await reader.list({ type: types.policies, under: id, limit: policiesMax })
  // The type's `toModel` made the rows.
  return rows.map((row) => row.model as AccessPolicy)
}

function isNamed(
  { tenantId, objectId, appIds }: AccessPolicy,
  principal: Principal,
  groups: ReadonlySet<string>,
): boolean {
  const named = objectId.toLowerCase()
  return (
    tenantId.toLowerCase() === principal.tenantId.toLowerCase() &&
    (named === principal.id || groups.has(named)) &&
    (appIds.length === 0 || appIds.includes(principal.clientId))
  )
}
