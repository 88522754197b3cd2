/** The parts of an OpenAPI 3.1 document that the surfaces use. */

/** A JSON Schema of 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

/** Names a part that is shared. */
export interface Reference {
  readonly $ref: string;
}

/** A parameter of a request. */
export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema?: Schema;
  /** Instead of `schema`: a value that is itself encoded. */
  readonly content?: Readonly<Record<string, MediaType>>;
  readonly example?: unknown;
}

/** A header of an answer. */
export interface Header {
  readonly description: string;
  /** True when every such answer has it. */
  readonly required?: boolean;
  readonly schema: Schema;
}

/** What a body is. */
export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  /** Of a stream: the schema of the JSON object in each `data:` line. */
  readonly 'x-event-schema'?: Reference;
  /** Of a stream: which of its events have an `id:` line. */
  readonly 'x-event-ids'?: 'logged' | 'logged-with-cursor' | 'none';
}

/** An answer. */
export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** Which headers a request authenticates with, by the names of the security schemes. */
export type Requirement = Readonly<Record<string, readonly string[]>>;

/** What one method of a path does. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly description?: string;
    readonly content: Readonly<Record<string, MediaType>>;
  };
  readonly responses: Readonly<Record<string, Response | Reference>>;
  /** The alternatives; an empty one: nothing is needed. */
  readonly security: readonly Requirement[];
}

/** A method, as documents spell it. */
export type OperationMethod = 'get' | 'post' | 'patch' | 'delete';

/** A path. */
export interface PathItem extends Partial<Readonly<Record<OperationMethod, Operation>>> {
  /** Present where a path is not under the base of its surface. */
  readonly servers?: readonly Server[];
}

/** Paths, by their patterns. */
export type Paths = Readonly<Record<string, PathItem>>;

/** A base of the paths. */
export interface Server {
  readonly url: string;
  readonly description?: string;
}

/** The whole. */
export interface Document {
  readonly openapi: '3.1.0';
  readonly jsonSchemaDialect: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Server[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    /** Also what answers requests that are none of the operations: unknown paths, other methods, broken HTTP. */
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, Schema>>;
  };
}

/** What a document says of the deployment that serves it. */
export interface Deployment {
  readonly version: string;
  /** The surfaces that it exposes. */
  readonly surfaces: readonly string[];
}

/** The dialect that OpenAPI 3.1 has unless another is named. */
export const SCHEMA_DIALECT = 'https://spec.openapis.org/oas/3.1/dialect/base';
