// Generated from openapi/lakefs.yaml by scripts/generate.mjs. Never edited by hand.

export interface paths {
    readonly "/config": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** What the server can do, and its version. */
        readonly get: operations["getConfig"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/config/version": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** The version alone, for servers whose configuration does not name it. */
        readonly get: operations["getLakeFSVersion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
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
        readonly get: operations["listRepositories"];
        readonly put?: never;
        readonly post: operations["createRepository"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["getRepository"];
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["deleteRepository"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/settings/branch_protection": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["getBranchProtectionRules"];
        readonly put: operations["setBranchProtectionRules"];
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
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["listBranches"];
        readonly put?: never;
        readonly post: operations["createBranch"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["getBranch"];
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["deleteBranch"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/hard_reset": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        /** Moves a branch without any condition. Uncommitted objects survive on the new head. */
        readonly put: operations["hardResetBranch"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/diff": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        /** What is uncommitted. */
        readonly get: operations["diffBranch"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/commits": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["commit"];
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
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["listTags"];
        readonly put?: never;
        readonly post: operations["createTag"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/tags/{tag}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly tag: string;
            };
            readonly cookie?: never;
        };
        readonly get: operations["getTag"];
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
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        /** Writes a commit that no branch holds, with any number of parents. */
        readonly post: operations["createCommitRecord"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/commits/{commitId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                /** @description A commit id; any other ref is resolved too. */
                readonly commitId: string;
            };
            readonly cookie?: never;
        };
        readonly get: operations["getCommit"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{ref}/commits": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["logCommits"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{leftRef}/diff/{rightRef}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly leftRef: string;
                readonly rightRef: string;
            };
            readonly cookie?: never;
        };
        readonly get: operations["diffRefs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{sourceRef}/merge/{destinationBranch}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                /** @description Always a commit id here, because a branch could move. */
                readonly sourceRef: string;
                readonly destinationBranch: string;
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["mergeIntoBranch"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{ref}/objects/ls": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["listObjects"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{ref}/objects/stat": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["statObject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/refs/{ref}/objects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly get: operations["getObject"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/objects": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["uploadObject"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/objects/delete": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["deleteObjects"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/staging/backing": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        /** An address to put bytes at, without going through lakeFS. Not a word about the branch is checked. */
        readonly get: operations["getPhysicalAddress"];
        /** Gives the bytes at that address a path on the branch. */
        readonly put: operations["linkPhysicalAddress"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/staging/pmpu": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["createPresignMultipartUpload"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put: operations["completePresignMultipartUpload"];
        readonly post?: never;
        readonly delete: operations["abortPresignMultipartUpload"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/repositories/{repository}/branches/{branch}/staging/pmpu/{uploadId}/parts/{partNumber}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
                readonly uploadId: string;
                readonly partNumber: number;
            };
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put: operations["uploadPart"];
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
        readonly Refusal: {
            readonly message: string;
        };
        readonly Pagination: {
            readonly has_more: boolean;
            /** @description To be passed as `after`; empty at the end. */
            readonly next_offset: string;
        };
        readonly Config: {
            readonly version_config?: components["schemas"]["Version"];
            readonly storage_config: {
                readonly blockstore_type: string;
                readonly default_namespace_prefix?: string;
                readonly pre_sign_support: boolean;
                readonly pre_sign_multipart_upload?: boolean;
                readonly import_support?: boolean;
            };
        };
        readonly Version: {
            readonly version?: string;
        };
        readonly Repository: {
            readonly id: string;
            /** @description Unix seconds. */
            readonly creation_date: number;
            readonly default_branch: string;
            readonly storage_namespace: string;
            readonly read_only?: boolean;
        };
        readonly RepositoryCreation: {
            readonly name: string;
            readonly storage_namespace: string;
            readonly default_branch?: string;
        };
        readonly RepositoryPage: {
            readonly pagination: components["schemas"]["Pagination"];
            readonly results: readonly components["schemas"]["Repository"][];
        };
        readonly BranchProtectionRule: {
            readonly pattern: string;
        };
        readonly Branch: {
            readonly id: string;
            readonly commit_id: string;
        };
        readonly BranchCreation: {
            readonly name: string;
            readonly source: string;
            readonly hidden?: boolean;
        };
        readonly BranchPage: {
            readonly pagination: components["schemas"]["Pagination"];
            readonly results: readonly components["schemas"]["Branch"][];
        };
        readonly TagCreation: {
            readonly id: string;
            readonly ref: string;
        };
        readonly Commit: {
            readonly id: string;
            readonly parents: readonly string[];
            readonly committer: string;
            readonly message: string;
            /** @description Unix seconds. */
            readonly creation_date: number;
            /** @description Names the tree; empty for a repository's first commit. */
            readonly meta_range_id: string;
            readonly metadata?: components["schemas"]["Metadata"];
            readonly generation?: number;
        };
        readonly CommitRecordCreation: {
            /** @description A digest of the other fields. */
            readonly commit_id: string;
            readonly version: number;
            readonly committer: string;
            readonly message: string;
            readonly metarange_id: string;
            /** @description Unix seconds. */
            readonly creation_date: number;
            readonly parents: readonly string[];
            readonly generation: number;
            readonly metadata: {
                readonly [key: string]: string;
            };
        };
        readonly CommitCreation: {
            readonly message: string;
            readonly metadata?: components["schemas"]["Metadata"];
            readonly allow_empty?: boolean;
        };
        readonly CommitPage: {
            readonly pagination: components["schemas"]["Pagination"];
            readonly results: readonly components["schemas"]["Commit"][];
        };
        readonly Metadata: {
            readonly [key: string]: string;
        };
        readonly Merge: {
            readonly message?: string;
            readonly metadata?: components["schemas"]["Metadata"];
            /** @enum {string} */
            readonly strategy?: "source-wins" | "dest-wins";
            readonly squash_merge?: boolean;
            readonly allow_empty?: boolean;
            readonly force?: boolean;
        };
        readonly MergeResult: {
            readonly reference: string;
        };
        readonly Diff: {
            readonly path: string;
            /** @enum {string} */
            readonly path_type: "object" | "common_prefix";
            /** @enum {string} */
            readonly type: "added" | "removed" | "changed" | "conflict" | "prefix_changed";
            readonly size_bytes?: number;
        };
        readonly DiffPage: {
            readonly pagination: components["schemas"]["Pagination"];
            readonly results: readonly components["schemas"]["Diff"][];
        };
        readonly ObjectStats: {
            readonly path: string;
            /** @enum {string} */
            readonly path_type: "object" | "common_prefix";
            readonly physical_address?: string;
            readonly checksum: string;
            readonly size_bytes?: number;
            /** @description Unix seconds. */
            readonly mtime: number;
            readonly content_type?: string;
            readonly metadata?: components["schemas"]["Metadata"];
        };
        readonly ObjectPage: {
            readonly pagination: components["schemas"]["Pagination"];
            readonly results: readonly components["schemas"]["ObjectStats"][];
        };
        readonly PathList: {
            readonly paths: readonly string[];
        };
        readonly PathRefusals: {
            readonly errors: readonly {
                readonly path?: string;
                readonly status_code: number;
                readonly message: string;
            }[];
        };
        readonly StagingLocation: {
            readonly physical_address?: string;
            readonly presigned_url?: string | null;
            readonly presigned_url_expiry?: number;
        };
        readonly StagingMetadata: {
            readonly staging: components["schemas"]["StagingLocation"];
            readonly checksum: string;
            readonly size_bytes: number;
            readonly content_type?: string;
            readonly user_metadata?: components["schemas"]["Metadata"];
        };
        readonly MultipartUpload: {
            readonly upload_id: string;
            readonly physical_address: string;
            readonly presigned_urls?: readonly string[];
        };
        readonly MultipartCompletion: {
            readonly physical_address: string;
            readonly content_type?: string;
            readonly user_metadata?: components["schemas"]["Metadata"];
            readonly parts: readonly {
                readonly part_number: number;
                readonly etag: string;
            }[];
        };
        readonly MultipartPlace: {
            readonly physical_address: string;
        };
        readonly PartAddress: {
            readonly presigned_url: string;
        };
        readonly MultipartAbort: {
            readonly physical_address: string;
        };
    };
    responses: {
        /** @description The credentials are missing or wrong. */
        readonly Unauthorized: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The branch is protected, is the default branch, or the repository is read-only; nothing was done. */
        readonly Forbidden: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description Something that was named is not there; which one has to be read. `invalid API endpoint` hints that the server does not know the operation at all. */
        readonly NotFound: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The bytes are not there any more. */
        readonly Gone: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description The path is taken and the request said to write only if it is not. */
        readonly ObjectExists: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
        /** @description Unknown whether anything was done, unless the message says `predicate failed`: then the branch record was changed by somebody else and surely nothing was. */
        readonly ServerTrouble: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/json": components["schemas"]["Refusal"];
            };
        };
    };
    parameters: {
        readonly Repository: string;
        readonly Branch: string;
        readonly Ref: string;
        readonly Prefix: string;
        /** @description Exclusive; need not exist. */
        readonly After: string;
        readonly Amount: number;
        /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
        readonly ObjectPath: string;
        readonly Presign: boolean;
        /** @description Only `*` is understood. */
        readonly IfNoneMatch: "*";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly getConfig: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The capabilities that decide how bytes travel. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Config"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
        };
    };
    readonly getLakeFSVersion: {
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
                    readonly "application/json": components["schemas"]["Version"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
        };
    };
    readonly listRepositories: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, sorted by name. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RepositoryPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
        };
    };
    readonly createRepository: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RepositoryCreation"];
            };
        };
        readonly responses: {
            /** @description Made, with one first commit without parents. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Repository"];
                };
            };
            /** @description The name or the namespace is not allowed, or the namespace already holds a repository's data. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            /** @description A repository of this name is there already. */
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
    readonly getRepository: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The repository. Can be answered for some seconds after it was deleted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Repository"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly deleteRepository: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Gone. Its storage namespace stays used for ever. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly getBranchProtectionRules: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The patterns in force, with an ETag for a conditional change. */
            readonly 200: {
                headers: {
                    readonly ETag?: string;
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": readonly components["schemas"]["BranchProtectionRule"][];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly setBranchProtectionRules: {
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
                readonly "application/json": readonly components["schemas"]["BranchProtectionRule"][];
            };
        };
        readonly responses: {
            /** @description Stored; in force within some seconds. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly listBranches: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
                readonly show_hidden?: boolean;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, sorted by name. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BranchPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly createBranch: {
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
                readonly "application/json": components["schemas"]["BranchCreation"];
            };
        };
        readonly responses: {
            /** @description Made. The body is the bare commit id, not JSON. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "text/plain": string;
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            /** @description A branch of this name is there already, whatever it points at; or the name is the id of a commit. */
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
    readonly getBranch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The branch and its head. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Branch"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly deleteBranch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Gone */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly hardResetBranch: {
        readonly parameters: {
            readonly query: {
                /** @description A commit or an expression. Resolved at the moment of the write. */
                readonly ref: string;
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
            /** @description The branch stands at the named commit. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The expression leads nowhere, or a commit on the branch is in progress. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly diffBranch: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
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
            /** @description One page, in byte order of the paths. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DiffPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly commit: {
        readonly parameters: {
            readonly query?: {
                /** @description Commit exactly this tree on the branch's head. */
                readonly source_metarange?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CommitCreation"];
            };
        };
        readonly responses: {
            /** @description Committed. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Commit"];
                };
            };
            /** @description Nothing has changed, or (with a tree) something is uncommitted. Read the uncommitted diff to learn which. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            /** @description A hook refused the commit; nothing was done. */
            readonly 412: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 500: components["responses"]["ServerTrouble"];
        };
    };
    readonly listTags: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, sorted by name. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BranchPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly createTag: {
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
                readonly "application/json": components["schemas"]["TagCreation"];
            };
        };
        readonly responses: {
            /** @description Made. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Branch"];
                };
            };
            /** @description The name is not allowed. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            /** @description A tag of this name is there already, whatever it points at. */
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
    readonly getTag: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly tag: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The tag and its commit. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Branch"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly createCommitRecord: {
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
                readonly "application/json": components["schemas"]["CommitRecordCreation"];
            };
        };
        readonly responses: {
            /** @description Written. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            /** @description The id is not that of the fields. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            /** @description There is such a commit already. Equal ids mean equal commits. */
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
    readonly getCommit: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                /** @description A commit id; any other ref is resolved too. */
                readonly commitId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The commit. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Commit"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly logCommits: {
        readonly parameters: {
            readonly query?: {
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
                readonly first_parent?: boolean;
                /** @description The last commit to show. */
                readonly stop_at?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, newest first by generation. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CommitPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly diffRefs: {
        readonly parameters: {
            readonly query: {
                /** @description Left out, the server compares with the merge base; so it is never left out. */
                readonly type: "two_dot" | "three_dot";
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly leftRef: string;
                readonly rightRef: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, in byte order of the paths. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DiffPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly mergeIntoBranch: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                /** @description Always a commit id here, because a branch could move. */
                readonly sourceRef: string;
                readonly destinationBranch: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Merge"];
            };
        };
        readonly responses: {
            /** @description Merged; always a new commit, never a fast-forward. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MergeResult"];
                };
            };
            /** @description The source brings no change, or the destination has uncommitted objects. Read the uncommitted diff and the three-dot diff to learn which. */
            readonly 400: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            /** @description A conflict; nothing was done. The body names neither a commit nor the paths. */
            readonly 409: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MergeResult"];
                };
            };
            /** @description A hook refused the merge; nothing was done. */
            readonly 412: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly listObjects: {
        readonly parameters: {
            readonly query?: {
                readonly prefix?: components["parameters"]["Prefix"];
                /** @description Exclusive; need not exist. */
                readonly after?: components["parameters"]["After"];
                readonly amount?: components["parameters"]["Amount"];
                readonly delimiter?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description One page, in byte order of the paths. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ObjectPage"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly statObject: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
                readonly presign?: components["parameters"]["Presign"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description What is known of the object; with `presign`, where its bytes can be had without credentials. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ObjectStats"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
        };
    };
    readonly getObject: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: {
                /** @description One range only. */
                readonly Range?: string;
            };
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly ref: components["parameters"]["Ref"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The whole object; `ETag` is its checksum in quotes. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            /** @description The range that was asked for. */
            readonly 206: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/octet-stream": string;
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
            readonly 410: components["responses"]["Gone"];
            /** @description The object has no such range; an empty object has none at all. */
            readonly 416: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["Refusal"];
                };
            };
        };
    };
    readonly uploadObject: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: {
                /** @description Only `*` is understood. */
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        /** @description The bytes as they are. The content type is stored, and so is every `X-Lakefs-Meta-<key>` header; the keys come back in lower case. */
        readonly requestBody: {
            readonly content: {
                readonly "application/octet-stream": string;
            };
        };
        readonly responses: {
            /** @description Written, uncommitted. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ObjectStats"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["ObjectExists"];
        };
    };
    readonly deleteObjects: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PathList"];
            };
        };
        readonly responses: {
            /** @description Done for every path that is not listed. Also answered, with an empty list, when the branch or the repository is not there. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PathRefusals"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
        };
    };
    readonly getPhysicalAddress: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
                readonly presign?: components["parameters"]["Presign"];
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
            /** @description The address. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StagingLocation"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly linkPhysicalAddress: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: {
                /** @description Only `*` is understood. */
                readonly "If-None-Match"?: components["parameters"]["IfNoneMatch"];
            };
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["StagingMetadata"];
            };
        };
        readonly responses: {
            /** @description Linked, uncommitted. Checksum and size are taken on trust. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ObjectStats"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
            readonly 412: components["responses"]["ObjectExists"];
        };
    };
    readonly createPresignMultipartUpload: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
                readonly parts: number;
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
            /** @description One address for each part, in order. */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["MultipartUpload"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly completePresignMultipartUpload: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MultipartCompletion"];
            };
        };
        readonly responses: {
            /** @description The parts are one object now, linked, uncommitted. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ObjectStats"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 403: components["responses"]["Forbidden"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly abortPresignMultipartUpload: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
                readonly uploadId: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MultipartAbort"];
            };
        };
        readonly responses: {
            /** @description Given up; the parts are thrown away. */
            readonly 204: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
    readonly uploadPart: {
        readonly parameters: {
            readonly query: {
                /** @description Any UTF-8 of 1 to 1024 bytes; never cleaned up. */
                readonly path: components["parameters"]["ObjectPath"];
            };
            readonly header?: never;
            readonly path: {
                readonly repository: components["parameters"]["Repository"];
                readonly branch: components["parameters"]["Branch"];
                readonly uploadId: string;
                readonly partNumber: number;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["MultipartPlace"];
            };
        };
        readonly responses: {
            /** @description A newly signed address for one part of an upload that was started. */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PartAddress"];
                };
            };
            readonly 401: components["responses"]["Unauthorized"];
            readonly 404: components["responses"]["NotFound"];
        };
    };
}
