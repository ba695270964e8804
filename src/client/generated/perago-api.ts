// Generated from openapi/perago.yaml by scripts/generate.mjs. Never edited by hand.

export interface paths {
    readonly "/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Records an event of an outside system.
         * @description Needs the role operator. Only types under `external.` are accepted. With an `Idempotency-Key` the same event may be sent again: it is recorded once, and every response has the id of the first.
         */
        readonly post: operations["publishEvent"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists the executions of the token's tenant, the newest first.
         * @description Needs the role viewer. Ended ones are listed until they are swept. A page may have fewer than `limit` although there are more: what the server looks at for one page is bounded.
         */
        readonly get: operations["listExecutions"];
        readonly put?: never;
        /**
         * Starts an execution of a pipeline.
         * @description Needs the role operator, and a server that runs executions. The pipeline is one that was registered, or `definition` is the pipeline itself. With an `Idempotency-Key` the same request may be sent again: it is started once, and every response has the same id. The status route knows it at once. With a W3C `traceparent` it belongs to that trace, and is no other request because of it.
         */
        readonly post: operations["startExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One execution, with its units.
         * @description Needs the role viewer. An answer is bounded: `left_out` names what did not fit; results of units are in its variables too.
         */
        readonly get: operations["readExecution"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/wait": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Answers when the execution has ended, or when the time is over.
         * @description Needs the role viewer. Ask again while `ended` is false.
         */
        readonly get: operations["waitForExecution"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Pauses an execution: nothing new is scheduled, tasks in progress may finish.
         * @description Needs the role operator. This request may be repeated.
         */
        readonly post: operations["pauseExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Continues a paused execution.
         * @description Needs the role operator. One that is not paused is refused.
         */
        readonly post: operations["resumeExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Ends an execution.
         * @description Needs the role operator. This request may be repeated; one that has completed is refused.
         */
        readonly post: operations["cancelExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Tries again what failed or was cancelled in an execution that has ended.
         * @description Needs the role operator. What was rolled back starts from the beginning. One that has not ended is refused.
         */
        readonly post: operations["retryExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/units/{unit}/complete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Ends a unit that waits for somebody, a `human` or a `wait`.
         * @description Needs the role operator. This request may be repeated. Tasks are refused: they belong to the worker that has claimed them.
         */
        readonly post: operations["completeUnit"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Takes an execution back, its state and its branches together, and lets it run again from there.
         * @description Needs the role operator. Branches move back only if all that leaves them was published by this execution; what leaves them stays reachable under a tag. Otherwise it is refused, and nothing changes. With an `Idempotency-Key` the same request may be sent again: it is done once, and a later response lists no branches. After 504 it is done when the repository is back; meanwhile other requests about the execution are answered with 503.
         */
        readonly post: operations["rollBackExecution"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/rollback/preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * What a rollback would do, and why it would be refused.
         * @description Needs the role viewer. Changes nothing.
         */
        readonly post: operations["previewRollback"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/rollback/abandon": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Gives up a rollback that cannot end: branches stay where they are, and the execution is ended.
         * @description Needs the role operator.
         */
        readonly post: operations["abandonRollback"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/checkpoints": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The checkpoints of an execution, the oldest first.
         * @description Needs the role viewer.
         */
        readonly get: operations["listCheckpoints"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/graph": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The graph of an execution, and the state of each of its units, for drawing.
         * @description Needs the role viewer.
         */
        readonly get: operations["readExecutionGraph"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pipelines": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists the registered pipelines of the token's tenant, by name and version.
         * @description Needs the role viewer.
         */
        readonly get: operations["listPipelines"];
        readonly put?: never;
        /**
         * Registers a pipeline, so that it can be started by its name.
         * @description Needs the role operator. The body is the pipeline as in a file; see pipeline.schema.json. It replaces the one of the same name and version; executions that have started keep theirs. Its `schedules` are those of the pipeline from now on, whatever its version; one that is not in the body ends.
         */
        readonly post: operations["registerPipeline"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pipelines/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * A registered pipeline, as the graph that is run.
         * @description Needs the role viewer.
         */
        readonly get: operations["readPipeline"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/schedules": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The schedules of the token's tenant, with the next time of each.
         * @description Needs the role viewer. Schedules are registered with their pipelines.
         */
        readonly get: operations["listSchedules"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pipelines/{name}/schedules/{schedule}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Stops a schedule: its times pass without a start.
         * @description Needs the role operator. This request may be repeated.
         */
        readonly post: operations["pauseSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pipelines/{name}/schedules/{schedule}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Lets a schedule start its pipeline again, from now on.
         * @description Needs the role operator. This request may be repeated.
         */
        readonly post: operations["resumeSchedule"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists events of one execution, in the order of its log.
         * @description Needs the role viewer. Events must match all filters. A page may have fewer than `limit`, or none, although there are more: what the server looks at for one page is bounded, whether it matches or not. The last page is the one without `next_after`; until then, ask again with it as `after`.
         */
        readonly get: operations["queryEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/events/{event_type}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The latest event of exactly this type.
         * @description Needs the role viewer.
         */
        readonly get: operations["getEvent"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/follow": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Sends the events of one execution as they are recorded, as server-sent events.
         * @description Needs the role viewer. Each event has its sequence number as `id`, and an Event as `data`. A client that reconnects sends the last id as `Last-Event-ID` and misses nothing. When the execution has ended and all events are sent, an event named `end` follows and the stream ends. Comments keep the connection alive. A stream that ends without that event, as for a client that has taken nothing for long, is continued by connecting again.
         */
        readonly get: operations["followExecution"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/variables": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists the variables of one execution, by name.
         * @description Needs the role viewer. A page of large values has fewer of them than `limit`. The last page is the one without `next_after`; until then, ask again with it as `after`.
         */
        readonly get: operations["listVariables"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/variables/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One variable.
         * @description Needs the role viewer.
         */
        readonly get: operations["getVariable"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/variables/{name}/history": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What was written to a variable, the latest first.
         * @description Needs the role viewer. At most 50 writes; the first one is the present value, or its removal. Parts of values that look like a secret are replaced, and a value above 4 KiB is there with its size only. The history goes when the variables of the execution go.
         */
        readonly get: operations["getVariableHistory"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/executions/{execution_id}/shared": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What the units of an execution share, and which of them set and use each value, by name.
         * @description Needs the role viewer. These are the variables `shared.NAME` of this execution, and names that its graph sets or uses and that have no value yet. The units are those of its graph; a program may set further values. No other execution can reach them. A page of large values has fewer of them than `limit`. The last page is the one without `next_after`.
         */
        readonly get: operations["listSharedValues"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists the webhooks of the token's tenant.
         * @description Needs the role operator.
         */
        readonly get: operations["listWebhooks"];
        readonly put?: never;
        /**
         * Adds a webhook; the only response with the secret that signs its deliveries.
         * @description Needs the role operator. With an `Idempotency-Key` the same request may be sent again: only one webhook is added, and only the first response has its secret.
         */
        readonly post: operations["addWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{webhook_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * One webhook.
         * @description Needs the role operator.
         */
        readonly get: operations["showWebhook"];
        readonly put?: never;
        readonly post?: never;
        /**
         * Removes a webhook and its pending deliveries.
         * @description Needs the role operator.
         */
        readonly delete: operations["removeWebhook"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{webhook_id}/dead-deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Lists the deliveries that were given up after their last try, ordered by id.
         * @description Needs the role operator. They are kept for 30 days.
         */
        readonly get: operations["listDeadDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{webhook_id}/dead-deliveries/{delivery_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sends one dead delivery again, with the same id.
         * @description Needs the role operator. After that it is not dead any more, and a second request gets 404.
         */
        readonly post: operations["redeliver"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{webhook_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Sends the dead deliveries of a webhook again.
         * @description Needs the role operator. This request may be repeated.
         */
        readonly post: operations["redeliverAll"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/session": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Who asks, and what can be shown.
         * @description With a token or the cookie of a session.
         */
        readonly get: operations["readSession"];
        readonly put?: never;
        /**
         * Opens a session for a browser.
         * @description Sets a cookie that a page of this server sends along, and scripts cannot read. It ends after eight hours, with the server, and when its token is revoked. Exactly one of a token, the address key that the server printed, or a key pair of lakeFS is needed.
         */
        readonly post: operations["openSession"];
        /** Ends the session of the cookie. */
        readonly delete: operations["closeSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The repositories of the lakeFS that the server was given.
         * @description Needs the role viewer, and the default tenant, as all that is shown of repositories.
         */
        readonly get: operations["listRepositories"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The branches of a repository, by name.
         * @description Needs the role viewer.
         */
        readonly get: operations["listBranches"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/tags": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The tags of a repository, by name.
         * @description Needs the role viewer. What a publication replaced stays reachable under one.
         */
        readonly get: operations["listTags"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/commits": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The commits that a branch, a tag or a commit holds, the newest first.
         * @description Needs the role viewer.
         */
        readonly get: operations["listCommits"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/changes": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What differs between two commits, by path.
         * @description Needs the role viewer.
         */
        readonly get: operations["listChanges"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/objects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The objects of a commit below a prefix, one level deep.
         * @description Needs the role viewer.
         */
        readonly get: operations["listRepositoryObjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/object": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * A part of an object, at most 1 MiB.
         * @description Needs the role viewer. Always sent as bytes without a type, so that no browser runs what is stored.
         */
        readonly get: operations["readRepositoryObject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Workflows of the Conductor that the server was given, or of its own engine, the newest first.
         * @description Needs the role viewer. Of a Conductor only callers of the default tenant see any; of the engine each sees those of its own. Ended ones are listed too. A page may have fewer than `limit` although there are more: what the server looks at for one page is bounded.
         */
        readonly get: operations["listWorkflows"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * A workflow with its tasks, and the graph of its definition.
         * @description Needs the role viewer.
         */
        readonly get: operations["readWorkflow"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}/tasks/{task_id}/log": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * What a task has logged, the oldest line first.
         * @description Needs the role viewer. To follow it, ask again with the number of lines that are known as `after`.
         */
        readonly get: operations["readTaskLog"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}/pause": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Hands out no further tasks of it.
         * @description Needs the role operator. Tasks in progress go on.
         */
        readonly post: operations["pauseWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}/resume": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Goes on with a paused one.
         * @description Needs the role operator.
         */
        readonly post: operations["resumeWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}/retry": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Tries again what failed last.
         * @description Needs the role operator.
         */
        readonly post: operations["retryWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workflows/{workflow_id}/terminate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Ends a workflow, and cancels its open tasks.
         * @description Needs the role operator.
         */
        readonly post: operations["terminateWorkflow"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/pollers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Which tasks wait for a worker, and who asked for them last.
         * @description Needs the role viewer. Sees the same workflows as `/workflows`.
         */
        readonly get: operations["listPollers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/examination": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Checks lakeFS, Conductor, its queues and the branches of open workflows, as `perago doctor` does.
         * @description Needs the role viewer, and the default tenant. Changes nothing. A check that does not end in time is reported as failed.
         */
        readonly get: operations["examineServer"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/workers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The worker processes of this machine, as each last wrote of itself.
         * @description Needs the role viewer, and the default tenant. Those of the one root that the server was given. Each writes its status when something has changed, else every 10 seconds; nobody is asked, and nothing changes.
         */
        readonly get: operations["listWorkers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/store": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * The store and the archive of this server, and when data was last swept and archived.
         * @description Needs the role viewer, and the default tenant.
         */
        readonly get: operations["describeStore"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/verification": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /**
         * Proves or refutes what perago promises of the history of a branch, as `perago verify` does.
         * @description Needs the role viewer, and the default tenant. Changes nothing. Walks from the head downwards, for at most 10 seconds; `stopped` and `oldest` say how far it came. Only so many are made at a time; one more gets 503 with `Retry-After`.
         */
        readonly get: operations["verifyBranch"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/recoveries/preview": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * What became of a publication, and what may be done about it.
         * @description Needs the role viewer, and the default tenant. Changes nothing. Results that wait in the outbox of a worker's machine are not seen.
         */
        readonly post: operations["previewRecovery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/recoveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /**
         * Does what a preview has offered.
         * @description Needs the role operator, and the default tenant. Looks again first: if the digest is not that of the preview any more, nothing is done.
         */
        readonly post: operations["recover"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/healthz": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** Whether the server reaches its store, and its work goes on. */
        readonly get: operations["readHealth"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.json": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** This contract as JSON. */
        readonly get: operations["readContract"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/openapi.yaml": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** This contract as YAML. */
        readonly get: operations["readContractAsYaml"];
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
        /** @example exec_12345 */
        readonly ExecutionId: string;
        readonly PipelineName: string;
        readonly UnitName: string;
        /** @enum {string} */
        readonly Stage: "PENDING" | "SCHEDULING" | "EXECUTING" | "VERIFYING" | "COMMIT" | "ROLLBACK" | "FAILED" | "CANCELLED";
        /** @description A pipeline as pipeline.schema.json describes it. */
        readonly Pipeline: {
            readonly name: components["schemas"]["PipelineName"];
            readonly units: Record<string, never>;
        };
        /** @description Either `pipeline` or `definition`. */
        readonly Start: {
            readonly pipeline?: components["schemas"]["PipelineName"];
            /** @description Of a registered pipeline; the latest unless given. */
            readonly version?: number;
            readonly definition?: components["schemas"]["Pipeline"];
            /** @default {} */
            readonly input: Record<string, never>;
            /**
             * @description Higher ones go first.
             * @default 0
             */
            readonly priority: number;
            /** @description For your own use. */
            readonly correlation_id?: string;
        } & (unknown | unknown);
        readonly ExecutionSummary: {
            readonly execution_id: components["schemas"]["ExecutionId"];
            readonly name: string;
            readonly version: number;
            readonly status: components["schemas"]["Stage"];
            readonly paused: boolean;
            /** Format: date-time */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description The start of the present run.
             */
            readonly started_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly ExecutionPage: {
            readonly executions: readonly components["schemas"]["ExecutionSummary"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly Execution: {
            readonly execution_id: components["schemas"]["ExecutionId"];
            readonly name: string;
            readonly version: number;
            readonly status: components["schemas"]["Stage"];
            readonly paused: boolean;
            /** @description The first one with units that have not ended, or the last one. */
            readonly phase?: string;
            /** Format: date-time */
            readonly created_at: string;
            /**
             * Format: date-time
             * @description The start of the present run.
             */
            readonly started_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            /** @description One more with each retry or restart. */
            readonly run: number;
            /** @description Within the run, one more after each rollback. */
            readonly attempt: number;
            /** @description Of the execution that runs it as a unit. */
            readonly parent_execution_id?: string;
            /** @description Why it failed or was cancelled. */
            readonly reason?: string;
            readonly input?: Record<string, never>;
            /** @description Once it has ended. */
            readonly output?: Record<string, never>;
            /** @description Of the present run, the present one last. */
            readonly stages: readonly {
                readonly stage: components["schemas"]["Stage"];
                /** Format: date-time */
                readonly at: string;
            }[];
            readonly plan_units: readonly components["schemas"]["UnitState"][];
            readonly checkpoints: readonly components["schemas"]["CheckpointState"][];
            readonly metrics: {
                readonly tasks_total: number;
                readonly tasks_completed: number;
                readonly tasks_failed: number;
                readonly execution_duration_seconds: number;
            };
            /** @description What did not fit into the answer. */
            readonly left_out?: readonly string[];
        };
        readonly UnitState: {
            /** @description With `__` and its number in an iteration of a loop. */
            readonly id: string;
            /** @enum {string} */
            readonly status: "PENDING" | "EXECUTING" | "COMPLETED" | "FAILED" | "ROLLED_BACK" | "SKIPPED";
            readonly attempts: number;
            /** Format: date-time */
            readonly started_at?: string;
            /** @description Its output, once it is complete. */
            readonly result?: unknown;
            /** @description Why its latest attempt failed. */
            readonly reason?: string;
            /** @description The execution that it runs. */
            readonly child_execution_id?: string;
        };
        readonly CheckpointState: {
            readonly checkpoint_id: string;
            readonly phase_id: string;
            /** Format: date-time */
            readonly timestamp: string;
            /** @description Any JSON value. */
            readonly state_snapshot?: unknown;
        };
        /** @description What goes back: `last-good` to the newest checkpoint that can be read, `checkpoint` to the one that `checkpoint_id` names, `execution` to the beginning; `phase` and `unit` with all that depends on them; `artifact` restores the `paths` (or all) that a `unit` changed by a new commit, and nothing runs again. */
        readonly RollbackScope: {
            readonly level?: components["schemas"]["RollbackLevel"];
            readonly phase?: string;
            readonly unit?: string;
            readonly checkpoint_id?: string;
            readonly paths?: readonly string[];
        } & (unknown & unknown & unknown);
        /**
         * @default last-good
         * @enum {string}
         */
        readonly RollbackLevel: "execution" | "phase" | "unit" | "checkpoint" | "last-good" | "artifact";
        /** @description A scope, and what follows. */
        readonly Rollback: {
            readonly level?: components["schemas"]["RollbackLevel"];
            readonly phase?: string;
            readonly unit?: string;
            readonly checkpoint_id?: string;
            readonly paths?: readonly string[];
            /**
             * @default continue
             * @enum {string}
             */
            readonly then: "continue" | "pause" | "end";
            /** @description Kept with the execution. */
            readonly reason?: string;
        } & (unknown & unknown & unknown);
        readonly Abandon: {
            /** @description Shown with the execution. */
            readonly reason: string;
        };
        readonly RollbackReport: {
            /** @description Units that run again. */
            readonly undone: readonly string[];
            readonly branches: readonly {
                readonly repository: string;
                readonly branch: string;
                /**
                 * @description `there`: it stood there already; `left`: nothing of the execution is on it.
                 * @enum {string}
                 */
                readonly outcome: "moved" | "there" | "left";
                /** @description Its head before. */
                readonly superseded_ref?: string;
                /** @description Keeps what has left it. */
                readonly tag?: string;
                readonly head?: string;
            }[];
            /** @description By new commits. */
            readonly restored: readonly {
                readonly branch: string;
                readonly paths: readonly string[];
            }[];
            /** @description Newer ones that could not be used. */
            readonly damaged_checkpoints: readonly string[];
        };
        readonly RollbackPreview: {
            readonly checkpoint_id?: string;
            /** @description Units that would run again. */
            readonly undone: readonly string[];
            readonly moves: readonly {
                readonly repository: string;
                readonly branch: string;
                readonly from: string;
                readonly to: string;
            }[];
            readonly restores: readonly {
                readonly repository: string;
                readonly branch: string;
                /** @description All that the unit changed unless named. */
                readonly paths?: readonly string[];
            }[];
            /** @description Why it would be refused; empty where it can be done. */
            readonly refusals: readonly {
                readonly code: string;
                readonly message: string;
                readonly next: string;
            }[];
        };
        readonly Checkpoints: {
            readonly checkpoints: readonly components["schemas"]["CheckpointState"][];
        };
        readonly ExecutionGraph: {
            readonly status: components["schemas"]["Stage"];
            /** @description In the form of the type `Graph` of perago/engine. */
            readonly graph: Record<string, never>;
            /** @description By unit. */
            readonly states: {
                readonly [key: string]: string;
            };
        };
        readonly Schedule: {
            readonly pipeline: string;
            readonly name: string;
            readonly cron: string;
            readonly time_zone: string;
            /** @enum {string} */
            readonly catch_up: "none" | "last" | "all";
            readonly input?: Record<string, never>;
            readonly paused: boolean;
            /**
             * Format: date-time
             * @description Absent while it is paused.
             */
            readonly next_at?: string;
            /** @description The last time that came. */
            readonly last?: {
                /** Format: date-time */
                readonly at: string;
                /** @description What it started. */
                readonly execution_id?: string;
                /** @description Why it started nothing. */
                readonly problem?: string;
            };
        };
        readonly SchedulePage: {
            readonly schedules: readonly components["schemas"]["Schedule"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly Waited: {
            readonly ended: boolean;
            readonly execution: components["schemas"]["Execution"];
        };
        readonly Completion: {
            /**
             * @default COMPLETED
             * @enum {string}
             */
            readonly status: "COMPLETED" | "FAILED";
            /** @default {} */
            readonly output: Record<string, never>;
            /** @description Of a failure. */
            readonly reason?: string;
        };
        readonly RegisteredPipeline: {
            readonly name: string;
            readonly version: number;
        };
        readonly PipelinePage: {
            readonly pipelines: readonly components["schemas"]["RegisteredPipeline"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly PipelineGraph: {
            readonly name: string;
            readonly version: number;
            /** @description The units in the form of the type `Graph` of perago/engine. */
            readonly graph: Record<string, never>;
        };
        /** @description 2 to 16 segments. */
        readonly EventType: string;
        /**
         * @description 1 to 16 segments.
         * @example *.completed
         */
        readonly TypePattern: string;
        /** @description `NODE.NAME`, `pipeline.input.NAME`, `pipeline.output.NAME`, `system.NAME` or `shared.NAME`; NAME may contain dots. */
        readonly VariableName: string;
        readonly OutsideEvent: {
            readonly execution_id: components["schemas"]["ExecutionId"];
            /**
             * @description `external.` and 1 to 15 segments; `external.{source}.{event}` is recommended.
             * @example external.approval.approved
             */
            readonly event_type: string;
            /**
             * @description At most 65536 bytes of JSON, 1024 recommended. Store large data elsewhere and send its address.
             * @default {}
             */
            readonly payload: Record<string, never>;
            /** @description The outside system, if it is not the second segment of the type. */
            readonly source?: string;
        };
        readonly PublishedEvent: {
            readonly event_id: string;
            readonly execution_id: string;
            readonly event_type: string;
        };
        /** @enum {string} */
        readonly SourceType: "pipeline" | "node" | "task" | "external";
        readonly Event: {
            readonly id: string;
            readonly execution_id: string;
            readonly sequence: number;
            readonly type: string;
            readonly source: {
                readonly entity_type: components["schemas"]["SourceType"];
                readonly entity_id: string;
            };
            /** Format: date-time */
            readonly timestamp: string;
            readonly payload: Record<string, never>;
        };
        readonly SentEvent: {
            /** @description The sequence number. */
            readonly id?: string;
            /** @enum {string} */
            readonly event?: "message" | "end";
            /** @description An Event; an empty object at the end. */
            readonly data: string;
        };
        readonly EventPage: {
            readonly events: readonly components["schemas"]["Event"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: number;
        };
        readonly Variable: {
            readonly name: string;
            /** @description Any JSON value. */
            readonly value: unknown;
        };
        readonly VariableHistory: {
            readonly name: string;
            readonly writes: readonly components["schemas"]["VariableWrite"][];
            /** @description Earlier writes may have been left out. */
            readonly may_lack: boolean;
        };
        readonly VariableWrite: {
            /**
             * @description `unknown`: the present value, of whose write nothing is known.
             * @enum {string}
             */
            readonly kind: "set" | "removed" | "unknown";
            /** @description Any JSON value; absent where `bytes` is there and after a removal. */
            readonly value?: unknown;
            /**
             * @description Parts of the value are replaced.
             * @enum {boolean}
             */
            readonly withheld?: true;
            /** @description The size of a value that is too large for the history. */
            readonly bytes?: number;
            /**
             * Format: date-time
             * @description By the clock of the writer.
             */
            readonly at?: string;
            /** @description Of the variable after this write; a later write has a higher one. */
            readonly revision?: number;
            readonly by: components["schemas"]["VariableWriter"];
        };
        /** @description What is known of the writer; nothing where it was the engine itself or a program. */
        readonly VariableWriter: {
            readonly unit?: string;
            readonly attempt?: number;
            readonly task_id?: string;
            readonly worker_id?: string;
            /** @description The type of the event that was recorded with it. */
            readonly event?: string;
        };
        readonly SharedPage: {
            readonly values: readonly components["schemas"]["SharedValue"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly SharedValue: {
            /** @example shared.rows */
            readonly name: string;
            /** @description Any JSON value; absent where it has none. */
            readonly value?: unknown;
            /** @description Its last write, as far as it is known. */
            readonly written?: {
                /**
                 * Format: date-time
                 * @description By the clock of the writer.
                 */
                readonly at?: string;
                readonly by: components["schemas"]["VariableWriter"];
            };
            /** @description Units of the graph, in its order. */
            readonly set_by: readonly string[];
            /** @description Units of the graph, in its order. */
            readonly used_by: readonly string[];
            /** @description The output or the final check of the pipeline uses it. */
            readonly used_at_end: boolean;
        };
        readonly VariablePage: {
            readonly variables: readonly components["schemas"]["Variable"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly WebhookRetry: {
            /**
             * @description Tries in all.
             * @default 8
             */
            readonly attempts: number;
            /**
             * @description The wait before the second try; it doubles with each try, up to an hour.
             * @default 5000
             */
            readonly first_delay_ms: number;
        };
        readonly NewWebhook: {
            /**
             * Format: uri
             * @description The address that events are posted to; http or https, without credentials.
             */
            readonly url: string;
            /** @description `*` is exactly one segment, `**` any number. */
            readonly types: readonly components["schemas"]["TypePattern"][];
            readonly retry?: components["schemas"]["WebhookRetry"];
        };
        readonly Webhook: {
            readonly id: string;
            readonly url: string;
            readonly types: readonly string[];
            readonly retry: {
                readonly attempts: number;
                readonly first_delay_ms: number;
            };
            /** Format: date-time */
            readonly created_at: string;
            /** @description While deliveries to it are dead at once, because too many wait. */
            readonly overflow?: {
                /** Format: date-time */
                readonly since: string;
                readonly problem: string;
            };
        };
        readonly AddedWebhook: {
            readonly id: string;
            readonly url: string;
            readonly types: readonly string[];
            readonly retry: {
                readonly attempts: number;
                readonly first_delay_ms: number;
            };
            /** Format: date-time */
            readonly created_at: string;
            /** @description Signs the deliveries, as Standard Webhooks says. It is shown only once. */
            readonly secret: string;
        };
        readonly Webhooks: {
            readonly webhooks: readonly components["schemas"]["Webhook"][];
        };
        readonly DeadDelivery: {
            readonly id: string;
            readonly execution_id: string;
            readonly event_type: string;
            /** @description None where too many deliveries waited already. */
            readonly attempts: number;
            readonly last_problem: string;
            /** Format: date-time */
            readonly gave_up_at: string;
        };
        readonly DeadDeliveries: {
            readonly deliveries: readonly components["schemas"]["DeadDelivery"][];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: string;
        };
        readonly Redelivered: {
            readonly redelivered: number;
            /** @description Whether there are more dead deliveries; with none redelivered, too many wait. */
            readonly more: boolean;
        };
        readonly Health: {
            readonly ok: boolean;
            readonly problems: readonly string[];
        };
        readonly Failure: {
            readonly error: {
                /** @enum {string} */
                readonly kind: "invalid" | "missing" | "refused" | "unavailable" | "uncertain" | "defect";
                readonly code: string;
                readonly message: string;
                /** @description What to do about it. */
                readonly next?: string;
                /** @description What to read to learn whether a lost request took effect. */
                readonly read?: string;
                readonly retryAfterMs?: number;
                readonly details?: Record<string, never>;
            };
        };
        /** @description Either `token`, or `address_key`, or `access_key_id` with `secret_access_key`. */
        readonly SessionRequest: {
            readonly token?: string;
            /** @description What follows `#key=` in the address that the server printed at its start. */
            readonly address_key?: string;
            readonly access_key_id?: string;
            readonly secret_access_key?: string;
        };
        readonly Session: {
            /** @description The id of a token */
            readonly name: string;
            /** @enum {string} */
            readonly role: "viewer" | "operator" | "admin";
            /** @description Absent for the default one. */
            readonly tenant?: string;
            /** @description Which parts of this contract this server answers for this caller. */
            readonly shows: readonly ("repositories" | "workflows" | "examination" | "recoveries" | "workers" | "store" | "executions")[];
            /**
             * Format: date-time
             * @description Absent without a cookie.
             */
            readonly ends_at?: string;
        };
        readonly RefName: string;
        readonly Repository: {
            readonly name: string;
            readonly default_branch: string;
            /** Format: date-time */
            readonly created_at: string;
            readonly read_only: boolean;
        };
        readonly Repositories: {
            readonly repositories: readonly components["schemas"]["Repository"][];
            readonly next_after?: string;
        };
        readonly NamedRef: {
            readonly name: string;
            readonly commit: string;
        };
        readonly Branches: {
            readonly branches: readonly components["schemas"]["NamedRef"][];
            readonly next_after?: string;
        };
        readonly Tags: {
            readonly tags: readonly components["schemas"]["NamedRef"][];
            readonly next_after?: string;
        };
        readonly RepositoryCommit: {
            readonly id: string;
            readonly parents: readonly string[];
            readonly message: string;
            readonly committer: string;
            /** Format: date-time */
            readonly created_at: string;
            readonly metadata: {
                readonly [key: string]: string;
            };
        };
        readonly Commits: {
            readonly commits: readonly components["schemas"]["RepositoryCommit"][];
            readonly next_after?: string;
        };
        readonly PathChange: {
            readonly path: string;
            /** @enum {string} */
            readonly change: "added" | "removed" | "changed" | "conflict";
            readonly size?: number;
        };
        readonly Changes: {
            readonly changes: readonly components["schemas"]["PathChange"][];
            readonly next_after?: string;
        };
        readonly RepositoryEntry: {
            /** @enum {string} */
            readonly kind: "object" | "prefix";
            readonly path: string;
            readonly size?: number;
            /** Format: date-time */
            readonly modified_at?: string;
            readonly checksum?: string;
        };
        readonly RepositoryObjects: {
            readonly entries: readonly components["schemas"]["RepositoryEntry"][];
            readonly next_after?: string;
        };
        /** @enum {string} */
        readonly WorkflowStatus: "RUNNING" | "PAUSED" | "COMPLETED" | "FAILED" | "TIMED_OUT" | "TERMINATED";
        readonly Workflow: {
            readonly id: string;
            readonly name: string;
            readonly version?: number;
            readonly status: components["schemas"]["WorkflowStatus"];
            /**
             * Format: date-time
             * @description Absent where the server does not say.
             */
            readonly started_at?: string;
            /** Format: date-time */
            readonly ended_at?: string;
            readonly correlation_id?: string;
            /** @description Why it did not complete. */
            readonly reason?: string;
            /** @description The first that its input names. */
            readonly repository?: string;
            readonly branch?: string;
        };
        readonly Workflows: {
            readonly workflows: readonly components["schemas"]["Workflow"][];
            readonly next_after?: string;
        };
        readonly WorkflowDetails: {
            readonly id: string;
            readonly name: string;
            readonly version?: number;
            readonly status: components["schemas"]["WorkflowStatus"];
            /**
             * Format: date-time
             * @description Absent where the server does not say.
             */
            readonly started_at?: string;
            /** Format: date-time */
            readonly ended_at?: string;
            readonly correlation_id?: string;
            /** @description Why it did not complete. */
            readonly reason?: string;
            /** @description The first that its input names. */
            readonly repository?: string;
            readonly branch?: string;
            /** @description The workflow that runs it. */
            readonly parent_id?: string;
            readonly input: Record<string, never>;
            readonly output: Record<string, never>;
            /** @description Every attempt, in the order in which they were scheduled. */
            readonly tasks: readonly components["schemas"]["WorkflowTask"][];
            readonly graph: components["schemas"]["WorkflowGraph"];
        };
        /** @description Of the definition, with steps that are not scheduled yet; without cycles. Empty where it is not known. */
        readonly WorkflowGraph: {
            readonly nodes: readonly {
                readonly reference_name: string;
                /** @description Of the task definition. */
                readonly name: string;
                /** @description As Conductor calls it: SIMPLE, FORK_JOIN, SWITCH, DO_WHILE, SUB_WORKFLOW and others. */
                readonly kind: string;
                /** @description The reference name of the loop that repeats it. */
                readonly inside?: string;
            }[];
            readonly edges: readonly {
                readonly from: string;
                readonly to: string;
                /** @description The case of a SWITCH. */
                readonly label?: string;
            }[];
        };
        readonly WorkflowTask: {
            readonly id: string;
            readonly reference_name: string;
            /** @description The `reference_name` of its node in the graph; in a loop without the iteration. */
            readonly node: string;
            /** @description Of the task definition. */
            readonly name: string;
            readonly kind: string;
            /** @enum {string} */
            readonly status: "SCHEDULED" | "IN_PROGRESS" | "COMPLETED" | "COMPLETED_WITH_ERRORS" | "FAILED" | "FAILED_WITH_TERMINAL_ERROR" | "TIMED_OUT" | "CANCELED" | "SKIPPED";
            /** @description 0 for the first attempt. */
            readonly retry: number;
            /** @description 0 outside loops. */
            readonly iteration: number;
            readonly seq: number;
            /** @description A later attempt took over. */
            readonly retried: boolean;
            /** Format: date-time */
            readonly scheduled_at?: string;
            /** Format: date-time */
            readonly started_at?: string;
            /** Format: date-time */
            readonly ended_at?: string;
            readonly worker?: string;
            readonly reason?: string;
            /** @description The code of the error in `reason`, if it is one of ours. */
            readonly code?: string;
            /** @description The workflow that it runs. */
            readonly child_id?: string;
            readonly input?: Record<string, never>;
            readonly output?: Record<string, never>;
            readonly publication?: components["schemas"]["TaskPublication"];
            /** @description Of this attempt, by when they began; some hold others or run beside them. Recorded by its worker with a publication or a failure, so what comes after (delivery, clean-up) is not among them. May show late. Absent where no worker has recorded them. */
            readonly steps?: readonly {
                /** @description Such as `lay-out`, `body` or `publish/merge`. */
                readonly step: string;
                /**
                 * Format: date-time
                 * @description When it began, by the clock of the worker.
                 */
                readonly at: string;
                /** @description How long it took. */
                readonly ms: number;
            }[];
        };
        /** @description Of a task with a workspace in its input. What its worker logged of it may show late; without that line `outcome` and `strength` are absent. */
        readonly TaskPublication: {
            readonly repository: string;
            readonly branch: string;
            /** @description The commit that the task began with. */
            readonly input_ref: string;
            /** @description The commit that the branch had after it; of a completed task. */
            readonly commit?: string;
            /**
             * @description `merged`: a commit was added. `completed`: nothing changed. `replaced` and `relocated`: the branch was moved from `replaced`. `adopted`: an earlier publication of the task was taken. `refused`: a fence or lakeFS refused it.
             * @enum {string}
             */
            readonly outcome?: "merged" | "completed" | "replaced" | "relocated" | "adopted" | "refused";
            /** @enum {string} */
            readonly strength?: "soft" | "hard";
            /** @description The commit that left the branch. */
            readonly replaced?: string;
            /** @description The tag that keeps `replaced`, or the staging branch of a refused publication. */
            readonly evidence?: string;
            /** @description In the order of the publish protocol; those that were asked. */
            readonly fences: readonly {
                /** @enum {string} */
                readonly fence: "attempt" | "publish" | "hard";
                readonly passed: boolean;
                readonly why?: string;
            }[];
        };
        readonly TaskLog: {
            readonly lines: readonly {
                /**
                 * Format: date-time
                 * @description When it arrived; absent where the server does not say.
                 */
                readonly at?: string;
                readonly text: string;
            }[];
            /** @description Use it as `after` for the next page; absent on the last page. */
            readonly next_after?: number;
        };
        readonly Termination: {
            readonly reason?: string;
        };
        readonly Pollers: {
            readonly pollers: readonly {
                readonly task_type: string;
                readonly domain?: string;
                /** @description Tasks in the queue, delayed ones among them. */
                readonly waiting: number;
                /** @description Tasks wait, and nobody asked for them lately. */
                readonly nobody_polls: boolean;
                /** @description The last one of each domain. */
                readonly polls: readonly {
                    readonly worker?: string;
                    readonly domain?: string;
                    /** Format: date-time */
                    readonly last_polled_at: string;
                }[];
            }[];
            /** @description False when there are more than were looked at. */
            readonly whole: boolean;
        };
        readonly ServerExamination: {
            /** Format: date-time */
            readonly examined_at: string;
            readonly checks: readonly {
                /** @description What was looked at, such as `lakeFS` or `branch lake/main`. */
                readonly name: string;
                /** @enum {string} */
                readonly state: "ok" | "warn" | "fail";
                readonly text: string;
                /** @description What to do about it. */
                readonly next?: string;
            }[];
        };
        readonly Workers: {
            /** Format: date-time */
            readonly as_of: string;
            readonly workers: readonly components["schemas"]["Worker"][];
            /** @description False when there are more. */
            readonly whole: boolean;
        };
        readonly Worker: {
            /** @description Its number among those of the root. */
            readonly index: number;
            readonly pid: number;
            /** @description The beginning of the worker ids that the queue sees. */
            readonly worker_id: string;
            /**
             * @description `silent`: it has written nothing for 30 seconds. `gone`: its process has ended. Of both the rest is what was known last.
             * @enum {string}
             */
            readonly state: "running" | "stopping" | "stopped" | "silent" | "gone";
            /** Format: date-time */
            readonly started_at: string;
            /**
             * Format: date-time
             * @description When all of this was so.
             */
            readonly written_at: string;
            readonly slots: {
                readonly limit: number;
                readonly taken: number;
            };
            /** @description One for each task type; of very many some. */
            readonly polls: readonly {
                readonly task_type: string;
                /**
                 * Format: date-time
                 * @description The last poll that succeeded; absent before.
                 */
                readonly succeeded_at?: string;
                /** @description How many of it may run there at the same time. */
                readonly slots: number;
                /** @description Not polled because of an outage. */
                readonly held: boolean;
            }[];
            /** @description Those that run; of very many some. */
            readonly attempts: readonly {
                readonly task_id: string;
                readonly workflow_id: string;
                readonly task_type: string;
                /** @description From 0. */
                readonly attempt: number;
                /** @description The last one that it has done, such as `claimed` or `lay-out`. */
                readonly step: string;
                /** Format: date-time */
                readonly started_at: string;
                /**
                 * Format: date-time
                 * @description When the queue last confirmed the lease.
                 */
                readonly renewed_at: string;
                /** @description How long a lease lasts without a renewal. */
                readonly lease_ms: number;
            }[];
            /** @description Where the files of workspaces came from since it started. */
            readonly files: {
                readonly cached: number;
                readonly cached_bytes: number;
                readonly fetched: number;
                readonly fetched_bytes: number;
                /** @description Directories taken over from the task before. */
                readonly warm_directories: number;
            };
            /** @description What keeps it from its work at that moment. */
            readonly outages: readonly {
                /** @description `lakefs`, `object-store` or `node`. */
                readonly what: string;
                readonly why: string;
                /** Format: date-time */
                readonly since: string;
            }[];
            /** @description The last attempts that did not succeed, the newest first. */
            readonly ended: readonly {
                /** Format: date-time */
                readonly at: string;
                readonly task_id: string;
                readonly workflow_id: string;
                readonly task_type: string;
                readonly attempt: number;
                /**
                 * @description `superseded`: the task was decided without this result. `refused`: the queue did not take the result.
                 * @enum {string}
                 */
                readonly outcome: "failed" | "handed-back" | "superseded" | "refused";
                readonly code?: string;
                readonly why: string;
            }[];
            /**
             * Format: date-time
             * @description When the oldest result was written that the queue has not taken yet.
             */
            readonly oldest_result_at?: string;
        };
        readonly StoreReport: {
            readonly store: components["schemas"]["StorePlace"];
            readonly archive?: components["schemas"]["StorePlace"];
            readonly swept?: components["schemas"]["MaintenancePass"];
            readonly archived?: components["schemas"]["MaintenancePass"];
        };
        readonly StorePlace: {
            /** @description Such as `sqlite`, `postgres` or `memory`. */
            readonly kind: string;
            /** @description Absent where it is not cheap to know. */
            readonly bytes?: number;
        };
        /** @description The last pass of this server; absent before, and where another server does it. */
        readonly MaintenancePass: {
            /**
             * Format: date-time
             * @description When it ended.
             */
            readonly at: string;
            /** @description Executions that were swept or archived. */
            readonly done: number;
            /** @description The next pass tries them again. */
            readonly failed: number;
        };
        /** @enum {string} */
        readonly RecoveryAction: "resend" | "finish-claim" | "relocate" | "replace" | "quarantine" | "restart" | "adopt";
        /** @description Exactly one of both. */
        readonly RecoveryTarget: {
            readonly branch?: string;
            readonly workflow_id?: string;
        };
        readonly RecoveryRequest: {
            readonly branch?: string;
            readonly workflow_id?: string;
            /** @description Of the preview that was shown. */
            readonly digest: string;
            readonly action: components["schemas"]["RecoveryAction"];
            readonly reason?: string;
            /** @description Any JSON; for `adopt`. */
            readonly result?: unknown;
        };
        readonly RecoveryPreview: {
            readonly digest: string;
            readonly branches: readonly components["schemas"]["ExaminedBranch"][];
        };
        readonly ExaminedBranch: {
            readonly branch: string;
            /** @description One of those in docs/guides/recovery. */
            readonly situation: string;
            /** @description The situation in one sentence. */
            readonly says: string;
            /** @description Nobody has to do anything. */
            readonly is_normal: boolean;
            readonly task?: {
                readonly workflow_id: string;
                readonly task_id: string;
                readonly reference_name: string;
                readonly status: string;
                readonly attempt: number;
            };
            readonly input_ref?: string;
            readonly head?: string;
            readonly head_message?: string;
            readonly output_ref?: string;
            /** @description What was kept of a refused publication. */
            readonly staged?: {
                readonly branch: string;
                readonly ref?: string;
                readonly code: string;
                readonly why: string;
            };
            /** @description Open ones that may write the branch as well: while there are any, it is not moved. */
            readonly other_workflows: readonly string[];
            readonly offered: readonly {
                readonly action: components["schemas"]["RecoveryAction"];
                readonly says: string;
                readonly is_default: boolean;
                readonly needs_reason: boolean;
                /** @description The result of the task may be given; it must where the publication has none. */
                readonly takes_result: boolean;
                readonly steps: readonly {
                    readonly do: string;
                    /** @description Where a branch is moved. */
                    readonly to?: string;
                }[];
            }[];
        };
        readonly Verification: {
            /** @description Nothing is refuted among the commits that were walked. */
            readonly holds: boolean;
            readonly checks: readonly {
                readonly check: components["schemas"]["VerifiedCheck"];
                /** @description What perago promises. */
                readonly says: string;
                /** @description How often it does not hold. */
                readonly refuted: number;
                /** @description What to do where it does not. */
                readonly next: string;
            }[];
            /** @description The newest of them. */
            readonly findings: readonly {
                readonly check: components["schemas"]["VerifiedCheck"];
                readonly commit: string;
                readonly why: string;
            }[];
            readonly findings_count: number;
            /** @description How many were judged. */
            readonly commits: number;
            /**
             * @description Where the walk ended: at the first commit of the branch, at that of `since`, after `limit` commits, or when its time was over.
             * @enum {string}
             */
            readonly stopped: "beginning" | "since" | "limit" | "time";
            /** @description The oldest commit that was judged; absent without one. */
            readonly oldest?: string;
            /** @description Whether it came to the first commit. */
            readonly is_whole: boolean;
            /** @description Outputs of tasks that were not judged: they may lie below the end of the walk. */
            readonly open_outputs: number;
            /** @description Those that Conductor does not know: whether outputs of theirs are lost is not judged. Some of them. */
            readonly unknown_workflows: readonly string[];
            /** @description Who published without a hard fence. This refutes nothing. */
            readonly without_fence: readonly {
                /** @enum {string} */
                readonly kind: "task" | "actor" | "python";
                readonly name: string;
                readonly commits: number;
                /** @description Its newest commit. */
                readonly newest: string;
                readonly worker?: string;
            }[];
            /** @description Commits that no worker has made, the newest of them. This refutes nothing. */
            readonly foreign: readonly string[];
            readonly foreign_count: number;
        };
        /** @enum {string} */
        readonly VerifiedCheck: "one-commit-per-task" | "expected-parent" | "fence-held" | "no-claim-left" | "nothing-lost";
        readonly Recovery: {
            readonly branches: readonly {
                readonly branch: string;
                readonly action?: components["schemas"]["RecoveryAction"];
                readonly done: readonly {
                    readonly step: string;
                    /** @description That keeps what left the branch. */
                    readonly tag?: string;
                    readonly evidence_branch?: string;
                    readonly moved_to?: string;
                    readonly workflow_id?: string;
                    readonly task_id?: string;
                }[];
            }[];
        };
    };
    responses: {
        /** @description The state of the execution does not allow this, or the idempotency key was used for something else. */
        readonly NotNow: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description It is no longer as it was shown (`runtime/recovery-changed`), or an attempt has the task again. Nothing was done. */
        readonly RecoveryChanged: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The state of the workflow does not allow this. */
        readonly WorkflowNotNow: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The request is wrong. */
        readonly Invalid: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description There is no token, or it is not valid. */
        readonly NoToken: {
            headers: {
                readonly "WWW-Authenticate": string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The role does not allow this; or no page of this server sent a request with the cookie of a session. */
        readonly Forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description It does not exist for this token. */
        readonly Missing: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The request did not arrive in time. */
        readonly TooSlow: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The headers of the request are too large. */
        readonly HeadTooLarge: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The body or its payload is too large. */
        readonly TooLarge: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description The content type is not JSON. */
        readonly NotJson: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Too many requests, connections or followers of this caller. */
        readonly TooMany: {
            headers: {
                readonly "Retry-After": string;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Internal error. */
        readonly Defect: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Not done; trying again is safe. */
        readonly Unavailable: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
        /** @description Possibly done: a response of the store was lost. Read the state, or send the request again with the same idempotency key. */
        readonly Uncertain: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Failure"];
            };
        };
    };
    parameters: {
        readonly ExecutionId: components["schemas"]["ExecutionId"];
        readonly WebhookId: string;
        /** @description A key that the client chooses for the request, such as a UUID. */
        readonly IdempotencyKey: string;
        /** @description Only these types; repeatable. `*` is exactly one segment, `**` any number. */
        readonly TypePatterns: readonly components["schemas"]["TypePattern"][];
        /** @description Only events after this sequence number, in the given order. */
        readonly After: number;
        /** @description `next_after` of the page before. */
        readonly Cursor: string;
        readonly WorkflowId: string;
        readonly Repository: string;
        readonly Branch: string;
        readonly NamePrefix: string;
        /** @description `next_after` of the page before. */
        readonly NameAfter: string;
        readonly PageLimit: number;
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly publishEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A key that the client chooses for the request, such as a UUID. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "execution_id": "exec_12345",
                 *       "event_type": "external.approval.approved",
                 *       "payload": {
                 *         "approver": "ada",
                 *         "decision": "approved"
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["OutsideEvent"];
            };
        };
        readonly responses: {
            /** @description The event is stored, and every read returns it. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PublishedEvent"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            /** @description The execution has ended (`core/not-active`), or the idempotency key was used for another event (`core/idempotency-conflict`). */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Failure"];
                };
            };
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly listExecutions: {
        readonly parameters: {
            readonly query?: {
                /** @description Only executions in one of these stages; repeatable. */
                readonly status?: readonly components["schemas"]["Stage"][];
                /** @description Only executions of this pipeline. */
                readonly name?: string;
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["Cursor"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionPage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly startExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A key that the client chooses for the request, such as a UUID. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
                /** @description Ignored where it is malformed. */
                readonly traceparent?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "pipeline": "orders.daily",
                 *       "input": {
                 *         "day": "2026-01-16"
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["Start"];
            };
        };
        readonly responses: {
            /** @description It was started before with the same key. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            /** @description It is stored, and runs from now on. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly readExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The execution. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Execution"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly waitForExecution: {
        readonly parameters: {
            readonly query?: {
                readonly timeout_ms?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The execution, and whether it has ended. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Waited"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly pauseExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly resumeExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly cancelExecution: {
        readonly parameters: {
            readonly query?: {
                /** @description Shown with the execution. */
                readonly reason?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly retryExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly completeUnit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
                /** @description The name of the unit; in an iteration of a loop with `__` and its number. */
                readonly unit: components["schemas"]["UnitName"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "status": "COMPLETED",
                 *       "output": {
                 *         "approver": "ada"
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["Completion"];
            };
        };
        readonly responses: {
            /** @description The unit has ended. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly rollBackExecution: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A key that the client chooses for the request, such as a UUID. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "level": "phase",
                 *       "phase": "load",
                 *       "then": "pause"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Rollback"];
            };
        };
        readonly responses: {
            /** @description It is done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RollbackReport"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly previewRollback: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "level": "phase",
                 *       "phase": "load"
                 *     }
                 */
                readonly "application/json": components["schemas"]["RollbackScope"];
            };
        };
        readonly responses: {
            /** @description What it would do. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RollbackPreview"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["NotNow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly abandonRollback: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "reason": "settled by hand"
                 *     }
                 */
                readonly "application/json": components["schemas"]["Abandon"];
            };
        };
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionSummary"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly listCheckpoints: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The checkpoints. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Checkpoints"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly readExecutionGraph: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The graph. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ExecutionGraph"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listPipelines: {
        readonly parameters: {
            readonly query?: {
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["Cursor"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PipelinePage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly registerPipeline: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "name": "orders.daily",
                 *       "units": {
                 *         "ingest": {
                 *           "task": "orders.ingest"
                 *         }
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["Pipeline"];
            };
        };
        readonly responses: {
            /** @description It is registered. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RegisteredPipeline"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly readPipeline: {
        readonly parameters: {
            readonly query?: {
                /** @description The latest unless given. */
                readonly version?: number;
            };
            readonly header?: never;
            readonly path: {
                /** @example orders.daily */
                readonly name: components["schemas"]["PipelineName"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The pipeline. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PipelineGraph"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listSchedules: {
        readonly parameters: {
            readonly query?: {
                /** @description Only those of this pipeline. */
                readonly pipeline?: string;
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["Cursor"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, by pipeline and name. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SchedulePage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly pauseSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @example orders.daily */
                readonly name: components["schemas"]["PipelineName"];
                /** @example nightly */
                readonly schedule: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Schedule"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly resumeSchedule: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                /** @example orders.daily */
                readonly name: components["schemas"]["PipelineName"];
                /** @example nightly */
                readonly schedule: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Schedule"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly queryEvents: {
        readonly parameters: {
            readonly query?: {
                /** @description Only these types; repeatable. `*` is exactly one segment, `**` any number. */
                readonly type?: components["parameters"]["TypePatterns"];
                readonly source_type?: components["schemas"]["SourceType"];
                readonly source_id?: string;
                /** @description Only events at or after this time. */
                readonly from?: string;
                /** @description Only events before this time. */
                readonly to?: string;
                readonly order?: "ascending" | "descending";
                /** @description Only events after this sequence number, in the given order. */
                readonly after?: components["parameters"]["After"];
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. It is the last one if it has no `next_after`, however many events it has. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EventPage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly getEvent: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
                /** @example external.approval.approved */
                readonly event_type: components["schemas"]["EventType"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The event. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Event"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly followExecution: {
        readonly parameters: {
            readonly query?: {
                /** @description Only these types; repeatable. `*` is exactly one segment, `**` any number. */
                readonly type?: components["parameters"]["TypePatterns"];
                /** @description Only events after this sequence number, in the given order. */
                readonly after?: components["parameters"]["After"];
            };
            readonly header?: {
                /** @description Like `after`, which it overrides. */
                readonly "Last-Event-ID"?: string;
            };
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The stream; the schema describes each of its events. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/event-stream": components["schemas"]["SentEvent"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listVariables: {
        readonly parameters: {
            readonly query?: {
                /** @description Only names with this prefix. */
                readonly prefix?: string;
                /** @description Only names behind this one; use `next_after` of the page before. */
                readonly after?: components["schemas"]["VariableName"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VariablePage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly getVariable: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
                /** @example pipeline.input.day */
                readonly name: components["schemas"]["VariableName"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The variable. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Variable"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly getVariableHistory: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
                /** @example pipeline.input.day */
                readonly name: components["schemas"]["VariableName"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Its history. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["VariableHistory"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listSharedValues: {
        readonly parameters: {
            readonly query?: {
                /** @description Only names behind this one; use `next_after` of the page before. */
                readonly after?: components["schemas"]["VariableName"];
                /** @description The most values of the page. */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly execution_id: components["parameters"]["ExecutionId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SharedPage"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listWebhooks: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhooks, without their secrets. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhooks"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly addWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A key that the client chooses for the request, such as a UUID. */
                readonly "Idempotency-Key"?: components["parameters"]["IdempotencyKey"];
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                /**
                 * @example {
                 *       "url": "https://example.com/hook",
                 *       "types": [
                 *         "pipeline.completed",
                 *         "*.failed"
                 *       ],
                 *       "retry": {
                 *         "attempts": 8,
                 *         "first_delay_ms": 5000
                 *       }
                 *     }
                 */
                readonly "application/json": components["schemas"]["NewWebhook"];
            };
        };
        readonly responses: {
            /** @description It was added before with the same key. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description It was added, and gets every matching event from now on. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AddedWebhook"];
                };
            };
            /** @description The request is wrong, or the address is private and the server does not allow that (`server/private-address`). */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Failure"];
                };
            };
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 408: components["responses"]["TooSlow"];
            /** @description The tenant has the maximum number of webhooks (`api/too-many-webhooks`), or the idempotency key was used for another webhook (`api/idempotency-conflict`). */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Failure"];
                };
            };
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly showWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly webhook_id: components["parameters"]["WebhookId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook, without its secret. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Webhook"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly removeWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly webhook_id: components["parameters"]["WebhookId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The webhook was removed. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly listDeadDeliveries: {
        readonly parameters: {
            readonly query?: {
                /** @description Only deliveries after this id; use `next_after` of the previous page. */
                readonly after?: string;
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly webhook_id: components["parameters"]["WebhookId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeadDeliveries"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly redeliver: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly webhook_id: components["parameters"]["WebhookId"];
                readonly delivery_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The delivery is pending. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly redeliverAll: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly webhook_id: components["parameters"]["WebhookId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The deliveries are pending. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Redelivered"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly readSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The session. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly openSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SessionRequest"];
            };
        };
        readonly responses: {
            /** @description The session is open. */
            readonly 200: {
                headers: {
                    readonly "Set-Cookie": string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Session"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly closeSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It is ended. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listRepositories: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["NamePrefix"];
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["NameAfter"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Repositories"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listBranches: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["NamePrefix"];
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["NameAfter"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Branches"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listTags: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["NamePrefix"];
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["NameAfter"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Tags"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listCommits: {
        readonly parameters: {
            readonly query: {
                /** @description A branch, a tag or a commit. */
                readonly from: components["schemas"]["RefName"];
                /** @description `next_after` of the page before. */
                readonly after?: string;
                /** @description Only the line of the branch itself. */
                readonly first_parent?: boolean;
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Commits"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listChanges: {
        readonly parameters: {
            readonly query: {
                readonly from: components["schemas"]["RefName"];
                readonly to: components["schemas"]["RefName"];
                readonly prefix?: string;
                /** @description Only paths after this one. */
                readonly after?: string;
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Changes"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listRepositoryObjects: {
        readonly parameters: {
            readonly query: {
                /** @description A branch, a tag or a commit. */
                readonly at: components["schemas"]["RefName"];
                readonly prefix?: string;
                /** @description Only paths after this one. */
                readonly after?: string;
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RepositoryObjects"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly readRepositoryObject: {
        readonly parameters: {
            readonly query: {
                /** @description A branch, a tag or a commit. */
                readonly at: components["schemas"]["RefName"];
                readonly path: string;
                /** @description The first byte. */
                readonly start?: number;
                readonly length?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The bytes. */
            readonly 200: {
                headers: {
                    readonly "Perago-Object-Size": string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listWorkflows: {
        readonly parameters: {
            readonly query?: {
                /** @description Only those with one of these; repeatable. */
                readonly status?: readonly components["schemas"]["WorkflowStatus"][];
                /** @description Only those whose name, id or correlation id contains this text, in upper or lower case. */
                readonly search?: string;
                /** @description `next_after` of the page before. */
                readonly after?: components["parameters"]["Cursor"];
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflows"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly readWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The workflow. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WorkflowDetails"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly readTaskLog: {
        readonly parameters: {
            readonly query?: {
                /** @description Only what follows so many lines. */
                readonly after?: number;
                readonly limit?: components["parameters"]["PageLimit"];
            };
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
                readonly task_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TaskLog"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly pauseWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The workflow, as it is then. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflow"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["WorkflowNotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly resumeWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The workflow, as it is then. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflow"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["WorkflowNotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly retryWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The workflow, as it is then. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflow"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["WorkflowNotNow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly terminateWorkflow: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly workflow_id: components["parameters"]["WorkflowId"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["Termination"];
            };
        };
        readonly responses: {
            /** @description The workflow, as it is then. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workflow"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["WorkflowNotNow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly listPollers: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One for each task type and domain. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Pollers"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly examineServer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What was found. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ServerExamination"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly listWorkers: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description In the order of their numbers. Also those that have ended without a farewell, told as such. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Workers"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly describeStore: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What is known without reading it all. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StoreReport"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly verifyBranch: {
        readonly parameters: {
            readonly query?: {
                /** @description Only the commits above this commit, branch or tag. */
                readonly since?: components["schemas"]["RefName"];
                /** @description Only the newest so many commits. */
                readonly limit?: number;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What was checked, and what is refuted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Verification"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly previewRecovery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RecoveryTarget"];
            };
        };
        readonly responses: {
            /** @description One for each branch of the target in this repository. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RecoveryPreview"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly recover: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RecoveryRequest"];
            };
        };
        readonly responses: {
            /** @description What was done. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Recovery"];
                };
            };
            readonly 400: components["responses"]["Invalid"];
            readonly 401: components["responses"]["NoToken"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["Missing"];
            readonly 408: components["responses"]["TooSlow"];
            readonly 409: components["responses"]["RecoveryChanged"];
            readonly 413: components["responses"]["TooLarge"];
            readonly 415: components["responses"]["NotJson"];
            readonly 429: components["responses"]["TooMany"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 500: components["responses"]["Defect"];
            readonly 503: components["responses"]["Unavailable"];
            readonly 504: components["responses"]["Uncertain"];
        };
    };
    readonly readHealth: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description It reaches its store, and its work goes on. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
            readonly 408: components["responses"]["TooSlow"];
            readonly 431: components["responses"]["HeadTooLarge"];
            /** @description It does not reach its store, some of its work stands still (`problems` says which), or it is closing. */
            readonly 503: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Health"];
                };
            };
        };
    };
    readonly readContract: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI document. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": Record<string, never>;
                };
            };
            readonly 408: components["responses"]["TooSlow"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
    readonly readContractAsYaml: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description An OpenAPI document. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/yaml": Record<string, never>;
                };
            };
            readonly 408: components["responses"]["TooSlow"];
            readonly 431: components["responses"]["HeadTooLarge"];
            readonly 503: components["responses"]["Unavailable"];
        };
    };
}
