/** Who has which role at a scope, and why: assignments of this scope and inherited ones. Adds, removes, checks. */

import {
  Button,
  Field,
  Input,
  makeStyles,
  Select,
  Text,
  Textarea,
  tokens,
} from '@fluentui/react-components'
import { AddRegular } from '@fluentui/react-icons/svg/add'
import { DeleteRegular } from '@fluentui/react-icons/svg/delete'
import { useState } from 'react'
import { type BodyOf, call } from '../../api/client.ts'
import { shortId } from '../../api/ids.ts'
import { qualified } from '../../api/place.ts'
import { type ItemOf, useList, useWrite } from '../../api/queries.ts'
import { person } from '../../api/session.ts'
import { AccessPath } from '../../components/access-path.tsx'
import { AppLink } from '../../components/app-link.tsx'
import { Card } from '../../components/card.tsx'
import { FormDialog, problemAt } from '../../components/form-dialog.tsx'
import { usePrincipalNames } from '../../components/principals.ts'
import { Refusal } from '../../components/refusal.tsx'
import { Table } from '../../components/table.tsx'
import { accessTexts } from '../../texts/access.ts'
import { conditionOf, nothingClicked } from './condition.ts'
import { ConditionBuilder } from './condition-builder.tsx'
import { MemberOptions, useMembers } from './members.tsx'

type Assignment = ItemOf<'listRoleAssignments'>
type Role = ItemOf<'listRoleDefinitions'>

const useStyles = makeStyles({
  bar: { display: 'flex', gap: tokens.spacingHorizontalM, flexWrap: 'wrap', alignItems: 'end' },
  // Long enough for the usual action.
  action: { width: '460px', maxWidth: '100%' },
  answer: { display: 'grid', gap: tokens.spacingVerticalS, overflowWrap: 'anywhere' },
})

function lastOf(id: string): string {
  return id.slice(id.lastIndexOf('/') + 1).toLowerCase()
}

export function useRoles(scope: string) {
  const found = useList('listRoleDefinitions', { path: { scope } })
  const names = new Map(found.rows.map((one) => [one.name.toLowerCase(), one.properties.roleName]))
  return { all: found.rows, nameOf: (id: string) => names.get(lastOf(id)) ?? lastOf(id) }
}

export function AccessPanel({ scope }: { readonly scope: string }) {
  const [adding, setAdding] = useState(false)
  const [leaving, setLeaving] = useState<Assignment>()
  const found = useList('listRoleAssignments', { path: { scope } })
  const roles = useRoles(scope)
  const names = usePrincipalNames(found.rows.map(({ properties }) => properties.principalId))
  const remove = useWrite((one: Assignment) =>
    call('deleteRoleAssignment', {
      path: { scope: one.properties.scope, roleAssignmentName: one.name },
    }),
  )
  const roleOf = ({ properties }: Assignment): string => roles.nameOf(properties.roleDefinitionId)
  const nameOf = ({ properties: { principalId } }: Assignment): string => {
    const name = names.get(principalId)?.name ?? principalId
    return principalId === person()?.id ? `${name} (${accessTexts.you})` : name
  }
  return (
    <>
      <div>
        <Button appearance="primary" icon={<AddRegular />} onClick={() => setAdding(true)}>
          {accessTexts.add}
        </Button>
      </div>
      <Table
        {...found}
        label={accessTexts.title}
        name="access"
        keyOf={({ id }) => id}
        columns={[
          { id: 'who', title: accessTexts.who, text: nameOf, grow: 2 },
          {
            id: 'kind',
            title: accessTexts.kind,
            text: ({ properties }) => properties.principalType,
            wideOnly: true,
          },
          {
            id: 'role',
            title: accessTexts.role,
            text: roleOf,
            grow: 2,
          },
          {
            id: 'scope',
            title: accessTexts.given,
            text: ({ properties }) => shortId(properties.scope),
            show: ({ properties }) => (
              <AppLink to={`/access?scope=${encodeURIComponent(properties.scope)}`}>
                {shortId(properties.scope)}
              </AppLink>
            ),
            wideOnly: true,
          },
          {
            id: 'condition',
            title: accessTexts.condition,
            text: ({ properties }) => properties.condition ?? '',
            wideOnly: true,
          },
          {
            id: 'remove',
            title: accessTexts.remove,
            text: () => '',
            show: (one) => (
              <Button
                size="small"
                appearance="subtle"
                icon={<DeleteRegular />}
                aria-label={`${accessTexts.remove}: ${nameOf(one)}`}
                onClick={() => setLeaving(one)}
              />
            ),
          },
        ]}
        empty={{ title: accessTexts.none }}
      />
      <Check scope={scope} roles={roles} />
      {leaving !== undefined && (
        <FormDialog
          title={accessTexts.removeTitle}
          submit={accessTexts.remove}
          busy={remove.isPending}
          failure={remove.error}
          onClose={() => {
            setLeaving(undefined)
            remove.reset()
          }}
          onSubmit={() => remove.mutate(leaving, { onSuccess: () => setLeaving(undefined) })}
        >
          <Text>
            {accessTexts.removeText(
              nameOf(leaving),
              roleOf(leaving),
              shortId(leaving.properties.scope),
            )}
          </Text>
          {leaving.properties.principalId === person()?.id && (
            <Text weight="semibold">{accessTexts.removeOwn}</Text>
          )}
        </FormDialog>
      )}
      {adding && <AddAssignment scope={scope} roles={roles.all} onClose={() => setAdding(false)} />}
    </>
  )
}

