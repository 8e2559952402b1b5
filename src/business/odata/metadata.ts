/**
 * `$metadata` (CSDL XML, OData 4.0) and the service document, written from the declarations of the entities alone.
 * Names of types stand in `{namespace word}.NAV`.
 */

import { leadsToList } from '../compile/paths.ts'
import {
  type Entity,
  type Field,
  type FieldType,
  fieldNamed,
  fieldsIn,
  type Model,
  type Navigation,
  type Version,
} from '../entity.ts'
import { isFollowed } from '../following/followed.ts'
import { enumName } from './enum-names.ts'

const vocabularies = ['Core', 'Capabilities'] as const

/** Returns the whole document. It depends only on the arguments, so it can be cached. */
export function metadataOf(model: Model, namespace: string, version: Version): string {
  const schema = new SchemaWriter(model, `${namespace}.NAV`, version)
  return schema.document()
}

export function serviceDocument(model: Model, version: Version, root: string): object {
  const sets = model.entities.filter((entity) => entity.versions.includes(version))
  const value = sets.map(({ set }) => ({ name: set, kind: 'EntitySet', url: set }))
  return { '@odata.context': `${root}/$metadata`, value }
}

/** The captions of sets, types and properties, in English. */
export function entityDefinitions(model: Model, version: Version, root: string): object {
  const english = 1033
  const called = (name: string): readonly object[] => [
    { languageCode: english, caption: captionOf(name) },
  ]
  const sets = model.entities.filter((entity) => entity.versions.includes(version))
  const value = sets.map((entity) => ({
    entityName: entity.type,
    entitySetName: entity.set,
    entityCaptions: called(entity.type),
    entitySetCaptions: called(entity.set),
    properties: fieldsIn(entity, version).map(({ name }) => ({ name, captions: called(name) })),
    actions: entity.actions
      .filter((one) => one.versions.includes(version))
      .map(({ name }) => ({ name, captions: called(name) })),
    enumMembers: [],
  }))
  return { '@odata.context': `${root}/$metadata#entityDefinitions`, value }
}

/** `unitOfMeasureId` → `Unit Of Measure Id`. */
function captionOf(name: string): string {
  const spaced = name.replace(/([a-z])([A-Z0-9])/g, '$1 $2')
  return spaced.charAt(0).toUpperCase() + spaced.slice(1)
}

class SchemaWriter {
  readonly #model: Model
  readonly #name: string
  readonly #version: Version
  readonly #entities: readonly Entity[]
  readonly #complex = new Map<string, readonly Field[]>()
  readonly #enums = new Map<string, EnumType>()

  constructor(model: Model, name: string, version: Version) {
    this.#model = model
    this.#name = name
    this.#version = version
    this.#entities = model.entities.filter((entity) => entity.versions.includes(version))
  }

  document(): string {
    const types = this.#entities.map((entity) => this.#entityType(entity))
    const complex = this.#complexTypes()
    const enums = [...this.#enums.values()].map(enumType)
    const actions = this.#entities.flatMap((entity) => this.#actions(entity))
    return [
      '<?xml version="1.0" encoding="utf-8"?>',
      '<edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx">',
      ...vocabularies.map(
        (one) =>
          `<edmx:Reference Uri="https://oasis-tcs.github.io/odata-vocabularies/vocabularies/Org.OData.${one}.V1.xml"><edmx:Include Namespace="Org.OData.${one}.V1"/></edmx:Reference>`,
      ),
      '<edmx:DataServices>',
      `<Schema Namespace="${this.#name}" xmlns="http://docs.oasis-open.org/odata/ns/edm">`,
      ...enums,
      ...complex,
      ...types,
      ...actions,
      this.#container(),
      '</Schema>',
      '</edmx:DataServices>',
      '</edmx:Edmx>',
      '',
    ].join('\n')
  }

  #entityType(entity: Entity): string {
    const key = fieldNamed(entity, this.#version, entity.key)
    const lines = fieldsIn(entity, this.#version).map((field) =>
      this.#property(field, field === key),
    )
    const links = this.#navigations(entity).map((one) => this.#navigation(one))
    const below =
      entity.set === 'companies'
        ? this.#entities
            .filter((one) => one.scope === 'company')
            .map(
              (one) =>
                `<NavigationProperty Name="${one.set}" Type="Collection(${this.#name}.${one.type})" ContainsTarget="true"/>`,
            )
        : []
    return [
      `<EntityType Name="${entity.type}">`,
      `<Key><PropertyRef Name="${entity.key}"/></Key>`,
      ...lines,
      ...links,
      ...below,
      '</EntityType>',
    ].join('\n')
  }

  #navigations(entity: Entity): readonly Navigation[] {
    return entity.navigations.filter(
      (one) =>
        one.versions.includes(this.#version) &&
        this.#model.find(one.target, this.#version) !== undefined,
    )
  }

  #navigation(navigation: Navigation): string {
    const target = this.#model.find(navigation.target, this.#version)
    const type = `${this.#name}.${target?.type}`
    const list = leadsToList(navigation, this.#version)
    const start = `<NavigationProperty Name="${navigation.name}" Type="${list ? `Collection(${type})` : type}"`
    return navigation.isAdded === true ? `${start}>${revision}</NavigationProperty>` : `${start}/>`
  }

  #property(field: Field, isKey: boolean): string {
    const attributes = this.#typeOf(field)
    // Only a key is not nullable. Clients treat every property that a body may leave out as nullable.
    const start = `<Property Name="${field.name}" ${attributes}${isKey ? ' Nullable="false"' : ''}`
    const term = { never: 'Computed', create: 'Immutable', always: undefined }[field.write]
    const terms = [
      ...(term === undefined ? [] : [`<Annotation Term="Org.OData.Core.V1.${term}" Bool="true"/>`]),
      ...(field.isAdded === true ? [revision] : []),
    ]
    return terms.length === 0 ? `${start}/>` : `${start}>${terms.join('')}</Property>`
  }

