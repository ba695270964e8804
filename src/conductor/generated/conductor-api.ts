// Generated from openapi/conductor.yaml by scripts/generate.mjs. Never edited by hand.

export interface paths {
    readonly "/api/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Trades a key for a token. A server without access control has no such route and answers 404. */
        readonly post: operations["createToken"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/poll/batch/{taskType}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Hands out waiting tasks. An empty list when there are none; never 204.
         * @description Waits until `count` tasks are there or `timeout` milliseconds have passed, whichever comes first. More than 5000 ms is refused. A task that was handed out is in progress at once, whether the answer arrives or not.
         */
        readonly get: operations["pollTasks"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/queue/polldata": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** When a task type was polled last, in each domain. A poll is noted when it arrives. */
        readonly get: operations["getPollData"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/queue/polldata/all": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** When each task type was polled last, in each domain. */
        readonly get: operations["getAllPollData"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/queue/all": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * How many tasks wait in each queue; those that are polled are not counted, those that are delayed are.
         * @description The queue of a task type in a domain is named `domain:type`. Queues of the server itself are among them.
         */
        readonly get: operations["getQueueSizes"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/{taskId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getTask"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Posts a result, hands a task back, or renews its lease.
         * @description With `extendLease` every other field is ignored and the task's update time moves; the server writes the whole row back as it had read it, so that a renewal in flight may undo a completion. Without it the output replaces the earlier one, and the next tasks are scheduled before the answer. A task that has ended already, or whose workflow has, is answered alike and stays as it is.
         */
        readonly post: operations["updateTask"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/tasks/{taskId}/log": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getTaskLog"];
        readonly put?: never;
        /** Adds one line. The raw body is the text; it is not read as JSON. Unknown tasks are taken, too. */
        readonly post: operations["addTaskLog"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/{workflowId}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Nothing new is scheduled; what is in progress goes on. Again, on one that is paused, without effect. */
        readonly put: operations["pauseWorkflow"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/{workflowId}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Continues a paused workflow. On one that is not paused the server answers 500. */
        readonly put: operations["resumeWorkflow"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/{workflowId}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** A new attempt at every failed task. On one that runs the server answers 404, on a completed one 409. */
        readonly post: operations["retryWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/{workflowId}/rerun": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Opens a task of an ended workflow again, under its old id; what came after it is removed. */
        readonly post: operations["rerunWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/{workflowId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getWorkflow"];
        readonly put?: never;
        readonly post?: never;
        /** Ends a workflow; what of it is open is cancelled. Again, on one that is terminated, without effect. */
        readonly delete: operations["terminateWorkflow"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow/search-v2": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Workflows, without their tasks, that match a query such as `status IN (RUNNING,PAUSED)`.
         * @description With SQLite a start, a pause and an end show in the next search. Where an index of its own is searched, they may show later. A page of more than 5000 is refused.
         */
        readonly get: operations["searchWorkflows"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/workflow": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Starts a workflow; its first tasks are scheduled before the answer. Idempotency keys have no effect. */
        readonly post: operations["startWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/metadata/taskdefs/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getTaskDef"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/metadata/taskdefs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Replaces everything of one definition; nothing is merged. */
        readonly put: operations["updateTaskDef"];
        /** Creates or overwrites, silently. All or nothing when one entry is not valid. */
        readonly post: operations["registerTaskDefs"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/metadata/workflow/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getWorkflowDef"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/metadata/workflow": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Creates or overwrites. Nothing is stored when one entry is not valid. */
        readonly put: operations["updateWorkflowDefs"];
        /** Creates one version. */
        readonly post: operations["registerWorkflowDef"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/health": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Whether the server is up. Not /actuator/health, which is DOWN on a stock server. */
        readonly get: operations["getHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/version": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getVersion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly Credentials: {
            readonly keyId: string;
            readonly keySecret: string;
        };
        readonly Token: {
            readonly token: string;
        };
        readonly Refusal: {
            readonly status: number;
            readonly message: string;
            readonly retryable: boolean;
            readonly validationErrors?: readonly {
                readonly path?: string;
                readonly message?: string;
            }[];
        };
        /** @enum {string} */
        readonly TaskStatus: "SCHEDULED" | "IN_PROGRESS" | "COMPLETED" | "COMPLETED_WITH_ERRORS" | "FAILED" | "FAILED_WITH_TERMINAL_ERROR" | "CANCELED" | "TIMED_OUT" | "SKIPPED";
        /** @enum {string} */
        readonly WorkflowStatus: "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "TIMED_OUT" | "TERMINATED";
        readonly JsonObject: {
            readonly [key: string]: unknown;
        };
        /** @description One attempt. Times are milliseconds since 1970, and 0 while they are not set. */
        readonly Task: {
            readonly taskId: string;
            readonly workflowInstanceId: string;
            readonly workflowType?: string;
            readonly status: components["schemas"]["TaskStatus"];
            readonly taskType: string;
            readonly taskDefName: string;
            readonly referenceTaskName: string;
            readonly retryCount: number;
            /** @description How often it was handed out. Starts anew when it is run again. */
            readonly pollCount: number;
            readonly seq: number;
            readonly iteration: number;
            readonly scheduledTime: number;
            /** @description When this id was first handed out. */
            readonly startTime: number;
            /** @description When the lease began or was last renewed. */
            readonly updateTime: number;
            readonly responseTimeoutSeconds: number;
            /** @description A later attempt has taken over. */
            readonly retried: boolean;
            /** @description The worker of the last poll or update. */
            readonly workerId?: string;
            readonly correlationId?: string;
            readonly domain?: string;
            /** @description At most 500 characters are kept. */
            readonly reasonForIncompletion?: string;
            readonly inputData?: components["schemas"]["JsonObject"];
            readonly outputData?: components["schemas"]["JsonObject"];
            readonly externalInputPayloadStoragePath?: string;
            readonly externalOutputPayloadStoragePath?: string;
            /** @description Of the workflow that a task of type SUB_WORKFLOW runs. */
            readonly subWorkflowId?: string;
        };
        readonly TaskUpdate: {
            readonly workflowInstanceId: string;
            readonly taskId: string;
            /** @description Written into the task as it is; removed from it when absent. */
            readonly workerId?: string;
            /** @enum {string} */
            readonly status: "COMPLETED" | "FAILED" | "FAILED_WITH_TERMINAL_ERROR" | "IN_PROGRESS";
            readonly outputData?: components["schemas"]["JsonObject"];
            readonly reasonForIncompletion?: string;
            readonly callbackAfterSeconds?: number;
            readonly extendLease?: boolean;
            /** @description The first ten are kept, and none when the task has ended already. */
            readonly logs?: readonly {
                readonly log: string;
                readonly createdTime: number;
            }[];
        };
        readonly Workflow: {
            readonly workflowId: string;
            readonly status: components["schemas"]["WorkflowStatus"];
            readonly workflowName?: string;
            readonly workflowVersion?: number;
            readonly endTime?: number;
            readonly updateTime?: number;
            readonly correlationId?: string;
            readonly output?: components["schemas"]["JsonObject"];
            readonly reasonForIncompletion?: string;
            readonly tasks?: readonly components["schemas"]["Task"][];
            /** @description Of a workflow that another one runs as a step. */
            readonly parentWorkflowId?: string;
            readonly startTime?: number;
            readonly input?: components["schemas"]["JsonObject"];
            readonly workflowDefinition?: components["schemas"]["WorkflowDef"];
        };
        readonly WorkflowPage: {
            readonly totalHits: number;
            readonly results: readonly components["schemas"]["Workflow"][];
        };
        readonly WorkflowStart: {
            readonly name: string;
            /** @description The latest when absent. */
            readonly version?: number;
            readonly input?: components["schemas"]["JsonObject"];
            readonly correlationId?: string;
            readonly priority?: number;
            readonly taskToDomain?: {
                readonly [key: string]: string;
            };
        };
        readonly TaskDef: {
            readonly name: string;
            readonly description?: string;
            readonly ownerEmail?: string;
            readonly retryCount?: number;
            /** @enum {string} */
            readonly retryLogic?: "FIXED" | "EXPONENTIAL_BACKOFF" | "LINEAR_BACKOFF";
            readonly retryDelaySeconds?: number;
            readonly maxRetryDelaySeconds?: number;
            readonly backoffScaleFactor?: number;
            readonly backoffJitterMs?: number;
            readonly responseTimeoutSeconds?: number;
            readonly timeoutSeconds?: number;
            readonly totalTimeoutSeconds?: number;
            readonly pollTimeoutSeconds?: number;
            /** @enum {string} */
            readonly timeoutPolicy?: "RETRY" | "TIME_OUT_WF" | "ALERT_ONLY";
            readonly concurrentExecLimit?: number;
            readonly rateLimitPerFrequency?: number;
            readonly rateLimitFrequencyInSeconds?: number;
            readonly inputKeys?: readonly string[];
            readonly outputKeys?: readonly string[];
            readonly inputTemplate?: components["schemas"]["JsonObject"];
        };
        readonly WorkflowTask: {
            readonly name: string;
            readonly taskReferenceName: string;
            readonly type?: string;
            readonly inputParameters?: components["schemas"]["JsonObject"];
        } & {
            readonly [key: string]: unknown;
        };
        readonly WorkflowDef: {
            /** @description What the workflow is started by; a definition is known by name and version. */
            readonly name: string;
            /** @description From 1; a start without a version takes the latest. Default: 1. */
            readonly version?: number;
            /** @description For people; changes nothing about a run. */
            readonly description?: string;
            /** @description Whom to ask about the workflow. */
            readonly ownerEmail?: string;
            /**
             * @description The form of this document. Default: 2.
             * @enum {integer}
             */
            readonly schemaVersion?: 2;
            /** @description Whether a completed execution may be started over. Default: true. */
            readonly restartable?: boolean;
            /**
             * @description After `timeoutSeconds`: `TIME_OUT_WF` ends the execution, `ALERT_ONLY` lets it go on. Default: `ALERT_ONLY`.
             * @enum {string}
             */
            readonly timeoutPolicy?: "TIME_OUT_WF" | "ALERT_ONLY";
            /** @description Longest time of an execution; 0: no limit. Default: 0. */
            readonly timeoutSeconds?: number;
            /** @description Names of the inputs, for people and tools; changes nothing about a run. Default: none. */
            readonly inputParameters?: readonly string[];
            /** @description The output by name, such as `${load.output.rows}`. Default: the output of the last task. */
            readonly outputParameters?: components["schemas"]["JsonObject"];
            /** @description Values of inputs that the start does not give. Default: none. */
            readonly inputTemplate?: components["schemas"]["JsonObject"];
            /** @description The first values of the workflow variables. Default: none. */
            readonly variables?: components["schemas"]["JsonObject"];
            /** @description Run in this order. */
            readonly tasks: readonly components["schemas"]["WorkflowTask"][];
        } & {
            readonly [key: string]: unknown;
        };
        readonly BulkAnswer: {
            readonly bulkErrorResults: {
                readonly [key: string]: string;
            };
            readonly bulkSuccessfulResults: readonly string[];
        };
        readonly Health: {
            readonly healthy: boolean;
        };
    };
    responses: {
        /** @description The request is not valid. */
        readonly Invalid: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description What was named is not there. A route that does not exist is answered in the same shape, with a message that begins with "No static resource". */
        readonly Missing: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description Key and secret, or the token, are not accepted. */
        readonly Refused: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
    };
    parameters: {
        readonly TaskId: string;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly createToken: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Credentials"];
            };
        };
        readonly responses: {
            /** @description A token that is sent as `X-Authorization`. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Token"];
                };
            };
            readonly 401: components["responses"]["Refused"];
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly pollTasks: {
        readonly parameters: {
            readonly query: {
                readonly workerid: string;
                readonly count: number;
                readonly timeout: number;
                readonly domain?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly taskType: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The tasks, by priority and then by the time they were due. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["Task"][];
                };
            };
            readonly 400: components["responses"]["Invalid"];
        };
    };
    readonly getPollData: {
        readonly parameters: {
            readonly query: {
                readonly taskType: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One entry for each domain; none where it was never polled. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly queueName: string;
                        readonly domain?: string | null;
                        readonly workerId?: string | null;
                        /** @description In milliseconds. */
                        readonly lastPollTime?: number;
                    }[];
                };
            };
        };
    };
    readonly getAllPollData: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One entry for each task type and domain. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly queueName: string;
                        readonly domain?: string | null;
                        readonly workerId?: string | null;
                        /** @description In milliseconds. */
                        readonly lastPollTime?: number;
                    }[];
                };
            };
        };
    };
    readonly getQueueSizes: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description By queue. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly [key: string]: number;
                    };
                };
            };
        };
    };
    readonly getTask: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly taskId: components["parameters"]["TaskId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The task as the server holds it now. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Task"];
                };
            };
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly updateTask: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TaskUpdate"];
            };
        };
        readonly responses: {
            /** @description The task's id, which says nothing about whether the update counted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly getTaskLog: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly taskId: components["parameters"]["TaskId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Its lines, in no certain order. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly {
                        readonly log: string;
                        readonly createdTime?: number;
                    }[];
                };
            };
            /** @description There are none. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly addTaskLog: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly taskId: components["parameters"]["TaskId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "text/plain": string;
            };
        };
        readonly responses: {
            /** @description Taken. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    readonly pauseWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Paused. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 404: components["responses"]["Missing"];
            /** @description It has ended. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly resumeWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Resumed. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly retryWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Running again. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 404: components["responses"]["Missing"];
            /** @description It is completed. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly rerunWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": {
                    readonly reRunFromTaskId?: string;
                };
            };
        };
        readonly responses: {
            /** @description The workflow's id. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 404: components["responses"]["Missing"];
            /** @description It runs. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly getWorkflow: {
        readonly parameters: {
            readonly query: {
                readonly includeTasks: boolean;
            };
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The workflow as the server holds it now. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflow"];
                };
            };
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly terminateWorkflow: {
        readonly parameters: {
            readonly query?: {
                readonly reason?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly workflowId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Terminated. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 404: components["responses"]["Missing"];
            /** @description It has ended already. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly searchWorkflows: {
        readonly parameters: {
            readonly query: {
                readonly query: string;
                readonly start: number;
                readonly size: number;
                readonly sort?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, and how many there are in all. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WorkflowPage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
        };
    };
    readonly startWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WorkflowStart"];
            };
        };
        readonly responses: {
            /** @description The new workflow's id. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly getTaskDef: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The definition, with the server's defaults filled in. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TaskDef"];
                };
            };
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly updateTaskDef: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TaskDef"];
            };
        };
        readonly responses: {
            /** @description Stored. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly registerTaskDefs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": readonly components["schemas"]["TaskDef"][];
            };
        };
        readonly responses: {
            /** @description Stored. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
        };
    };
    readonly getWorkflowDef: {
        readonly parameters: {
            readonly query?: {
                readonly version?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The definition of that version, or the latest, with the server's defaults filled in. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WorkflowDef"];
                };
            };
            readonly 404: components["responses"]["Missing"];
        };
    };
    readonly updateWorkflowDefs: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": readonly components["schemas"]["WorkflowDef"][];
            };
        };
        readonly responses: {
            /** @description Which were stored, and which were not. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAnswer"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
        };
    };
    readonly registerWorkflowDef: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WorkflowDef"];
            };
        };
        readonly responses: {
            /** @description Stored. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
            /** @description This name and version are there already. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly getHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Up. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly getVersion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The version. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
        };
    };
}
