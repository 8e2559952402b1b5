"""Debian's Python packages, as a program of its own. Prints one JSON line per case: which operation by which package, its
name, and what went wrong if anything."""

import importlib.metadata
import json
import os
import sys
import traceback
import uuid

from azure.core.exceptions import HttpResponseError, ResourceNotFoundError
from azure.identity import ClientSecretCredential
from azure.mgmt.apimanagement import ApiManagementClient
from azure.mgmt.authorization import AuthorizationManagementClient
from azure.mgmt.billing import BillingManagementClient
from azure.mgmt.containerinstance import ContainerInstanceManagementClient
from azure.mgmt.datashare import DataShareManagementClient
from azure.mgmt.rdbms.postgresql_flexibleservers import PostgreSQLManagementClient
from azure.mgmt.resource import ResourceManagementClient
from azure.mgmt.resourcehealth import MicrosoftResourceHealth

given = json.loads(os.environ['GIVEN'])
url = given['url']
subscription = given['subscriptionId']
credential = ClientSecretCredential(
    given['tenantId'],
    given['clientId'],
    given['clientSecret'],
    authority=url,
    instance_discovery=False,
)
options = {'base_url': url, 'credential_scopes': [f'{url}/.default']}
group = 'python'
scope = f'/subscriptions/{subscription}/resourceGroups/{group}'
cases = []


def case(operation, client, name):
    def add(run):
        cases.append((operation, client, name, run))
        return run

    return add


@case('groups and resources', 'azure-mgmt-resource', 'Python: makes a group, finds it, misses another')
def groups():
    client = ResourceManagementClient(credential, subscription, **options)
    made = client.resource_groups.create_or_update(group, {'location': 'local', 'tags': {'a': 'b'}})
    assert (made.id, made.properties.provisioning_state) == (scope, 'Succeeded')
    found = client.resource_groups.list(filter="tagName eq 'a'")
    assert [one.name for one in found] == [group]
    assert not client.resource_groups.check_existence('nowhere')
    try:
        client.resource_groups.get('nowhere')
        raise AssertionError('found')
    except ResourceNotFoundError as error:
        assert error.error.code == 'ResourceGroupNotFound', error


@case('deployments', 'azure-mgmt-resource', 'Python: what would change, then a deployment by a poller')
def deployments():
    client = ResourceManagementClient(credential, subscription, **options)
    template = {
        '$schema': 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
        'contentVersion': '1.0.0.0',
        'resources': [
            {
                'type': 'Microsoft.ManagedIdentity/userAssignedIdentities',
                'apiVersion': '2023-01-31',
                'name': 'worker',
                'location': 'local',
            }
        ],
    }
    body = {'properties': {'mode': 'Incremental', 'template': template}}
    seen = client.deployments.begin_what_if(group, 'first', body).result()
    assert [one.change_type for one in seen.changes] == ['Create'], seen.changes
    made = client.deployments.begin_create_or_update(group, 'first', body).result()
    assert made.properties.provisioning_state == 'Succeeded'
    assert len(list(client.deployment_operations.list(group, 'first'))) >= 1


@case('role assignment', 'azure-mgmt-authorization', 'Python: gives a role, lists it, takes it away')
def roles():
    client = AuthorizationManagementClient(credential, subscription, **options)
    reader = next(iter(client.role_definitions.list(scope, filter="roleName eq 'Reader'")))
    body = {
        'role_definition_id': reader.id,
        'principal_id': str(uuid.uuid4()),
        'principal_type': 'ServicePrincipal',
    }
    name = str(uuid.uuid4())
    made = client.role_assignments.create(scope, name, body)
    assert (made.name, made.scope) == (name, scope)
    assert name in [one.name for one in client.role_assignments.list_for_scope(scope)]
    client.role_assignments.delete(scope, name)


@case('container group', 'azure-mgmt-containerinstance', 'Python: makes a group by a poller, reads its log, deletes it')
def containers():
    client = ContainerInstanceManagementClient(credential, subscription, **options)
    container = {
        'name': 'web',
        'image': 'docker.io/library/nginx',
        'resources': {'requests': {'cpu': 1, 'memory_in_gb': 1}},
    }
    body = {'location': 'local', 'os_type': 'Linux', 'containers': [container]}
    made = client.container_groups.begin_create_or_update(group, 'web', body).result()
    assert made.provisioning_state == 'Succeeded'
    assert isinstance(client.containers.list_logs(group, 'web', 'web').content, str)
    assert [one.name for one in client.container_groups.list_by_resource_group(group)] == ['web']
    client.container_groups.begin_delete(group, 'web').result()


@case('transactions', 'azure-mgmt-billing', 'Python: the transactions of an invoice, over pages')
def billing():
    client = BillingManagementClient(credential, subscription, **options)
    account = next(iter(client.billing_accounts.list()))
    rows = list(client.transactions.list_by_invoice(account.name, 'G000000001'))
    assert len(rows) > 50, len(rows)
    assert {row.invoice for row in rows} == {'G000000001'}
    assert all(row.transaction_amount.value is not None and row.date for row in rows)


