/** Made by `npm run generate` from openapi/ and operations.json. */

export interface Operations {
  listSubscriptions: {
    path: {  }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly subscriptionId: string
        readonly tenantId: string
        readonly displayName: string
        readonly state: "Enabled" | "Disabled"
        readonly subscriptionPolicies: {
          readonly locationPlacementId: string
          readonly quotaId: string
          readonly spendingLimit: string
        }
        readonly authorizationSource: string
        readonly managedByTenants: readonly ({
          readonly tenantId: string
        })[]
        readonly tags?: Readonly<Record<string, string>>
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getEntities: {
    path: {  }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly id: string
        readonly name: string
        readonly type: string
        readonly properties: {
          readonly tenantId: string
          readonly displayName: string
          readonly parent: {
            readonly id: string
          }
          readonly permission: "view" | "edit"
        }
      })[]
      readonly nextLink?: string
    }
  }
  listGroups: {
    path: { subscriptionId: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly location: string
        readonly tags: Readonly<Record<string, string>>
        readonly managedBy?: string
        readonly properties: {
          readonly provisioningState: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getGroup: {
    path: { subscriptionId: string; resourceGroupName: string }
    body: undefined
    answer: {
      readonly location: string
      readonly tags: Readonly<Record<string, string>>
      readonly managedBy?: string
      readonly properties: {
        readonly provisioningState: string
      }
    }
  }
  putGroup: {
    path: { subscriptionId: string; resourceGroupName: string }
    body: {
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly managedBy?: string
      readonly properties?: Readonly<Record<string, unknown>>
    }
    answer: {
      readonly location: string
      readonly tags: Readonly<Record<string, string>>
      readonly managedBy?: string
      readonly properties: {
        readonly provisioningState: string
      }
    }
  }
  listResources: {
    path: { subscriptionId: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly kind?: string
        readonly managedBy?: string
        readonly sku?: Readonly<Record<string, unknown>>
        readonly plan?: Readonly<Record<string, unknown>>
        readonly identity?: Readonly<Record<string, unknown>>
        readonly zones?: readonly (string)[]
        readonly createdTime?: string
        readonly changedTime?: string
        readonly provisioningState?: string
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listGroupResources: {
    path: { subscriptionId: string; resourceGroupName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly kind?: string
        readonly managedBy?: string
        readonly sku?: Readonly<Record<string, unknown>>
        readonly plan?: Readonly<Record<string, unknown>>
        readonly identity?: Readonly<Record<string, unknown>>
        readonly zones?: readonly (string)[]
        readonly createdTime?: string
        readonly changedTime?: string
        readonly provisioningState?: string
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listProviders: {
    path: { subscriptionId: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly namespace: string
        readonly registrationPolicy: string
        readonly registrationState: string
        readonly resourceTypes: readonly ({
          readonly resourceType: string
          readonly apiVersions: readonly (string)[]
        })[]
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listLocations: {
    path: { subscriptionId: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly subscriptionId: string
        readonly displayName: string
        readonly regionalDisplayName: string
        readonly metadata: {
          readonly regionType: string
          readonly regionCategory: string
          readonly geography: string
          readonly geographyGroup: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  putTags: {
    path: { scope: string; tagName: string }
    body: {
      readonly properties: {
        readonly tags?: Readonly<Record<string, string>>
      }
    }
    answer: {
      readonly properties: {
        readonly tags: Readonly<Record<string, string>>
      }
    }
  }
  listDeployments: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly location?: string
        readonly properties: {
          readonly provisioningState: string
          readonly correlationId: string
          readonly timestamp: string
          readonly duration: string
          readonly mode: string
          readonly templateHash: string
          readonly parameters: Readonly<Record<string, unknown>>
          readonly outputs?: Readonly<Record<string, unknown>>
          readonly outputResources: readonly ({
            readonly id: string
          })[]
          readonly providers?: readonly (Readonly<Record<string, unknown>>)[]
          readonly templateLink?: {
            readonly uri?: string
            readonly id?: string
            readonly contentVersion?: string
          }
          readonly onErrorDeployment?: {
            readonly type: string
            readonly deploymentName: string
            readonly provisioningState?: string
          }
          readonly debugSetting?: {
            readonly detailLevel: string
          }
          readonly validationLevel?: string
          readonly dependencies?: readonly (Readonly<Record<string, unknown>>)[]
          readonly error?: {
            readonly code: string
            readonly message: string
            readonly details?: readonly (Readonly<Record<string, unknown>>)[]
          }
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getDeployment: {
    path: { scope: string; deploymentName: string }
    body: undefined
    answer: {
      readonly location?: string
      readonly properties: {
        readonly provisioningState: string
        readonly correlationId: string
        readonly timestamp: string
        readonly duration: string
        readonly mode: string
        readonly templateHash: string
        readonly parameters: Readonly<Record<string, unknown>>
        readonly outputs?: Readonly<Record<string, unknown>>
        readonly outputResources: readonly ({
          readonly id: string
        })[]
        readonly providers?: readonly (Readonly<Record<string, unknown>>)[]
        readonly templateLink?: {
          readonly uri?: string
          readonly id?: string
          readonly contentVersion?: string
        }
        readonly onErrorDeployment?: {
          readonly type: string
          readonly deploymentName: string
          readonly provisioningState?: string
        }
        readonly debugSetting?: {
          readonly detailLevel: string
        }
        readonly validationLevel?: string
        readonly dependencies?: readonly (Readonly<Record<string, unknown>>)[]
        readonly error?: {
          readonly code: string
          readonly message: string
          readonly details?: readonly (Readonly<Record<string, unknown>>)[]
        }
      }
    }
  }
  putDeployment: {
    path: { scope: string; deploymentName: string }
    body: {
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly properties: {
        readonly mode?: string
      }
    }
    answer: {
      readonly location?: string
      readonly properties: {
        readonly provisioningState: string
        readonly correlationId: string
        readonly timestamp: string
        readonly duration: string
        readonly mode: string
        readonly templateHash: string
        readonly parameters: Readonly<Record<string, unknown>>
        readonly outputs?: Readonly<Record<string, unknown>>
        readonly outputResources: readonly ({
          readonly id: string
        })[]
        readonly providers?: readonly (Readonly<Record<string, unknown>>)[]
        readonly templateLink?: {
          readonly uri?: string
          readonly id?: string
          readonly contentVersion?: string
        }
        readonly onErrorDeployment?: {
          readonly type: string
          readonly deploymentName: string
          readonly provisioningState?: string
        }
        readonly debugSetting?: {
          readonly detailLevel: string
        }
        readonly validationLevel?: string
        readonly dependencies?: readonly (Readonly<Record<string, unknown>>)[]
        readonly error?: {
          readonly code: string
          readonly message: string
          readonly details?: readonly (Readonly<Record<string, unknown>>)[]
        }
      }
    }
  }
  cancelDeployment: {
    path: { scope: string; deploymentName: string }
    body: undefined
    answer: unknown
  }
  validateDeployment: {
    path: { scope: string; deploymentName: string }
    body: {
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly properties: {
        readonly mode?: string
      }
    }
    answer: {
      readonly id?: string
      readonly name?: string
      readonly type?: string
      readonly properties: Readonly<Record<string, unknown>>
    }
  }
  whatIfDeployment: {
    path: { scope: string; deploymentName: string }
    body: {
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly properties: {
        readonly mode?: string
      }
    }
    answer: {
      readonly status: string
      readonly properties: Readonly<Record<string, unknown>>
    }
  }
  exportDeployment: {
    path: { scope: string; deploymentName: string }
    body: undefined
    answer: {
      readonly template: Readonly<Record<string, unknown>>
    }
  }
  listDeploymentOperations: {
    path: { scope: string; deploymentName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly operationId: string
        readonly properties: {
          readonly provisioningOperation: string
          readonly provisioningState: string
          readonly timestamp: string
          readonly duration: string
          readonly statusCode: string
          readonly statusMessage?: {
            readonly error: Readonly<Record<string, unknown>>
          }
          readonly request?: {
            readonly content: unknown
          }
          readonly response?: {
            readonly content: unknown
          }
          readonly targetResource: {
            readonly id: string
            readonly resourceType: string
            readonly resourceName: string
          }
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listContainerGroups: {
    path: { subscriptionId: string; resourceGroupName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly zones?: readonly (string)[]
        readonly identity?: {
          readonly type: string
          readonly tenantId: string
          readonly principalId?: string
          readonly userAssignedIdentities?: Readonly<Record<string, {
            readonly clientId: string
            readonly principalId: string
          }>>
        }
        readonly properties: {
          readonly containers: readonly ({
            readonly name: string
            readonly properties: {
              readonly image?: string
              readonly command?: readonly (string)[]
              readonly environmentVariables?: readonly ({
                readonly name: string
                readonly value?: string
                readonly secureValue?: string
                readonly secureValueReference?: string
              })[]
              readonly volumeMounts?: readonly ({
                readonly name: string
                readonly mountPath: string
                readonly readOnly?: boolean
              })[]
              readonly securityContext?: {
                readonly privileged?: boolean
                readonly allowPrivilegeEscalation?: boolean
                readonly capabilities?: {
                  readonly add?: readonly (string)[]
                  readonly drop?: readonly (string)[]
                }
                readonly runAsUser?: number
                readonly runAsGroup?: number
                readonly seccompProfile?: string
              }
              readonly ports?: readonly ({
                readonly port: number
                readonly protocol?: string
              })[]
              readonly resources?: {
                readonly requests?: {
                  readonly cpu?: number
                  readonly memoryInGB?: number
                  readonly gpu?: {
                    readonly count: number
                    readonly sku?: string
                  }
                }
                readonly limits?: {
                  readonly cpu?: number
                  readonly memoryInGB?: number
                  readonly gpu?: {
                    readonly count: number
                    readonly sku?: string
                  }
                }
              }
              readonly livenessProbe?: {
                readonly exec?: {
                  readonly command?: readonly (string)[]
                }
                readonly httpGet?: {
                  readonly path?: string
                  readonly port: number
                  readonly scheme?: string
                  readonly httpHeaders?: readonly ({
                    readonly name?: string
                    readonly value?: string
                  })[]
                }
                readonly initialDelaySeconds?: number
                readonly periodSeconds?: number
                readonly failureThreshold?: number
                readonly successThreshold?: number
                readonly timeoutSeconds?: number
              }
              readonly readinessProbe?: {
                readonly exec?: {
                  readonly command?: readonly (string)[]
                }
                readonly httpGet?: {
                  readonly path?: string
                  readonly port: number
                  readonly scheme?: string
                  readonly httpHeaders?: readonly ({
                    readonly name?: string
                    readonly value?: string
                  })[]
                }
                readonly initialDelaySeconds?: number
                readonly periodSeconds?: number
                readonly failureThreshold?: number
                readonly successThreshold?: number
                readonly timeoutSeconds?: number
              }
              readonly configMap?: {
                readonly keyValuePairs?: Readonly<Record<string, string>>
              }
              readonly instanceView?: {
                readonly restartCount: number
                readonly currentState: {
                  readonly state: string
                  readonly startTime?: string
                  readonly exitCode?: number
                  readonly finishTime?: string
                  readonly detailStatus?: string
                }
                readonly previousState?: {
                  readonly state: string
                  readonly startTime?: string
                  readonly exitCode?: number
                  readonly finishTime?: string
                  readonly detailStatus?: string
                }
                readonly events: readonly ({
                  readonly count: number
                  readonly firstTimestamp: string
                  readonly lastTimestamp: string
                  readonly name: string
                  readonly message: string
                  readonly type: string
                })[]
              }
            }
          })[]
          readonly initContainers?: readonly ({
            readonly name: string
            readonly properties: {
              readonly image?: string
              readonly command?: readonly (string)[]
              readonly environmentVariables?: readonly ({
                readonly name: string
                readonly value?: string
                readonly secureValue?: string
                readonly secureValueReference?: string
              })[]
              readonly volumeMounts?: readonly ({
                readonly name: string
                readonly mountPath: string
                readonly readOnly?: boolean
              })[]
              readonly securityContext?: {
                readonly privileged?: boolean
                readonly allowPrivilegeEscalation?: boolean
                readonly capabilities?: {
                  readonly add?: readonly (string)[]
                  readonly drop?: readonly (string)[]
                }
                readonly runAsUser?: number
                readonly runAsGroup?: number
                readonly seccompProfile?: string
              }
              readonly ports?: readonly ({
                readonly port: number
                readonly protocol?: string
              })[]
              readonly resources?: {
                readonly requests?: {
                  readonly cpu?: number
                  readonly memoryInGB?: number
                  readonly gpu?: {
                    readonly count: number
                    readonly sku?: string
                  }
                }
                readonly limits?: {
                  readonly cpu?: number
                  readonly memoryInGB?: number
                  readonly gpu?: {
                    readonly count: number
                    readonly sku?: string
                  }
                }
              }
              readonly livenessProbe?: {
                readonly exec?: {
                  readonly command?: readonly (string)[]
                }
                readonly httpGet?: {
                  readonly path?: string
                  readonly port: number
                  readonly scheme?: string
                  readonly httpHeaders?: readonly ({
                    readonly name?: string
                    readonly value?: string
                  })[]
                }
                readonly initialDelaySeconds?: number
                readonly periodSeconds?: number
                readonly failureThreshold?: number
                readonly successThreshold?: number
                readonly timeoutSeconds?: number
              }
              readonly readinessProbe?: {
                readonly exec?: {
                  readonly command?: readonly (string)[]
                }
                readonly httpGet?: {
                  readonly path?: string
                  readonly port: number
                  readonly scheme?: string
                  readonly httpHeaders?: readonly ({
                    readonly name?: string
                    readonly value?: string
                  })[]
                }
                readonly initialDelaySeconds?: number
                readonly periodSeconds?: number
                readonly failureThreshold?: number
                readonly successThreshold?: number
                readonly timeoutSeconds?: number
              }
              readonly configMap?: {
                readonly keyValuePairs?: Readonly<Record<string, string>>
              }
              readonly instanceView?: {
                readonly restartCount: number
                readonly currentState: {
                  readonly state: string
                  readonly startTime?: string
                  readonly exitCode?: number
                  readonly finishTime?: string
                  readonly detailStatus?: string
                }
                readonly previousState?: {
                  readonly state: string
                  readonly startTime?: string
                  readonly exitCode?: number
                  readonly finishTime?: string
                  readonly detailStatus?: string
                }
                readonly events: readonly ({
                  readonly count: number
                  readonly firstTimestamp: string
                  readonly lastTimestamp: string
                  readonly name: string
                  readonly message: string
                  readonly type: string
                })[]
              }
            }
          })[]
          readonly osType?: string
          readonly sku?: string
          readonly priority?: string
          readonly restartPolicy?: string
          readonly ipAddress?: {
            readonly type: string
            readonly ports: readonly ({
              readonly port: number
              readonly protocol: string
            })[]
            readonly dnsNameLabel?: string
            readonly autoGeneratedDomainNameLabelScope?: string
            readonly ip?: string
            readonly fqdn?: string
          }
          readonly diagnostics?: {
            readonly logAnalytics?: {
              readonly workspaceId: string
              readonly workspaceKey?: string
              readonly logType?: string
              readonly metadata?: Readonly<Record<string, string>>
              readonly workspaceResourceId?: string
            }
          }
          readonly volumes?: readonly ({
            readonly name: string
            readonly azureFile?: {
              readonly shareName: string
              readonly storageAccountName: string
              readonly readOnly?: boolean
              readonly storageAccountKey?: string
              readonly storageAccountKeyReference?: string
            }
            readonly emptyDir?: Readonly<Record<string, unknown>>
            readonly secret?: Readonly<Record<string, string>>
            readonly secretReference?: Readonly<Record<string, string>>
            readonly gitRepo?: {
              readonly repository: string
              readonly directory?: string
              readonly revision?: string
            }
          })[]
          readonly imageRegistryCredentials?: readonly ({
            readonly server: string
            readonly username?: string
            readonly password?: string
            readonly passwordReference?: string
            readonly identity?: string
            readonly identityUrl?: string
          })[]
          readonly encryptionProperties?: {
            readonly vaultBaseUrl: string
            readonly keyName: string
            readonly keyVersion: string
            readonly identity?: string
          }
          readonly confidentialComputeProperties?: {
            readonly ccePolicy?: string
          }
          readonly extensions?: readonly ({
            readonly name: string
            readonly properties?: {
              readonly extensionType?: string
              readonly version?: string
              readonly settings?: Readonly<Record<string, unknown>>
              readonly protectedSettings?: unknown
            }
          })[]
          readonly dnsConfig?: {
            readonly nameServers: readonly (string)[]
            readonly options?: string
            readonly searchDomains?: string
          }
          readonly subnetIds?: readonly ({
            readonly id: string
            readonly name?: string
          })[]
          readonly secretReferences?: readonly ({
            readonly name: string
            readonly identity?: string
            readonly secretReferenceUri: string
          })[]
          readonly containerGroupProfile?: {
            readonly id?: string
            readonly revision?: number
          }
          readonly standbyPoolProfile?: {
            readonly id?: string
            readonly failContainerGroupCreateOnReuseFailure?: boolean
          }
          readonly identityAcls?: {
            readonly defaultAccess?: string
            readonly acls?: readonly ({
              readonly identity?: string
              readonly access?: string
            })[]
          }
          readonly provisioningState: string
          readonly isCreatedFromStandbyPool: boolean
          readonly provisioningTimeoutInSeconds?: number
          readonly isCustomProvisioningTimeout?: boolean
          readonly instanceView?: {
            readonly events: readonly ({
              readonly count: number
              readonly firstTimestamp: string
              readonly lastTimestamp: string
              readonly name: string
              readonly message: string
              readonly type: string
            })[]
            readonly state: string
          }
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getContainerGroup: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string }
    body: undefined
    answer: {
      readonly zones?: readonly (string)[]
      readonly identity?: {
        readonly type: string
        readonly tenantId: string
        readonly principalId?: string
        readonly userAssignedIdentities?: Readonly<Record<string, {
          readonly clientId: string
          readonly principalId: string
        }>>
      }
      readonly properties: {
        readonly containers: readonly ({
          readonly name: string
          readonly properties: {
            readonly image?: string
            readonly command?: readonly (string)[]
            readonly environmentVariables?: readonly ({
              readonly name: string
              readonly value?: string
              readonly secureValue?: string
              readonly secureValueReference?: string
            })[]
            readonly volumeMounts?: readonly ({
              readonly name: string
              readonly mountPath: string
              readonly readOnly?: boolean
            })[]
            readonly securityContext?: {
              readonly privileged?: boolean
              readonly allowPrivilegeEscalation?: boolean
              readonly capabilities?: {
                readonly add?: readonly (string)[]
                readonly drop?: readonly (string)[]
              }
              readonly runAsUser?: number
              readonly runAsGroup?: number
              readonly seccompProfile?: string
            }
            readonly ports?: readonly ({
              readonly port: number
              readonly protocol?: string
            })[]
            readonly resources?: {
              readonly requests?: {
                readonly cpu?: number
                readonly memoryInGB?: number
                readonly gpu?: {
                  readonly count: number
                  readonly sku?: string
                }
              }
              readonly limits?: {
                readonly cpu?: number
                readonly memoryInGB?: number
                readonly gpu?: {
                  readonly count: number
                  readonly sku?: string
                }
              }
            }
            readonly livenessProbe?: {
              readonly exec?: {
                readonly command?: readonly (string)[]
              }
              readonly httpGet?: {
                readonly path?: string
                readonly port: number
                readonly scheme?: string
                readonly httpHeaders?: readonly ({
                  readonly name?: string
                  readonly value?: string
                })[]
              }
              readonly initialDelaySeconds?: number
              readonly periodSeconds?: number
              readonly failureThreshold?: number
              readonly successThreshold?: number
              readonly timeoutSeconds?: number
            }
            readonly readinessProbe?: {
              readonly exec?: {
                readonly command?: readonly (string)[]
              }
              readonly httpGet?: {
                readonly path?: string
                readonly port: number
                readonly scheme?: string
                readonly httpHeaders?: readonly ({
                  readonly name?: string
                  readonly value?: string
                })[]
              }
              readonly initialDelaySeconds?: number
              readonly periodSeconds?: number
              readonly failureThreshold?: number
              readonly successThreshold?: number
              readonly timeoutSeconds?: number
            }
            readonly configMap?: {
              readonly keyValuePairs?: Readonly<Record<string, string>>
            }
            readonly instanceView?: {
              readonly restartCount: number
              readonly currentState: {
                readonly state: string
                readonly startTime?: string
                readonly exitCode?: number
                readonly finishTime?: string
                readonly detailStatus?: string
              }
              readonly previousState?: {
                readonly state: string
                readonly startTime?: string
                readonly exitCode?: number
                readonly finishTime?: string
                readonly detailStatus?: string
              }
              readonly events: readonly ({
                readonly count: number
                readonly firstTimestamp: string
                readonly lastTimestamp: string
                readonly name: string
                readonly message: string
                readonly type: string
              })[]
            }
          }
        })[]
        readonly initContainers?: readonly ({
          readonly name: string
          readonly properties: {
            readonly image?: string
            readonly command?: readonly (string)[]
            readonly environmentVariables?: readonly ({
              readonly name: string
              readonly value?: string
              readonly secureValue?: string
              readonly secureValueReference?: string
            })[]
            readonly volumeMounts?: readonly ({
              readonly name: string
              readonly mountPath: string
              readonly readOnly?: boolean
            })[]
            readonly securityContext?: {
              readonly privileged?: boolean
              readonly allowPrivilegeEscalation?: boolean
              readonly capabilities?: {
                readonly add?: readonly (string)[]
                readonly drop?: readonly (string)[]
              }
              readonly runAsUser?: number
              readonly runAsGroup?: number
              readonly seccompProfile?: string
            }
            readonly ports?: readonly ({
              readonly port: number
              readonly protocol?: string
            })[]
            readonly resources?: {
              readonly requests?: {
                readonly cpu?: number
                readonly memoryInGB?: number
                readonly gpu?: {
                  readonly count: number
                  readonly sku?: string
                }
              }
              readonly limits?: {
                readonly cpu?: number
                readonly memoryInGB?: number
                readonly gpu?: {
                  readonly count: number
                  readonly sku?: string
                }
              }
            }
            readonly livenessProbe?: {
              readonly exec?: {
                readonly command?: readonly (string)[]
              }
              readonly httpGet?: {
                readonly path?: string
                readonly port: number
                readonly scheme?: string
                readonly httpHeaders?: readonly ({
                  readonly name?: string
                  readonly value?: string
                })[]
              }
              readonly initialDelaySeconds?: number
              readonly periodSeconds?: number
              readonly failureThreshold?: number
              readonly successThreshold?: number
              readonly timeoutSeconds?: number
            }
            readonly readinessProbe?: {
              readonly exec?: {
                readonly command?: readonly (string)[]
              }
              readonly httpGet?: {
                readonly path?: string
                readonly port: number
                readonly scheme?: string
                readonly httpHeaders?: readonly ({
                  readonly name?: string
                  readonly value?: string
                })[]
              }
              readonly initialDelaySeconds?: number
              readonly periodSeconds?: number
              readonly failureThreshold?: number
              readonly successThreshold?: number
              readonly timeoutSeconds?: number
            }
            readonly configMap?: {
              readonly keyValuePairs?: Readonly<Record<string, string>>
            }
            readonly instanceView?: {
              readonly restartCount: number
              readonly currentState: {
                readonly state: string
                readonly startTime?: string
                readonly exitCode?: number
                readonly finishTime?: string
                readonly detailStatus?: string
              }
              readonly previousState?: {
                readonly state: string
                readonly startTime?: string
                readonly exitCode?: number
                readonly finishTime?: string
                readonly detailStatus?: string
              }
              readonly events: readonly ({
                readonly count: number
                readonly firstTimestamp: string
                readonly lastTimestamp: string
                readonly name: string
                readonly message: string
                readonly type: string
              })[]
            }
          }
        })[]
        readonly osType?: string
        readonly sku?: string
        readonly priority?: string
        readonly restartPolicy?: string
        readonly ipAddress?: {
          readonly type: string
          readonly ports: readonly ({
            readonly port: number
            readonly protocol: string
          })[]
          readonly dnsNameLabel?: string
          readonly autoGeneratedDomainNameLabelScope?: string
          readonly ip?: string
          readonly fqdn?: string
        }
        readonly diagnostics?: {
          readonly logAnalytics?: {
            readonly workspaceId: string
            readonly workspaceKey?: string
            readonly logType?: string
            readonly metadata?: Readonly<Record<string, string>>
            readonly workspaceResourceId?: string
          }
        }
        readonly volumes?: readonly ({
          readonly name: string
          readonly azureFile?: {
            readonly shareName: string
            readonly storageAccountName: string
            readonly readOnly?: boolean
            readonly storageAccountKey?: string
            readonly storageAccountKeyReference?: string
          }
          readonly emptyDir?: Readonly<Record<string, unknown>>
          readonly secret?: Readonly<Record<string, string>>
          readonly secretReference?: Readonly<Record<string, string>>
          readonly gitRepo?: {
            readonly repository: string
            readonly directory?: string
            readonly revision?: string
          }
        })[]
        readonly imageRegistryCredentials?: readonly ({
          readonly server: string
          readonly username?: string
          readonly password?: string
          readonly passwordReference?: string
          readonly identity?: string
          readonly identityUrl?: string
        })[]
        readonly encryptionProperties?: {
          readonly vaultBaseUrl: string
          readonly keyName: string
          readonly keyVersion: string
          readonly identity?: string
        }
        readonly confidentialComputeProperties?: {
          readonly ccePolicy?: string
        }
        readonly extensions?: readonly ({
          readonly name: string
          readonly properties?: {
            readonly extensionType?: string
            readonly version?: string
            readonly settings?: Readonly<Record<string, unknown>>
            readonly protectedSettings?: unknown
          }
        })[]
        readonly dnsConfig?: {
          readonly nameServers: readonly (string)[]
          readonly options?: string
          readonly searchDomains?: string
        }
        readonly subnetIds?: readonly ({
          readonly id: string
          readonly name?: string
        })[]
        readonly secretReferences?: readonly ({
          readonly name: string
          readonly identity?: string
          readonly secretReferenceUri: string
        })[]
        readonly containerGroupProfile?: {
          readonly id?: string
          readonly revision?: number
        }
        readonly standbyPoolProfile?: {
          readonly id?: string
          readonly failContainerGroupCreateOnReuseFailure?: boolean
        }
        readonly identityAcls?: {
          readonly defaultAccess?: string
          readonly acls?: readonly ({
            readonly identity?: string
            readonly access?: string
          })[]
        }
        readonly provisioningState: string
        readonly isCreatedFromStandbyPool: boolean
        readonly provisioningTimeoutInSeconds?: number
        readonly isCustomProvisioningTimeout?: boolean
        readonly instanceView?: {
          readonly events: readonly ({
            readonly count: number
            readonly firstTimestamp: string
            readonly lastTimestamp: string
            readonly name: string
            readonly message: string
            readonly type: string
          })[]
          readonly state: string
        }
      }
    }
  }
  restartContainerGroup: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string }
    body: undefined
    answer: unknown
  }
  startContainerGroup: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string }
    body: undefined
    answer: unknown
  }
  stopContainerGroup: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string }
    body: undefined
    answer: unknown
  }
  execContainer: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string; containerName: string }
    body: {
      readonly command: string
      readonly terminalSize?: {
        readonly rows?: number
        readonly cols?: number
      }
    }
    answer: {
      readonly webSocketUri: string
      readonly password: string
    }
  }
  getContainerLog: {
    path: { subscriptionId: string; resourceGroupName: string; containerGroupName: string; containerName: string }
    body: undefined
    answer: {
      readonly content: string
    }
  }
  listRoleAssignments: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly scope: string
          readonly roleDefinitionId: string
          readonly principalId: string
          readonly principalType: "User" | "Group" | "ServicePrincipal" | "ForeignGroup" | "Device"
          readonly condition?: string
          readonly conditionVersion?: string
          readonly delegatedManagedIdentityResourceId?: string
          readonly description?: string
          readonly createdOn: string
          readonly updatedOn: string
          readonly createdBy: string
          readonly updatedBy: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  putRoleAssignment: {
    path: { scope: string; roleAssignmentName: string }
    body: {
      readonly properties: {
        readonly principalId: string
        readonly roleDefinitionId: string
        readonly principalType?: "User" | "Group" | "ServicePrincipal" | "ForeignGroup" | "Device"
        readonly condition?: string
        readonly conditionVersion?: string
        readonly delegatedManagedIdentityResourceId?: string
        readonly description?: string
      }
    }
    answer: {
      readonly properties: {
        readonly scope: string
        readonly roleDefinitionId: string
        readonly principalId: string
        readonly principalType: "User" | "Group" | "ServicePrincipal" | "ForeignGroup" | "Device"
        readonly condition?: string
        readonly conditionVersion?: string
        readonly delegatedManagedIdentityResourceId?: string
        readonly description?: string
        readonly createdOn: string
        readonly updatedOn: string
        readonly createdBy: string
        readonly updatedBy: string
      }
    }
  }
  deleteRoleAssignment: {
    path: { scope: string; roleAssignmentName: string }
    body: undefined
    answer: {
      readonly properties: {
        readonly scope: string
        readonly roleDefinitionId: string
        readonly principalId: string
        readonly principalType: "User" | "Group" | "ServicePrincipal" | "ForeignGroup" | "Device"
        readonly condition?: string
        readonly conditionVersion?: string
        readonly delegatedManagedIdentityResourceId?: string
        readonly description?: string
        readonly createdOn: string
        readonly updatedOn: string
        readonly createdBy: string
        readonly updatedBy: string
      }
    }
  }
  listRoleDefinitions: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly roleName: string
          readonly description: string
          readonly type: "BuiltInRole" | "CustomRole"
          readonly assignableScopes: readonly (string)[]
          readonly permissions: readonly ({
            readonly actions: readonly (string)[]
            readonly notActions: readonly (string)[]
            readonly dataActions: readonly (string)[]
            readonly notDataActions: readonly (string)[]
          })[]
          readonly createdOn: string
          readonly updatedOn: string
          readonly createdBy?: string
          readonly updatedBy?: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  checkAccess: {
    path: { scope: string }
    body: {
      readonly principalId?: string
      readonly actions?: readonly (string)[]
      readonly dataActions?: readonly (string)[]
      readonly request?: Readonly<Record<string, string | number | boolean | readonly (string)[] | readonly (number)[]>>
      readonly resource?: Readonly<Record<string, string | number | boolean | readonly (string)[] | readonly (number)[]>>
    }
    answer: {
      readonly value: readonly ({
        readonly action: string
        readonly isDataAction?: boolean
        readonly accessDecision: "Allowed" | "NotAllowed" | "Conditional"
        readonly roleAssignment?: {
          readonly roleAssignmentId: string
          readonly roleDefinitionId: string
          readonly principalId: string
          readonly scope: string
          readonly reason: string
          readonly detail?: string
        }
        readonly nearest?: readonly ({
          readonly roleAssignmentId: string
          readonly roleDefinitionId: string
          readonly principalId: string
          readonly scope: string
          readonly reason: string
          readonly detail?: string
        })[]
        readonly denyAssignment?: {
          readonly denyAssignmentId: string
          readonly denyAssignmentName: string
          readonly scope: string
        }
      })[]
    }
  }
  getDeniedRequest: {
    path: { deniedRequestName: string }
    body: undefined
    answer: {
      readonly properties: {
        readonly at: string
        readonly principalId: string
        readonly action: string
        readonly scope: string
        readonly request?: Readonly<Record<string, unknown>>
      }
    }
  }
  listLocks: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly level: "CanNotDelete" | "ReadOnly"
          readonly notes?: string
          readonly owners?: readonly ({
            readonly applicationId: string
          })[]
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  putLock: {
    path: { scope: string; lockName: string }
    body: {
      readonly properties: {
        readonly level: "CanNotDelete" | "ReadOnly"
        readonly notes?: string
        readonly owners?: readonly ({
          readonly applicationId: string
        })[]
      }
    }
    answer: {
      readonly properties: {
        readonly level: "CanNotDelete" | "ReadOnly"
        readonly notes?: string
        readonly owners?: readonly ({
          readonly applicationId: string
        })[]
      }
    }
  }
  deleteLock: {
    path: { scope: string; lockName: string }
    body: undefined
    answer: {
      readonly properties: {
        readonly level: "CanNotDelete" | "ReadOnly"
        readonly notes?: string
        readonly owners?: readonly ({
          readonly applicationId: string
        })[]
      }
    }
  }
  listActivity: {
    path: { scope: string; eventtypeName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly authorization?: {
          readonly action: string
          readonly scope: string
        }
        readonly caller?: string
        readonly category?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly channels?: string
        readonly claims?: Readonly<Record<string, string>>
        readonly correlationId?: string
        readonly eventDataId?: string
        readonly eventName?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly eventTimestamp?: string
        readonly httpRequest?: {
          readonly clientRequestId?: string
          readonly clientIpAddress?: string
          readonly method: string
        }
        readonly level?: string
        readonly operationId?: string
        readonly operationName?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly properties?: Readonly<Record<string, string>>
        readonly resourceGroupName?: string
        readonly resourceId?: string
        readonly resourceProviderName?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly resourceType?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly status?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly subStatus?: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly submissionTimestamp?: string
        readonly subscriptionId?: string
        readonly tenantId?: string
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listMetricDefinitions: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly resourceId: string
        readonly namespace: string
        readonly name: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly displayDescription: string
        readonly unit: "Count" | "Bytes"
        readonly primaryAggregationType: "Average"
        readonly supportedAggregationTypes: readonly (string)[]
        readonly metricAvailabilities: readonly ({
          readonly timeGrain: string
          readonly retention: string
        })[]
        readonly isDimensionRequired: boolean
        readonly dimensions?: readonly ({
          readonly value: string
          readonly localizedValue: string
        })[]
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listMetrics: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly cost: number
      readonly timespan: string
      readonly interval: string
      readonly namespace: string
      readonly resourceregion?: string
      readonly value: readonly ({
        readonly id: string
        readonly type: string
        readonly name: {
          readonly value: string
          readonly localizedValue: string
        }
        readonly displayDescription: string
        readonly unit: "Count" | "Bytes"
        readonly errorCode: string
        readonly timeseries: readonly ({
          readonly metadatavalues: readonly ({
            readonly name: {
              readonly value: string
              readonly localizedValue: string
            }
            readonly value: string
          })[]
          readonly data: readonly ({
            readonly timeStamp: string
            readonly average?: number
            readonly minimum?: number
            readonly maximum?: number
            readonly total?: number
            readonly count?: number
          })[]
        })[]
      })[]
    }
  }
  listBillingAccounts: {
    path: {  }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly soldTo?: Readonly<Record<string, string>>
          readonly displayName?: string
          readonly accountType?: "Other" | "Enterprise" | "Individual" | "Partner" | "Reseller" | "Business" | "Tenant"
          readonly accountStatus?: string
          readonly agreementType?: string
          readonly hasReadAccess?: boolean
          readonly billingProfiles?: {
            readonly hasMoreResults: boolean
            readonly value?: readonly (Readonly<Record<string, unknown>>)[]
          }
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listBillingProfiles: {
    path: { billingAccountName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly displayName?: string
          readonly currency?: string
          readonly billTo?: Readonly<Record<string, string>>
          readonly taxPercent?: number
          readonly exchangeRates?: readonly ({
            readonly currency: string
            readonly rate: number
          })[]
          readonly monthlyInvoices?: boolean
          readonly poNumber?: string
          readonly tags?: Readonly<Record<string, string>>
          readonly billingRelationshipType?: string
          readonly hasReadAccess?: boolean
          readonly invoiceDay?: number
          readonly invoiceEmailOptIn?: boolean
          readonly invoiceSections?: {
            readonly hasMoreResults: boolean
            readonly value?: readonly (Readonly<Record<string, unknown>>)[]
          }
          readonly spendingLimit?: string
          readonly status?: string
          readonly systemId?: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listInvoices: {
    path: { billingAccountName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly amountDue: {
            readonly currency: string
            readonly value: number
          }
          readonly billedAmount: {
            readonly currency: string
            readonly value: number
          }
          readonly creditAmount: {
            readonly currency: string
            readonly value: number
          }
          readonly subTotal: {
            readonly currency: string
            readonly value: number
          }
          readonly taxAmount: {
            readonly currency: string
            readonly value: number
          }
          readonly totalAmount: {
            readonly currency: string
            readonly value: number
          }
          readonly billingProfileId: string
          readonly documentType: "Invoice" | "CreditNote"
          readonly invoiceType: string
          readonly invoiceDate: string
          readonly dueDate: string
          readonly invoicePeriodStartDate: string
          readonly invoicePeriodEndDate: string
          readonly isMonthlyInvoice: boolean
          readonly status?: string
          readonly documents?: readonly ({
            readonly kind: "Invoice" | "CreditNote"
            readonly name: string
            readonly source: "DRS" | "ENF" | "Other"
            readonly url: string
          })[]
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getInvoice: {
    path: { billingAccountName: string; invoiceName: string }
    body: undefined
    answer: {
      readonly properties: {
        readonly amountDue: {
          readonly currency: string
          readonly value: number
        }
        readonly billedAmount: {
          readonly currency: string
          readonly value: number
        }
        readonly creditAmount: {
          readonly currency: string
          readonly value: number
        }
        readonly subTotal: {
          readonly currency: string
          readonly value: number
        }
        readonly taxAmount: {
          readonly currency: string
          readonly value: number
        }
        readonly totalAmount: {
          readonly currency: string
          readonly value: number
        }
        readonly billingProfileId: string
        readonly documentType: "Invoice" | "CreditNote"
        readonly invoiceType: string
        readonly invoiceDate: string
        readonly dueDate: string
        readonly invoicePeriodStartDate: string
        readonly invoicePeriodEndDate: string
        readonly isMonthlyInvoice: boolean
        readonly status?: string
        readonly documents?: readonly ({
          readonly kind: "Invoice" | "CreditNote"
          readonly name: string
          readonly source: "DRS" | "ENF" | "Other"
          readonly url: string
        })[]
      }
    }
  }
  listInvoiceTransactions: {
    path: { billingAccountName: string; invoiceName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly vendorCreditApplied?: {
            readonly currency: string
            readonly value: number
          }
          readonly vendorPlan?: string
          readonly billingCurrency: string
          readonly billingProfileDisplayName?: string
          readonly billingProfileId: string
          readonly consumptionCommitmentDecremented?: {
            readonly currency: string
            readonly value: number
          }
          readonly creditType?: string
          readonly customerDisplayName?: string
          readonly customerId?: string
          readonly date: string
          readonly discount?: number
          readonly effectivePrice?: {
            readonly currency: string
            readonly value: number
          }
          readonly exchangeRate?: number
          readonly invoice: string
          readonly invoiceId?: string
          readonly invoiceSectionDisplayName?: string
          readonly invoiceSectionId?: string
          readonly isThirdParty?: boolean
          readonly kind?: string
          readonly marketPrice?: {
            readonly currency: string
            readonly value: number
          }
          readonly partNumber?: string
          readonly pricingCurrency?: string
          readonly productDescription?: string
          readonly productFamily?: string
          readonly productType?: string
          readonly productTypeId?: string
          readonly quantity?: number
          readonly reasonCode?: string
          readonly refundTransactionDetails?: {
            readonly amountRefunded?: {
              readonly currency: string
              readonly value: number
            }
            readonly amountRequested?: {
              readonly currency: string
              readonly value: number
            }
            readonly refundOperationId?: string
          }
          readonly servicePeriodStartDate?: string
          readonly servicePeriodEndDate?: string
          readonly specialTaxationType?: string
          readonly subTotal?: {
            readonly currency: string
            readonly value: number
          }
          readonly tax?: {
            readonly currency: string
            readonly value: number
          }
          readonly transactionAmount?: {
            readonly currency: string
            readonly value: number
          }
          readonly transactionType?: string
          readonly unitOfMeasure?: string
          readonly unitType?: string
          readonly units?: number
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  printInvoice: {
    path: { billingAccountName: string; invoiceName: string }
    body: undefined
    answer: Readonly<Record<string, unknown>>
  }
  listProfileTransactions: {
    path: { billingAccountName: string; billingProfileName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly vendorCreditApplied?: {
            readonly currency: string
            readonly value: number
          }
          readonly vendorPlan?: string
          readonly billingCurrency: string
          readonly billingProfileDisplayName?: string
          readonly billingProfileId: string
          readonly consumptionCommitmentDecremented?: {
            readonly currency: string
            readonly value: number
          }
          readonly creditType?: string
          readonly customerDisplayName?: string
          readonly customerId?: string
          readonly date: string
          readonly discount?: number
          readonly effectivePrice?: {
            readonly currency: string
            readonly value: number
          }
          readonly exchangeRate?: number
          readonly invoice: string
          readonly invoiceId?: string
          readonly invoiceSectionDisplayName?: string
          readonly invoiceSectionId?: string
          readonly isThirdParty?: boolean
          readonly kind?: string
          readonly marketPrice?: {
            readonly currency: string
            readonly value: number
          }
          readonly partNumber?: string
          readonly pricingCurrency?: string
          readonly productDescription?: string
          readonly productFamily?: string
          readonly productType?: string
          readonly productTypeId?: string
          readonly quantity?: number
          readonly reasonCode?: string
          readonly refundTransactionDetails?: {
            readonly amountRefunded?: {
              readonly currency: string
              readonly value: number
            }
            readonly amountRequested?: {
              readonly currency: string
              readonly value: number
            }
            readonly refundOperationId?: string
          }
          readonly servicePeriodStartDate?: string
          readonly servicePeriodEndDate?: string
          readonly specialTaxationType?: string
          readonly subTotal?: {
            readonly currency: string
            readonly value: number
          }
          readonly tax?: {
            readonly currency: string
            readonly value: number
          }
          readonly transactionAmount?: {
            readonly currency: string
            readonly value: number
          }
          readonly transactionType?: string
          readonly unitOfMeasure?: string
          readonly unitType?: string
          readonly units?: number
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  refundTransaction: {
    path: { billingAccountName: string; billingProfileName: string; transactionName: string }
    body: {
      readonly name?: string
      readonly amount?: number
      readonly reasonCode?: string
    }
    answer: {
      readonly id: string
      readonly name?: string
      readonly type?: string
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly systemData?: Readonly<Record<string, string>>
      readonly properties: {
        readonly vendorCreditApplied?: {
          readonly currency: string
          readonly value: number
        }
        readonly vendorPlan?: string
        readonly billingCurrency: string
        readonly billingProfileDisplayName?: string
        readonly billingProfileId: string
        readonly consumptionCommitmentDecremented?: {
          readonly currency: string
          readonly value: number
        }
        readonly creditType?: string
        readonly customerDisplayName?: string
        readonly customerId?: string
        readonly date: string
        readonly discount?: number
        readonly effectivePrice?: {
          readonly currency: string
          readonly value: number
        }
        readonly exchangeRate?: number
        readonly invoice: string
        readonly invoiceId?: string
        readonly invoiceSectionDisplayName?: string
        readonly invoiceSectionId?: string
        readonly isThirdParty?: boolean
        readonly kind?: string
        readonly marketPrice?: {
          readonly currency: string
          readonly value: number
        }
        readonly partNumber?: string
        readonly pricingCurrency?: string
        readonly productDescription?: string
        readonly productFamily?: string
        readonly productType?: string
        readonly productTypeId?: string
        readonly quantity?: number
        readonly reasonCode?: string
        readonly refundTransactionDetails?: {
          readonly amountRefunded?: {
            readonly currency: string
            readonly value: number
          }
          readonly amountRequested?: {
            readonly currency: string
            readonly value: number
          }
          readonly refundOperationId?: string
        }
        readonly servicePeriodStartDate?: string
        readonly servicePeriodEndDate?: string
        readonly specialTaxationType?: string
        readonly subTotal?: {
          readonly currency: string
          readonly value: number
        }
        readonly tax?: {
          readonly currency: string
          readonly value: number
        }
        readonly transactionAmount?: {
          readonly currency: string
          readonly value: number
        }
        readonly transactionType?: string
        readonly unitOfMeasure?: string
        readonly unitType?: string
        readonly units?: number
      }
    }
  }
  chargeUsage: {
    path: { billingAccountName: string; billingProfileName: string }
    body: undefined
    answer: {
      readonly charges: number
    }
  }
  listMigrations: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly cancel?: "True" | "False"
          readonly dbsToCancelMigrationOn?: readonly (string)[]
          readonly dbsToMigrate?: readonly (string)[]
          readonly dbsToTriggerCutoverOn?: readonly (string)[]
          readonly migrateRoles?: "True" | "False"
          readonly migrationMode?: "Offline" | "Online"
          readonly migrationWindowStartTimeInUtc?: string
          readonly overwriteDbsInTarget?: "True" | "False"
          readonly secretParameters?: unknown
          readonly setupLogicalReplicationOnSourceDbIfNeeded?: "True" | "False"
          readonly sourceDbServerFullyQualifiedDomainName?: string
          readonly sourceDbServerResourceId: string
          readonly startDataMigration?: "True" | "False"
          readonly targetDbServerFullyQualifiedDomainName?: string
          readonly triggerCutover?: "True" | "False"
          readonly migrationInstanceResourceId?: string
          readonly migrationOption?: "Validate" | "Migrate" | "ValidateAndMigrate"
          readonly migrationWindowEndTimeInUtc?: string
          readonly sourceType?: "OnPremises" | "PostgreSQLFlexibleServer" | "PostgreSQLSingleServer" | "AWS" | "GCP" | "VendorVM" | "AWS_RDS" | "AWS_AURORA" | "AWS_EC2" | "GCP_CloudSQL" | "GCP_AlloyDB" | "GCP_Compute" | "EDB" | "EDB_Oracle_Server" | "EDB_PostgreSQL" | "PostgreSQLCosmosDB" | "Huawei_RDS" | "Huawei_Compute" | "Heroku_PostgreSQL" | "Crunchy_PostgreSQL" | "ApsaraDB_RDS" | "Digital_Ocean_Droplets" | "Digital_Ocean_PostgreSQL" | "Supabase_PostgreSQL"
          readonly sslMode?: "Prefer" | "Require" | "VerifyCA" | "VerifyFull"
          readonly migrationId: string
          readonly targetDbServerResourceId: string
          readonly sourceDbServerMetadata?: {
            readonly location: string
            readonly sku: {
              readonly name?: string
              readonly tier?: string
            }
            readonly storageMb: number
            readonly version: string
          }
          readonly targetDbServerMetadata?: {
            readonly location: string
            readonly sku: {
              readonly name?: string
              readonly tier?: string
            }
            readonly storageMb: number
            readonly version: string
          }
          readonly currentStatus: {
            readonly state: string
            readonly error?: string
            readonly currentSubStateDetails: {
              readonly currentSubState: string
              readonly dbDetails?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
              readonly validationDetails?: Readonly<Record<string, unknown>>
            }
          }
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  getMigration: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string; migrationName: string }
    body: undefined
    answer: {
      readonly properties: {
        readonly cancel?: "True" | "False"
        readonly dbsToCancelMigrationOn?: readonly (string)[]
        readonly dbsToMigrate?: readonly (string)[]
        readonly dbsToTriggerCutoverOn?: readonly (string)[]
        readonly migrateRoles?: "True" | "False"
        readonly migrationMode?: "Offline" | "Online"
        readonly migrationWindowStartTimeInUtc?: string
        readonly overwriteDbsInTarget?: "True" | "False"
        readonly secretParameters?: unknown
        readonly setupLogicalReplicationOnSourceDbIfNeeded?: "True" | "False"
        readonly sourceDbServerFullyQualifiedDomainName?: string
        readonly sourceDbServerResourceId: string
        readonly startDataMigration?: "True" | "False"
        readonly targetDbServerFullyQualifiedDomainName?: string
        readonly triggerCutover?: "True" | "False"
        readonly migrationInstanceResourceId?: string
        readonly migrationOption?: "Validate" | "Migrate" | "ValidateAndMigrate"
        readonly migrationWindowEndTimeInUtc?: string
        readonly sourceType?: "OnPremises" | "PostgreSQLFlexibleServer" | "PostgreSQLSingleServer" | "AWS" | "GCP" | "VendorVM" | "AWS_RDS" | "AWS_AURORA" | "AWS_EC2" | "GCP_CloudSQL" | "GCP_AlloyDB" | "GCP_Compute" | "EDB" | "EDB_Oracle_Server" | "EDB_PostgreSQL" | "PostgreSQLCosmosDB" | "Huawei_RDS" | "Huawei_Compute" | "Heroku_PostgreSQL" | "Crunchy_PostgreSQL" | "ApsaraDB_RDS" | "Digital_Ocean_Droplets" | "Digital_Ocean_PostgreSQL" | "Supabase_PostgreSQL"
        readonly sslMode?: "Prefer" | "Require" | "VerifyCA" | "VerifyFull"
        readonly migrationId: string
        readonly targetDbServerResourceId: string
        readonly sourceDbServerMetadata?: {
          readonly location: string
          readonly sku: {
            readonly name?: string
            readonly tier?: string
          }
          readonly storageMb: number
          readonly version: string
        }
        readonly targetDbServerMetadata?: {
          readonly location: string
          readonly sku: {
            readonly name?: string
            readonly tier?: string
          }
          readonly storageMb: number
          readonly version: string
        }
        readonly currentStatus: {
          readonly state: string
          readonly error?: string
          readonly currentSubStateDetails: {
            readonly currentSubState: string
            readonly dbDetails?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
            readonly validationDetails?: Readonly<Record<string, unknown>>
          }
        }
      }
    }
  }
  patchMigration: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string; migrationName: string }
    body: {
      readonly properties?: {
        readonly cancel?: "True" | "False"
        readonly dbsToCancelMigrationOn?: readonly (string)[]
        readonly dbsToMigrate?: readonly (string)[]
        readonly dbsToTriggerCutoverOn?: readonly (string)[]
        readonly migrateRoles?: "True" | "False"
        readonly migrationMode?: string
        readonly migrationWindowStartTimeInUtc?: string
        readonly overwriteDbsInTarget?: "True" | "False"
        readonly secretParameters?: {
          readonly adminCredentials?: {
            readonly sourceServerPassword?: string
            readonly targetServerPassword?: string
          }
          readonly sourceServerUsername?: string
          readonly targetServerUsername?: string
        }
        readonly setupLogicalReplicationOnSourceDbIfNeeded?: "True" | "False"
        readonly sourceDbServerFullyQualifiedDomainName?: string
        readonly sourceDbServerResourceId?: string
        readonly startDataMigration?: "True" | "False"
        readonly targetDbServerFullyQualifiedDomainName?: string
        readonly triggerCutover?: "True" | "False"
      }
    }
    answer: {
      readonly properties: {
        readonly cancel?: "True" | "False"
        readonly dbsToCancelMigrationOn?: readonly (string)[]
        readonly dbsToMigrate?: readonly (string)[]
        readonly dbsToTriggerCutoverOn?: readonly (string)[]
        readonly migrateRoles?: "True" | "False"
        readonly migrationMode?: "Offline" | "Online"
        readonly migrationWindowStartTimeInUtc?: string
        readonly overwriteDbsInTarget?: "True" | "False"
        readonly secretParameters?: unknown
        readonly setupLogicalReplicationOnSourceDbIfNeeded?: "True" | "False"
        readonly sourceDbServerFullyQualifiedDomainName?: string
        readonly sourceDbServerResourceId: string
        readonly startDataMigration?: "True" | "False"
        readonly targetDbServerFullyQualifiedDomainName?: string
        readonly triggerCutover?: "True" | "False"
        readonly migrationInstanceResourceId?: string
        readonly migrationOption?: "Validate" | "Migrate" | "ValidateAndMigrate"
        readonly migrationWindowEndTimeInUtc?: string
        readonly sourceType?: "OnPremises" | "PostgreSQLFlexibleServer" | "PostgreSQLSingleServer" | "AWS" | "GCP" | "VendorVM" | "AWS_RDS" | "AWS_AURORA" | "AWS_EC2" | "GCP_CloudSQL" | "GCP_AlloyDB" | "GCP_Compute" | "EDB" | "EDB_Oracle_Server" | "EDB_PostgreSQL" | "PostgreSQLCosmosDB" | "Huawei_RDS" | "Huawei_Compute" | "Heroku_PostgreSQL" | "Crunchy_PostgreSQL" | "ApsaraDB_RDS" | "Digital_Ocean_Droplets" | "Digital_Ocean_PostgreSQL" | "Supabase_PostgreSQL"
        readonly sslMode?: "Prefer" | "Require" | "VerifyCA" | "VerifyFull"
        readonly migrationId: string
        readonly targetDbServerResourceId: string
        readonly sourceDbServerMetadata?: {
          readonly location: string
          readonly sku: {
            readonly name?: string
            readonly tier?: string
          }
          readonly storageMb: number
          readonly version: string
        }
        readonly targetDbServerMetadata?: {
          readonly location: string
          readonly sku: {
            readonly name?: string
            readonly tier?: string
          }
          readonly storageMb: number
          readonly version: string
        }
        readonly currentStatus: {
          readonly state: string
          readonly error?: string
          readonly currentSubStateDetails: {
            readonly currentSubState: string
            readonly dbDetails?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
            readonly validationDetails?: Readonly<Record<string, unknown>>
          }
        }
      }
    }
  }
  getMigrationProgress: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string; migrationName: string }
    body: undefined
    answer: {
      readonly worker: string
      readonly message: string
      readonly databases: readonly ({
        readonly name: string
        readonly phase: string
        readonly bytesTotal: number
        readonly bytesCopied: number
        readonly bytesPerSecond: number
        readonly bytesBehind?: number
        readonly tables: readonly ({
          readonly name: string
          readonly state: string
          readonly bytesTotal: number
          readonly bytesCopied: number
          readonly bytesPerSecond: number
          readonly rows?: number
          readonly message?: string
        })[]
      })[]
    }
  }
  getMigrationReport: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string; migrationName: string }
    body: undefined
    answer: {
      readonly name: string
      readonly mode: string
      readonly state: string
      readonly source?: {
        readonly address: string
        readonly version?: string
      }
      readonly target?: {
        readonly address: string
        readonly version?: string
      }
      readonly databases: readonly ({
        readonly name: string
        readonly outcome: string
        readonly attempts: number
        readonly startedOn?: string
        readonly endedOn?: string
        readonly bytesCopied: number
        readonly appliedChanges: number
        readonly pauseMilliseconds?: number
        readonly verified?: {
          readonly how: string
          readonly tables: number
          readonly rows: number
        }
        readonly leftOut: readonly (string)[]
        readonly message: string
        readonly tables: readonly ({
          readonly name: string
          readonly rows: number
          readonly bytes: number
          readonly milliseconds: number
          readonly compared?: {
            readonly how: string
            readonly rows: number
            readonly milliseconds: number
          }
        })[]
        readonly tablesNotShown: number
      })[]
    }
  }
  catchUpMigration: {
    path: { subscriptionId: string; resourceGroupName: string; flexibleServerName: string; migrationName: string }
    body: {
      readonly databases?: readonly (string)[]
    }
    answer: {
      readonly databases: readonly (string)[]
    }
  }
  listAvailability: {
    path: { scope: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly availabilityState: "Available" | "Unavailable" | "Degraded" | "Unknown"
          readonly title: string
          readonly summary: string
          readonly reasonType?: string
          readonly occuredTime: string
          readonly reportedTime: string
          readonly reasonChronicity: string
          readonly recentlyResolved?: {
            readonly unavailableOccuredTime: string
            readonly resolvedTime: string
            readonly unavailableSummary: string
          }
          readonly healthEventType?: string
          readonly healthEventId?: string
          readonly healthEventCause?: string
          readonly serviceImpactingEvents?: readonly ({
            readonly eventStartTime: string
            readonly eventStatusLastModifiedTime: string
            readonly correlationId: string
            readonly status: {
              readonly value: string
            }
            readonly incidentProperties: {
              readonly title?: string
              readonly service?: string
              readonly incidentType: string
            }
          })[]
          readonly recommendedActions?: readonly ({
            readonly action: string
          })[]
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listInvitations: {
    path: {  }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly invitationId: string
          readonly invitationStatus: string
          readonly dataSetCount: number
          readonly description?: string
          readonly location: string
          readonly providerEmail: string
          readonly providerName: string
          readonly providerTenantName: string
          readonly sentAt: string
          readonly shareName: string
          readonly termsOfUse?: string
          readonly respondedAt?: string
          readonly expirationDate?: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  rejectInvitation: {
    path: { locationName: string }
    body: {
      readonly properties: {
        readonly invitationId: string
      }
    }
    answer: {
      readonly id: string
      readonly name?: string
      readonly type?: string
      readonly location?: string
      readonly tags?: Readonly<Record<string, string>>
      readonly systemData?: Readonly<Record<string, string>>
      readonly properties: {
        readonly invitationId: string
        readonly invitationStatus: string
        readonly dataSetCount: number
        readonly description?: string
        readonly location: string
        readonly providerEmail: string
        readonly providerName: string
        readonly providerTenantName: string
        readonly sentAt: string
        readonly shareName: string
        readonly termsOfUse?: string
        readonly respondedAt?: string
        readonly expirationDate?: string
      }
    }
  }
  listShares: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly description?: string
          readonly terms?: string
          readonly shareKind?: "CopyBased" | "InPlace"
          readonly createdAt: string
          readonly provisioningState: string
          readonly userName: string
          readonly userEmail?: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listShareSubscriptions: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly properties: {
          readonly invitationId: string
          readonly provisioningState: string
          readonly shareSubscriptionStatus: string
          readonly sourceShareLocation?: string
          readonly expirationDate?: string
          readonly createdAt?: string
          readonly providerEmail?: string
          readonly providerName?: string
          readonly providerTenantName?: string
          readonly shareDescription?: string
          readonly shareKind?: string
          readonly shareName?: string
          readonly shareTerms?: string
          readonly userEmail?: string
          readonly userName?: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
  listSynchronizations: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string; shareSubscriptionName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly synchronizationId: string
        readonly synchronizationMode: "Incremental" | "FullSync"
        readonly status: string
        readonly message?: string
        readonly startTime?: string
        readonly endTime?: string
        readonly durationMs: number
      })[]
      readonly nextLink?: string
    }
  }
  listSynchronizationDetails: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string; shareSubscriptionName: string }
    body: {
      readonly synchronizationId: string
    }
    answer: {
      readonly value: readonly ({
        readonly dataSetId: string
        readonly dataSetType: "Blob" | "Container" | "BlobFolder" | "AdlsGen2FileSystem" | "AdlsGen2Folder" | "AdlsGen2File" | "AdlsGen1Folder" | "AdlsGen1File" | "KustoCluster" | "KustoDatabase" | "KustoTable" | "SqlDBTable" | "SqlDWTable" | "SynapseWorkspaceSqlPoolTable"
        readonly name: string
        readonly status: string
        readonly message?: string
        readonly startTime?: string
        readonly endTime?: string
        readonly durationMs: number
        readonly filesRead: number
        readonly filesWritten: number
        readonly rowsRead: number
        readonly rowsCopied: number
        readonly sizeRead: number
        readonly sizeWritten: number
        readonly vCore: number
      })[]
      readonly nextLink?: string
    }
  }
  synchronize: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string; shareSubscriptionName: string }
    body: {
      readonly synchronizationMode?: "Incremental" | "FullSync"
    }
    answer: {
      readonly synchronizationId: string
      readonly synchronizationMode: "Incremental" | "FullSync"
      readonly status: string
      readonly message?: string
      readonly startTime?: string
      readonly endTime?: string
      readonly durationMs: number
    }
  }
  cancelSynchronization: {
    path: { subscriptionId: string; resourceGroupName: string; accountName: string; shareSubscriptionName: string }
    body: {
      readonly synchronizationId: string
    }
    answer: {
      readonly synchronizationId: string
      readonly synchronizationMode: "Incremental" | "FullSync"
      readonly status: string
      readonly message?: string
      readonly startTime?: string
      readonly endTime?: string
      readonly durationMs: number
    }
  }
  listApis: {
    path: { subscriptionId: string; resourceGroupName: string; serviceName: string }
    body: undefined
    answer: {
      readonly value: readonly ({
        readonly format?: string
        readonly value?: Readonly<Record<string, unknown>>
        readonly properties: {
          readonly path: string
          readonly displayName?: unknown
          readonly description?: unknown
          readonly serviceUrl?: unknown
          readonly protocols?: unknown
          readonly apiRevision?: unknown
          readonly apiRevisionDescription?: unknown
          readonly apiVersion?: unknown
          readonly apiVersionDescription?: unknown
          readonly apiVersionSetId?: unknown
          readonly apiVersionSet?: unknown
          readonly subscriptionRequired?: unknown
          readonly subscriptionKeyParameterNames?: unknown
          readonly type?: "http" | "soap" | "websocket" | "graphql" | "odata" | "grpc"
          readonly authenticationSettings?: unknown
          readonly contact?: unknown
          readonly license?: unknown
          readonly termsOfServiceUrl?: unknown
          readonly sourceApiId?: unknown
          readonly isCurrent: boolean
          readonly isOnline: boolean
          readonly isAgent?: boolean
          readonly effectivePath?: string
          readonly provisioningState: string
        }
      })[]
      readonly nextLink?: string
      readonly count?: number
    }
  }
}

export const operations: {
  readonly [K in keyof Operations]: {
    readonly method: string
    readonly path: string
    readonly version: string
  }
} = {
  listSubscriptions: { method: 'GET', path: '/subscriptions', version: '2022-12-01' },
  getEntities: { method: 'POST', path: '/providers/Vendor.Management/getEntities', version: '2020-05-01' },
  listGroups: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups', version: '2021-04-01' },
  getGroup: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}', version: '2021-04-01' },
  putGroup: { method: 'PUT', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}', version: '2021-04-01' },
  listResources: { method: 'GET', path: '/subscriptions/{subscriptionId}/resources', version: '2021-04-01' },
  listGroupResources: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/resources', version: '2021-04-01' },
  listProviders: { method: 'GET', path: '/subscriptions/{subscriptionId}/providers', version: '2021-04-01' },
  listLocations: { method: 'GET', path: '/subscriptions/{subscriptionId}/locations', version: '2022-12-01' },
  putTags: { method: 'PUT', path: '/{scope}/providers/Vendor.Resources/tags/{tagName}', version: '2021-04-01' },
  listDeployments: { method: 'GET', path: '/{scope}/providers/Vendor.Resources/deployments', version: '2021-04-01' },
  getDeployment: { method: 'GET', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}', version: '2021-04-01' },
  putDeployment: { method: 'PUT', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}', version: '2021-04-01' },
  cancelDeployment: { method: 'POST', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}/cancel', version: '2021-04-01' },
  validateDeployment: { method: 'POST', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}/validate', version: '2021-04-01' },
  whatIfDeployment: { method: 'POST', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}/whatIf', version: '2021-04-01' },
  exportDeployment: { method: 'POST', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}/exportTemplate', version: '2021-04-01' },
  listDeploymentOperations: { method: 'GET', path: '/{scope}/providers/Vendor.Resources/deployments/{deploymentName}/operations', version: '2021-04-01' },
  listContainerGroups: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups', version: '2025-09-01' },
  getContainerGroup: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}', version: '2025-09-01' },
  restartContainerGroup: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}/restart', version: '2025-09-01' },
  startContainerGroup: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}/start', version: '2025-09-01' },
  stopContainerGroup: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}/stop', version: '2025-09-01' },
  execContainer: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}/containers/{containerName}/exec', version: '2025-09-01' },
  getContainerLog: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ContainerInstance/containerGroups/{containerGroupName}/containers/{containerName}/logs', version: '2025-09-01' },
  listRoleAssignments: { method: 'GET', path: '/{scope}/providers/Vendor.Authorization/roleAssignments', version: '2022-04-01' },
  putRoleAssignment: { method: 'PUT', path: '/{scope}/providers/Vendor.Authorization/roleAssignments/{roleAssignmentName}', version: '2022-04-01' },
  deleteRoleAssignment: { method: 'DELETE', path: '/{scope}/providers/Vendor.Authorization/roleAssignments/{roleAssignmentName}', version: '2022-04-01' },
  listRoleDefinitions: { method: 'GET', path: '/{scope}/providers/Vendor.Authorization/roleDefinitions', version: '2022-04-01' },
  checkAccess: { method: 'POST', path: '/{scope}/providers/Vendor.Authorization/checkAccess', version: '2022-04-01' },
  getDeniedRequest: { method: 'GET', path: '/providers/Vendor.Authorization/deniedRequests/{deniedRequestName}', version: '2022-04-01' },
  listLocks: { method: 'GET', path: '/{scope}/providers/Vendor.Authorization/locks', version: '2016-09-01' },
  putLock: { method: 'PUT', path: '/{scope}/providers/Vendor.Authorization/locks/{lockName}', version: '2016-09-01' },
  deleteLock: { method: 'DELETE', path: '/{scope}/providers/Vendor.Authorization/locks/{lockName}', version: '2016-09-01' },
  listActivity: { method: 'GET', path: '/{scope}/providers/Vendor.Insights/eventtypes/{eventtypeName}/values', version: '2015-04-01' },
  listMetricDefinitions: { method: 'GET', path: '/{scope}/providers/Vendor.Insights/metricDefinitions', version: '2018-01-01' },
  listMetrics: { method: 'GET', path: '/{scope}/providers/Vendor.Insights/metrics', version: '2018-01-01' },
  listBillingAccounts: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts', version: '2024-04-01' },
  listBillingProfiles: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/billingProfiles', version: '2024-04-01' },
  listInvoices: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/invoices', version: '2024-04-01' },
  getInvoice: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/invoices/{invoiceName}', version: '2024-04-01' },
  listInvoiceTransactions: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/invoices/{invoiceName}/transactions', version: '2024-04-01' },
  printInvoice: { method: 'POST', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/invoices/{invoiceName}/download', version: '2024-04-01' },
  listProfileTransactions: { method: 'GET', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/billingProfiles/{billingProfileName}/transactions', version: '2024-04-01' },
  refundTransaction: { method: 'POST', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/billingProfiles/{billingProfileName}/transactions/{transactionName}/refund', version: '2024-04-01' },
  chargeUsage: { method: 'POST', path: '/providers/Vendor.Billing/billingAccounts/{billingAccountName}/billingProfiles/{billingProfileName}/chargeUsage', version: '2024-04-01' },
  listMigrations: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations', version: '2025-08-01' },
  getMigration: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations/{migrationName}', version: '2025-08-01' },
  patchMigration: { method: 'PATCH', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations/{migrationName}', version: '2025-08-01' },
  getMigrationProgress: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations/{migrationName}/progress', version: '2025-08-01' },
  getMigrationReport: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations/{migrationName}/report', version: '2025-08-01' },
  catchUpMigration: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DBforPostgreSQL/flexibleServers/{flexibleServerName}/migrations/{migrationName}/catchUp', version: '2025-08-01' },
  listAvailability: { method: 'GET', path: '/{scope}/providers/Vendor.ResourceHealth/availabilityStatuses', version: '2025-05-01' },
  listInvitations: { method: 'GET', path: '/providers/Vendor.DataShare/listInvitations', version: '2021-08-01' },
  rejectInvitation: { method: 'POST', path: '/providers/Vendor.DataShare/locations/{locationName}/rejectInvitation', version: '2021-08-01' },
  listShares: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shares', version: '2021-08-01' },
  listShareSubscriptions: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shareSubscriptions', version: '2021-08-01' },
  listSynchronizations: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shareSubscriptions/{shareSubscriptionName}/listSynchronizations', version: '2021-08-01' },
  listSynchronizationDetails: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shareSubscriptions/{shareSubscriptionName}/listSynchronizationDetails', version: '2021-08-01' },
  synchronize: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shareSubscriptions/{shareSubscriptionName}/synchronize', version: '2021-08-01' },
  cancelSynchronization: { method: 'POST', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.DataShare/accounts/{accountName}/shareSubscriptions/{shareSubscriptionName}/cancelSynchronization', version: '2021-08-01' },
  listApis: { method: 'GET', path: '/subscriptions/{subscriptionId}/resourceGroups/{resourceGroupName}/providers/Vendor.ApiManagement/service/{serviceName}/apis', version: '2024-05-01' },
}