function AddAssignment({
  scope,
  roles,
  onClose,
}: {
  readonly scope: string
  readonly roles: readonly Role[]
  readonly onClose: () => void
}) {
  const { members, isAlone, error: unread } = useMembers()
  const [who, setWho] = useState('')
  const [role, setRole] = useState('')
  const [condition, setCondition] = useState('')
  const [clicked, setClicked] = useState(nothingClicked)
  const [description, setDescription] = useState('')
  const [name] = useState(() => crypto.randomUUID())
  const write = useWrite((body: BodyOf<'putRoleAssignment'>) =>
    call('putRoleAssignment', { path: { scope, roleAssignmentName: name }, body }),
  )
  const chosen = roles.find((one) => one.name === role)
  const member = members.find(({ id }) => id === who)
  return (
    <FormDialog
      title={accessTexts.add}
      submit={accessTexts.addNow}
      busy={write.isPending}
      ready={who !== '' && role !== ''}
      failure={write.error}
      onClose={onClose}
      onSubmit={() =>
        write.mutate(
          {
            properties: {
              principalId: who,
              roleDefinitionId: `/providers/${qualified('Authorization')}/roleDefinitions/${role}`,
              ...(member === undefined ? {} : { principalType: member.type }),
              ...(condition === '' ? {} : { condition, conditionVersion: '2.0' }),
              ...(description === '' ? {} : { description }),
            },
          },
          { onSuccess: onClose },
        )
      }
    >
      <Text>
        {accessTexts.scope}: {scope === '/' ? accessTexts.everything : shortId(scope)}
      </Text>
      <Field
        label={accessTexts.person}
        required
        validationMessage={problemAt(write.error, 'principalId')}
      >
        <Select value={who} onChange={(_, { value }) => setWho(value)}>
          <MemberOptions members={members} />
        </Select>
      </Field>
      <Field
        label={accessTexts.role}
        required
        hint={chosen?.properties.description ?? accessTexts.roleHint}
        validationMessage={problemAt(write.error, 'roleDefinitionId')}
      >
        <Select value={role} onChange={(_, { value }) => setRole(value)}>
          <option value="" />
          {roles.map((one) => (
            <option key={one.id} value={one.name}>
              {one.properties.roleName}
            </option>
          ))}
        </Select>
      </Field>
      {isAlone && <Text>{accessTexts.onlyYou}</Text>}
      {unread !== null && <Refusal failure={unread} quiet />}
      <ConditionBuilder
        roles={roles}
        members={members}
        clicked={clicked}
        onClick={(next) => {
          setClicked(next)
          setCondition(conditionOf(next))
        }}
      />
      <Field
        label={accessTexts.condition}
        hint={accessTexts.conditionHint}
        validationMessage={problemAt(write.error, 'condition')}
      >
        <Textarea value={condition} onChange={(_, { value }) => setCondition(value)} />
      </Field>
      <Field label={accessTexts.description}>
        <Input value={description} onChange={(_, { value }) => setDescription(value)} />
      </Field>
    </FormDialog>
  )
}

function Check({
  scope,
  roles,
}: {
  readonly scope: string
  readonly roles: { readonly nameOf: (id: string) => string }
}) {
  const styles = useStyles()
  const { members, isAlone, error: unread } = useMembers()
  const [who, setWho] = useState('')
  const [action, setAction] = useState(
    `${qualified('Resources')}/subscriptions/resourceGroups/delete`,
  )
  const check = useWrite(() =>
    call('checkAccess', {
      path: { scope },
      body: { actions: [action], ...(who === '' ? {} : { principalId: who }) },
    }),
  )
  const found = check.data?.body.value[0]
  const paths = [found?.roleAssignment ?? [], found?.nearest ?? []].flat()
  const subject = who === '' ? (person()?.id ?? '') : who
  const holders = usePrincipalNames([subject, ...paths.map(({ principalId }) => principalId)])
  const nameOf = (id: string): string =>
    holders.get(id)?.name ?? members.find((one) => one.id === id)?.displayName ?? id
  return (
    <Card title={accessTexts.check}>
      <Text>{accessTexts.checkLead}</Text>
      <div className={styles.bar}>
        <Field label={accessTexts.person}>
          <Select value={who} onChange={(_, { value }) => setWho(value)}>
            <MemberOptions members={members} />
          </Select>
        </Field>
        <Field label={accessTexts.action} className={styles.action}>
          <Input value={action} onChange={(_, { value }) => setAction(value)} />
        </Field>
        <Button disabled={check.isPending} onClick={() => check.mutate(undefined)}>
          {accessTexts.ask}
        </Button>
      </div>
      {isAlone && <Text>{accessTexts.onlyYou}</Text>}
      {unread !== null && <Refusal failure={unread} quiet />}
      {check.error !== null && <Refusal failure={check.error} />}
      {found !== undefined && (
        <div role="status" className={styles.answer}>
          <Text weight="semibold">
            {accessTexts.decisions[found.accessDecision]}
            {found.roleAssignment === undefined
              ? ''
              : ` ${accessTexts.by(roles.nameOf(found.roleAssignment.roleDefinitionId), shortId(found.roleAssignment.scope))}`}
          </Text>
          {found.denyAssignment !== undefined && (
            <Text block>
              {accessTexts.denied(
                found.denyAssignment.denyAssignmentName,
                shortId(found.denyAssignment.scope),
              )}
            </Text>
          )}
          {found.roleAssignment === undefined && paths.length > 0 && (
            <Text block>{accessTexts.nearest}</Text>
          )}
          {paths.map((one) => (
            <AccessPath
              key={one.roleAssignmentId}
              who={nameOf(subject)}
              group={one.principalId === subject ? undefined : nameOf(one.principalId)}
              role={roles.nameOf(one.roleDefinitionId)}
              given={one.scope}
              wanted={scope}
              action={found.action}
              outcome={found.accessDecision}
              reason={one.detail ?? one.reason}
            />
          ))}
        </div>
      )}
    </Card>
  )
}