@case('synchronization details', 'azure-mgmt-datashare', 'Python: a synchronization is begun and awaited, and its details listed')
def sharing():
    client = DataShareManagementClient(credential, subscription, **options)
    place = ('demo', 'demo-consumer', 'demo')
    body = {'synchronization_mode': 'FullSync'}
    began = client.share_subscriptions.begin_synchronize(*place, body).result()
    assert began.synchronization_id, began
    runs = list(client.share_subscriptions.list_synchronizations(*place))
    run = next(one for one in runs if one.synchronization_id == began.synchronization_id)
    assert run.status == 'Succeeded', run.status
    named = {'synchronization_id': run.synchronization_id}
    details = list(client.share_subscriptions.list_synchronization_details(*place, named))
    assert [one.status for one in details] == ['Succeeded'], details
    assert details[0].files_written == 1 and details[0].start_time, details[0]
    assert [one.name for one in client.shares.list_by_account('demo', 'demo-provider')] == ['demo']


@case('operation definitions', 'azure-mgmt-apimanagement', 'Python: a template declares an operation, which is read, listed and deleted')
def operations():
    apis = ApiManagementClient(credential, subscription, **options)
    body = {
        'location': 'local',
        'sku': {'name': 'Developer', 'capacity': 1},
        'publisher_email': 'a@example.test',
        'publisher_name': 'A',
    }
    service = 'apis-of-python'
    apis.api_management_service.begin_create_or_update(group, service, body).result()
    pets = {'display_name': 'Pets', 'path': 'pets', 'protocols': ['https']}
    apis.api.begin_create_or_update(group, service, 'pets', pets).result()
    template = {
        '$schema': 'https://schema.management.azure.com/schemas/2019-04-01/deploymentTemplate.json#',
        'contentVersion': '1.0.0.0',
        'resources': [
            {
                'type': 'Microsoft.ApiManagement/service/apis/operations',
                'apiVersion': '2022-08-01',
                'name': f'{service}/pets/list',
                'properties': {'displayName': 'List', 'method': 'GET', 'urlTemplate': '/pets'},
            }
        ],
    }
    resources = ResourceManagementClient(credential, subscription, **options)
    body = {'properties': {'mode': 'Incremental', 'template': template}}
    resources.deployments.begin_create_or_update(group, 'operations', body).result()
    read = apis.api_operation.get(group, service, 'pets', 'list')
    assert (read.method, read.url_template) == ('GET', '/pets'), read
    assert [one.name for one in apis.api_operation.list_by_api(group, service, 'pets')] == ['list']
    assert apis.api_operation.get_entity_tag(group, service, 'pets', 'list')
    apis.api_operation.delete(group, service, 'pets', 'list', '*')
    assert list(apis.api_operation.list_by_api(group, service, 'pets')) == []


@case('health events of a subscription', 'azure-mgmt-resourcehealth', 'Python: events are listed, with a filter')
def events():
    client = MicrosoftResourceHealth(credential, subscription, **options)
    assert sorted(one.name for one in client.events.list_by_subscription_id()) == ['DEMO-1', 'DEMO-2']
    found = list(client.events.list_by_subscription_id(filter="eventType eq 'ServiceIssue'"))
    assert [one.title for one in found] == ['Vaults answer slowly'], found


@case('health events of one resource', 'azure-mgmt-resourcehealth', 'Python: what touches a resource is listed')
def events_of_one():
    client = MicrosoftResourceHealth(credential, subscription, **options)
    vault = f'subscriptions/{subscription}/resourceGroups/demo/providers/Microsoft.Secrets/vaults/demo-health'
    assert [one.name for one in client.events.list_by_single_resource(vault)] == ['DEMO-1']


@case('PostgreSQL servers', 'azure-mgmt-rdbms', 'Python: a server is made by a poller, has a firewall rule, and goes')
def servers():
    client = PostgreSQLManagementClient(credential, subscription, **options)
    body = {
        'location': 'local',
        'sku': {'name': 'Standard_D2s_v3', 'tier': 'GeneralPurpose'},
        'administrator_login': 'admin1',
        'administrator_login_password': 'correct-horse-battery',
    }
    made = client.servers.begin_create(group, 'orders', body).result()
    assert (made.name, made.administrator_login) == ('orders', 'admin1'), made
    rule = {'start_ip_address': '10.0.0.1', 'end_ip_address': '10.0.0.9'}
    client.firewall_rules.begin_create_or_update(group, 'orders', 'office', rule).result()
    rules = list(client.firewall_rules.list_by_server(group, 'orders'))
    assert [one.end_ip_address for one in rules] == ['10.0.0.9'], rules
    assert [one.name for one in client.servers.list_by_resource_group(group)] == ['orders']
    client.servers.begin_delete(group, 'orders').result()
    assert list(client.servers.list()) == []


@case('errors', 'azure-mgmt-datashare', 'Python: an error has its code')
def errors():
    client = DataShareManagementClient(credential, subscription, **options)
    try:
        client.accounts.get('demo', 'nothing')
        raise AssertionError('found')
    except HttpResponseError as error:
        assert (error.status_code, error.error.code) == (404, 'ResourceNotFound'), error


for operation, client, name, run in cases:
    line = {'operation': operation, 'client': client, 'name': name}
    line['version'] = importlib.metadata.version(client)
    try:
        run()
    except Exception:  # noqa: BLE001: each is told
        line['error'] = traceback.format_exc()
    print(json.dumps(line), flush=True)
sys.exit(0)
