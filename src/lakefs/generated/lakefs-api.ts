// Generated from openapi/lakefs.yaml by scripts/generate.mjs. Never edited by hand.

export interface paths {
    "/config": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the server can do, and its version. */
        get: operations["getConfig"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/config/version": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The version alone, for servers whose configuration does not name it. */
        get: operations["getLakeFSVersion"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get: operations["listRepositories"];
        put?: never;
        post: operations["createRepository"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        get: operations["getRepository"];
        put?: never;
        post?: never;
        delete: operations["deleteRepository"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/settings/branch_protection": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        get: operations["getBranchProtectionRules"];
        put: operations["setBranchProtectionRules"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        get: operations["listBranches"];
        put?: never;
        post: operations["createBranch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get: operations["getBranch"];
        put?: never;
        post?: never;
        delete: operations["deleteBranch"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/hard_reset": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get?: never;
        /** Moves a branch without any condition. Uncommitted objects survive on the new head. */
        put: operations["hardResetBranch"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/diff": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        /** What is uncommitted. */
        get: operations["diffBranch"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/commits": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["commit"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/tags": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createTag"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/tags/{tag}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                tag: string;
            };
            cookie?: never;
        };
        get: operations["getTag"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/commits": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Writes a commit that names its own id, with any number of parents. No branch moves. */
        post: operations["createCommitRecord"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/commits/{commitId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                /** @description A commit id; any other ref is resolved too. */
                commitId: string;
            };
            cookie?: never;
        };
        get: operations["getCommit"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{ref}/commits": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        get: operations["logCommits"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                leftRef: string;
                rightRef: string;
            };
            cookie?: never;
        };
        get: operations["diffRefs"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                /** @description Always a commit id here, because a branch could move. */
                sourceRef: string;
                destinationBranch: string;
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["mergeIntoBranch"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{ref}/objects/ls": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        get: operations["listObjects"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{ref}/objects/stat": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        get: operations["statObject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/refs/{ref}/objects": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        get: operations["getObject"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/objects": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["uploadObject"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/objects/delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["deleteObjects"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/staging/backing": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        /** An address to put bytes at, without going through lakeFS. Not a word about the branch is checked. */
        get: operations["getPhysicalAddress"];
        /** Gives the bytes at that address a path on the branch. */
        put: operations["linkPhysicalAddress"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/staging/pmpu": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        get?: never;
        put?: never;
        post: operations["createPresignMultipartUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
                uploadId: string;
            };
            cookie?: never;
        };
        get?: never;
        put: operations["completePresignMultipartUpload"];
        post?: never;
        delete: operations["abortPresignMultipartUpload"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Refusal: {
            message: string;
        };
        Pagination: {
            has_more: boolean;
            /** @description To be passed as `after`; empty at the end. */
            next_offset: string;
        };
        Config: {
            version_config?: components["schemas"]["Version"];
            storage_config: {
                blockstore_type: string;
                default_namespace_prefix?: string;
                pre_sign_support: boolean;
                pre_sign_multipart_upload?: boolean;
                import_support?: boolean;
            };
        };
        Version: {
            version?: string;
        };
        Repository: {
            id: string;
            /** @description Unix seconds. */
            creation_date: number;
            default_branch: string;
            storage_namespace: string;
            read_only?: boolean;
        };
        RepositoryCreation: {
            name: string;
            storage_namespace: string;
            default_branch?: string;
        };
        RepositoryPage: {
            pagination: components["schemas"]["Pagination"];
            results: components["schemas"]["Repository"][];
        };
        BranchProtectionRule: {
            pattern: string;
        };
        Branch: {
            id: string;
            commit_id: string;
        };
        BranchCreation: {
            name: string;
            source: string;
            hidden?: boolean;
        };
        BranchPage: {
            pagination: components["schemas"]["Pagination"];
            results: components["schemas"]["Branch"][];
        };
        TagCreation: {
            id: string;
            ref: string;
        };
        Commit: {
            id: string;
            parents: string[];
            committer: string;
            message: string;
            /** @description Unix seconds. */
            creation_date: number;
            /** @description Names the tree; empty for a repository's first commit. */
            meta_range_id: string;
            metadata?: components["schemas"]["Metadata"];
            generation?: number;
        };
        CommitCreation: {
            message: string;
            metadata?: components["schemas"]["Metadata"];
            allow_empty?: boolean;
        };
        /** @description The metadata must be there, if only empty; without it the server drops the connection. */
        CommitRecordCreation: {
            commit_id: string;
            /** @enum {integer} */
            version: 1;
            committer: string;
            message: string;
            metarange_id: string;
            creation_date: number;
            parents: string[];
            generation: number;
            metadata: components["schemas"]["Metadata"];
        };
        CommitPage: {
            pagination: components["schemas"]["Pagination"];
            results: components["schemas"]["Commit"][];
        };
        Metadata: {
            [key: string]: string;
        };
        Merge: {
            message?: string;
            metadata?: components["schemas"]["Metadata"];
            /** @enum {string} */
            strategy?: "source-wins" | "dest-wins";
            squash_merge?: boolean;
            allow_empty?: boolean;
        };
        MergeResult: {
            reference: string;
        };
        Diff: {
            path: string;
            /** @enum {string} */
            path_type: "object" | "common_prefix";
            /** @enum {string} */
            type: "added" | "removed" | "changed" | "conflict" | "prefix_changed";
            size_bytes?: number;
        };
        DiffPage: {
            pagination: components["schemas"]["Pagination"];
            results: components["schemas"]["Diff"][];
        };
        ObjectStats: {
            path: string;
            /** @enum {string} */
            path_type: "object" | "common_prefix";
            physical_address?: string;
            checksum: string;
            size_bytes?: number;
            /** @description Unix seconds. */
            mtime: number;
            content_type?: string;
            metadata?: components["schemas"]["Metadata"];
        };
        ObjectPage: {
            pagination: components["schemas"]["Pagination"];
            results: components["schemas"]["ObjectStats"][];
        };
        PathList: {
            paths: string[];
        };
        PathRefusals: {
            errors: {
                path?: string;
                status_code: number;
                message: string;
            }[];
        };
        StagingLocation: {
            physical_address?: string;
            presigned_url?: string | null;
            presigned_url_expiry?: number;
        };
        StagingMetadata: {
            staging: components["schemas"]["StagingLocation"];
            checksum: string;
            size_bytes: number;
            content_type?: string;
            user_metadata?: components["schemas"]["Metadata"];
        };
        MultipartUpload: {
            upload_id: string;
            physical_address: string;
            presigned_urls?: string[];
        };
        MultipartCompletion: {
            physical_address: string;
            content_type?: string;
            user_metadata?: components["schemas"]["Metadata"];
            parts: {
                part_number: number;
                etag: string;
            }[];
        };
        MultipartAbort: {
            physical_address: string;
        };
    };
    responses: {
        /** @description The credentials are missing or wrong. */
        Unauthorized: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The branch is protected, is the default branch, or the repository is read-only; nothing was done. */
        Forbidden: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description Something that was named is not there; which one has to be read. `invalid API endpoint` hints that the server does not know the operation at all. */
        NotFound: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The bytes are not there any more. */
        Gone: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The path is taken and the request said to write only if it is not. */
        ObjectExists: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description Unknown whether anything was done, unless the message says `predicate failed`: then the branch record was changed by somebody else and surely nothing was. */
        ServerTrouble: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Refusal"];
            };
        };
    };
    parameters: {
        Repository: string;
        Branch: string;
        Ref: string;
        Prefix: string;
        /** @description Exclusive; need not exist. */
        After: string;
        Amount: number;
        /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
        ObjectPath: string;
        Presign: boolean;
        /** @description Only `*` is understood. */
        IfNoneMatch: "*";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    getConfig: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The capabilities that decide how bytes travel. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Config"];
                };
            };
            401: components["responses"]["Unauthorized"];
        };
    };
    getLakeFSVersion: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The version. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Version"];
                };
            };
            401: components["responses"]["Unauthorized"];
        };
    };
    listRepositories: {
        parameters: {
            query?: {
                prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, sorted by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RepositoryPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
        };
    };
    createRepository: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RepositoryCreation"];
            };
        };
        responses: {
            /** @description Made, with one first commit without parents. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Repository"];
                };
            };
            /** @description The name or the namespace is not allowed, or the namespace already holds a repository's data. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            /** @description A repository of this name is there already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getRepository: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The repository. Can be answered for some seconds after it was deleted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Repository"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    deleteRepository: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone. Its storage namespace stays used for ever. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    getBranchProtectionRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The patterns in force, with an ETag for a conditional change. */
            200: {
                headers: {
                    ETag?: string;
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchProtectionRule"][];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    setBranchProtectionRules: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BranchProtectionRule"][];
            };
        };
        responses: {
            /** @description Stored; in force within some seconds. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    listBranches: {
        parameters: {
            query?: {
                prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
                show_hidden?: boolean;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, sorted by name. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["BranchPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    createBranch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["BranchCreation"];
            };
        };
        responses: {
            /** @description Made. The body is the bare commit id, not JSON. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "text/plain": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description A branch of this name is there already, whatever it points at; or the name is the id of a commit. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getBranch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The branch and its head. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branch"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    deleteBranch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Gone */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
        };
    };
    hardResetBranch: {
        parameters: {
            query: {
                /** @description A commit or an expression. Resolved at the moment of the write. */
                ref: string;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The branch stands at the named commit. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The expression leads nowhere, or a commit on the branch is in progress. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
        };
    };
    diffBranch: {
        parameters: {
            query?: {
                prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, in byte order of the paths. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    commit: {
        parameters: {
            query?: {
                /** @description Commit exactly this tree on the branch's head. */
                source_metarange?: string;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommitCreation"];
            };
        };
        responses: {
            /** @description Committed. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Commit"];
                };
            };
            /** @description Nothing has changed, or (with a tree) something is uncommitted. Read the uncommitted diff to learn which. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            /** @description A hook refused the commit; nothing was done. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            500: components["responses"]["ServerTrouble"];
        };
    };
    createTag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["TagCreation"];
            };
        };
        responses: {
            /** @description Made. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branch"];
                };
            };
            /** @description The name is not allowed. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description A tag of this name is there already, whatever it points at. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getTag: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                tag: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The tag and its commit. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Branch"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    createCommitRecord: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CommitRecordCreation"];
            };
        };
        responses: {
            /** @description Written. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The id is not the hash of the record. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description This very record is there already. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    getCommit: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                /** @description A commit id; any other ref is resolved too. */
                commitId: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The commit. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Commit"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    logCommits: {
        parameters: {
            query?: {
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
                first_parent?: boolean;
                /** @description The last commit to show. */
                stop_at?: string;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, newest first by generation. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CommitPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    diffRefs: {
        parameters: {
            query: {
                /** @description Left out, the server compares with the merge base; so it is never left out. */
                type: "two_dot" | "three_dot";
                prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                leftRef: string;
                rightRef: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, in byte order of the paths. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DiffPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    mergeIntoBranch: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                /** @description Always a commit id here, because a branch could move. */
                sourceRef: string;
                destinationBranch: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Merge"];
            };
        };
        responses: {
            /** @description Merged; always a new commit, never a fast-forward. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergeResult"];
                };
            };
            /** @description The source brings no change, or the destination has uncommitted objects. Read the uncommitted diff and the three-dot diff to learn which. */
            400: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            /** @description A conflict; nothing was done. The body names neither a commit nor the paths. */
            409: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MergeResult"];
                };
            };
            /** @description A hook refused the merge; nothing was done. */
            412: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    listObjects: {
        parameters: {
            query?: {
                prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                after?: components["parameters"]["After"];
                amount?: components["parameters"]["Amount"];
                delimiter?: string;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page, in byte order of the paths. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectPage"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    statObject: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
                presign?: components["parameters"]["Presign"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What is known of the object; with `presign`, where its bytes can be had without credentials. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectStats"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
        };
    };
    getObject: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
            };
            header?: {
                /** @description One range only. */
                Range?: string;
            };
            path: {
                repository: components["parameters"]["Repository"];
                ref: components["parameters"]["Ref"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The whole object; `ETag` is its checksum in quotes. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            /** @description The range that was asked for. */
            206: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/octet-stream": string;
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            410: components["responses"]["Gone"];
            /** @description The object has no such range; an empty object has none at all. */
            416: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    uploadObject: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
            };
            header?: {
                /** @description Only `*` is understood. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        /** @description The bytes as they are. The content type is stored, and so is every `X-Lakefs-Meta-<key>` header; the keys come back in lower case. */
        requestBody: {
            content: {
                "application/octet-stream": string;
            };
        };
        responses: {
            /** @description Written, uncommitted. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectStats"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["ObjectExists"];
        };
    };
    deleteObjects: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PathList"];
            };
        };
        responses: {
            /** @description Done for every path that is not listed. Also answered, with an empty list, when the branch or the repository is not there. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PathRefusals"];
                };
            };
            401: components["responses"]["Unauthorized"];
        };
    };
    getPhysicalAddress: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
                presign?: components["parameters"]["Presign"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The address. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StagingLocation"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    linkPhysicalAddress: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
            };
            header?: {
                /** @description Only `*` is understood. */
                "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["StagingMetadata"];
            };
        };
        responses: {
            /** @description Linked, uncommitted. Checksum and size are taken on trust. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectStats"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
            412: components["responses"]["ObjectExists"];
        };
    };
    createPresignMultipartUpload: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
                parts: number;
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One address for each part, in order. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MultipartUpload"];
                };
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
    completePresignMultipartUpload: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MultipartCompletion"];
            };
        };
        responses: {
            /** @description The parts are one object now, linked, uncommitted. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObjectStats"];
                };
            };
            401: components["responses"]["Unauthorized"];
            403: components["responses"]["Forbidden"];
            404: components["responses"]["NotFound"];
        };
    };
    abortPresignMultipartUpload: {
        parameters: {
            query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                path: components["parameters"]["ObjectPath"];
            };
            header?: never;
            path: {
                repository: components["parameters"]["Repository"];
                branch: components["parameters"]["Branch"];
                uploadId: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MultipartAbort"];
            };
        };
        responses: {
            /** @description Given up; the parts are thrown away. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
        };
    };
}
