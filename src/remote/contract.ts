/** What an operation of a contract takes and answers, out of the types that openapi-typescript writes. */

/** The path, query and body of a request, as the contract has them; `undefined` is the same as left out. */
export type RequestOf<Operation> = PartOf<Operation, 'path'> & PartOf<Operation, 'query'> & BodyOf<Operation>

/** The JSON document of a success. */
export type AnswerOf<Operation> = Operation extends { readonly responses: infer Responses }
  ? {
      [Status in keyof Responses]: Status extends 200 | 201
        ? Responses[Status] extends { readonly content: { readonly 'application/json': infer Json } }
          ? Json
          : unknown
        : never
    }[keyof Responses]
  : unknown

type PartOf<Operation, Part extends 'path' | 'query'> = Operation extends {
  readonly parameters: Readonly<Record<Part, infer Given>>
}
  ? Readonly<Record<Part, OrUndefined<Given>>>
  : Operation extends { readonly parameters: { readonly [Key in Part]?: infer Given } }
    ? { readonly [Key in Part]?: OrUndefined<NonNullable<Given>> | undefined }
    : { readonly [Key in Part]?: object | undefined }

type BodyOf<Operation> = Operation extends {
  readonly requestBody: { readonly content: { readonly 'application/json': infer Json } }
}
  ? { readonly json: OrUndefined<Json> }
  : { readonly json?: unknown }

type OrUndefined<T> = T extends readonly unknown[]
  ? T
  : { readonly [Key in keyof T]: Partial<Pick<T, Key>> extends Pick<T, Key> ? T[Key] | undefined : T[Key] }