  #typeOf({ type }: Field): string {
    switch (type.kind) {
      case 'guid':
        return 'Type="Edm.Guid"'
      case 'string':
        return `Type="Edm.String" MaxLength="${type.lengthMax}"`
      case 'integer':
        return 'Type="Edm.Int32"'
      case 'decimal':
        return 'Type="Edm.Decimal" Scale="Variable"'
      case 'boolean':
        return 'Type="Edm.Boolean"'
      case 'date':
        return 'Type="Edm.Date"'
      case 'moment':
        return 'Type="Edm.DateTimeOffset" Precision="3"'
      case 'nothing':
        return 'Type="Edm.String"'
      case 'enum':
        if (this.#version === 'v1.0') return 'Type="Edm.String"'
        this.#enums.set(type.name, type)
        return `Type="${this.#name}.${type.name}"`
      case 'complex':
        this.#complex.set(type.name, type.fields)
        return `Type="${this.#name}.${type.name}"`
    }
  }

  /** Writing one type may add other types to the map while the loop runs. */
  #complexTypes(): readonly string[] {
    const written: string[] = []
    for (const [name, fields] of this.#complex) {
      const lines = fields.map((field) => this.#property(field, false))
      written.push([`<ComplexType Name="${name}">`, ...lines, '</ComplexType>'].join('\n'))
    }
    return written
  }

  #actions(entity: Entity): readonly string[] {
    return entity.actions
      .filter((one) => one.versions.includes(this.#version))
      .map(
        ({ name }) =>
          `<Action Name="${name}" IsBound="true"><Parameter Name="bindingParameter" Type="${this.#name}.${entity.type}"/></Action>`,
      )
  }

  #container(): string {
    const sets = this.#entities.map((entity) => {
      const bindings = this.#navigations(entity).map(
        (one) => `<NavigationPropertyBinding Path="${one.name}" Target="${one.target}"/>`,
      )
      return [
        `<EntitySet Name="${entity.set}" EntityType="${this.#name}.${entity.type}">`,
        ...bindings,
        ...restrictions(entity),
        ...(isFollowed(entity) ? [tracked] : []),
        '</EntitySet>',
      ].join('\n')
    })
    return ['<EntityContainer Name="default">', ...sets, '</EntityContainer>'].join('\n')
  }
}

/** A set that delta links follow, without what it expands. */
const tracked =
  '<Annotation Term="Org.OData.Capabilities.V1.ChangeTracking"><Record><PropertyValue Property="Supported" Bool="true"/></Record></Annotation>'

/** Marks a property that was added after its type was released. */
const revision =
  '<Annotation Term="Org.OData.Core.V1.Revisions"><Collection><Record><PropertyValue Property="Kind" EnumMember="Org.OData.Core.V1.RevisionKind/Added"/><PropertyValue Property="Description" String="Came later."/></Record></Collection></Annotation>'

/** The operations that a set does not allow. Reading, filtering and ordering are not restricted. */
function restrictions({ allows }: Entity): readonly string[] {
  const restrictions = [
    ['Insert', 'Insertable', allows.create],
    ['Update', 'Updatable', allows.change],
    ['Delete', 'Deletable', allows.delete],
  ] as const
  return restrictions.flatMap(([what, property, isAllowed]) =>
    isAllowed
      ? []
      : [
          `<Annotation Term="Org.OData.Capabilities.V1.${what}Restrictions"><Record><PropertyValue Property="${property}" Bool="false"/></Record></Annotation>`,
        ],
  )
}

type EnumType = Extract<FieldType, { readonly kind: 'enum' }>

function enumType({ name, values, added }: EnumType): string {
  const members = values.map((one, at) => {
    const start = `<Member Name="${enumName(one)}" Value="${at}"`
    return added?.includes(one) === true ? `${start}>${revision}</Member>` : `${start}/>`
  })
  return [`<EnumType Name="${name}">`, ...members, '</EnumType>'].join('\n')
}
