/** The parts of an OpenAPI 3.1 document that the surfaces use. */

/** A JSON Schema (2020-12). */
export type Schema = Readonly<Record<string, unknown>>;

/** A reference to a shared part. */
export interface Reference {
  readonly $ref: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly schema?: Schema;
  /** In place of `schema`, for a value that is itself encoded. */
  readonly content?: Readonly<Record<string, MediaType>>;
  readonly example?: unknown;
}

/** A response header. */
export interface Header {
  readonly description: string;
  /** True when every response of this kind has the header. */
  readonly required?: boolean;
  readonly schema: Schema;
}

/** The media type of a body. */
export interface MediaType {
  readonly schema: Schema;
  readonly example?: unknown;
  /** For a stream: the schema of the JSON object in each `data:` line. */
  readonly 'x-event-schema'?: Reference;
  /** For a stream: the events that have an `id:` line. */
  readonly 'x-event-ids'?: 'logged' | 'logged-with-cursor' | 'none';
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header | Reference>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** The headers that authenticate a request, by the names of their security schemes. */
export type Requirement = Readonly<Record<string, readonly string[]>>;

/** One method of a path. */
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
  /** The alternatives; an empty one means that no authentication is required. */
  readonly security: readonly Requirement[];
}

/** A method in the spelling of OpenAPI. */
export type OperationMethod = 'get' | 'post' | 'patch' | 'delete';

export interface PathItem extends Partial<Readonly<Record<OperationMethod, Operation>>> {
  /** Present when the path is not under the base of its surface. */
  readonly servers?: readonly Server[];
}

/** Paths by pattern. */
export type Paths = Readonly<Record<string, PathItem>>;

/** A base URL of the paths. */
export interface Server {
  readonly url: string;
  readonly description?: string;
}

/** A complete OpenAPI document. */
export interface Document {
  readonly openapi: '3.1.0';
  readonly jsonSchemaDialect: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly servers: readonly Server[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    /** Includes responses to requests that match no operation: unknown paths, other methods, invalid HTTP. */
    readonly responses: Readonly<Record<string, Response>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly securitySchemes: Readonly<Record<string, Schema>>;
  };
}

/** The deployment that a document describes. */
export interface Deployment {
  readonly version: string;
  /** The exposed surfaces. */
  readonly surfaces: readonly string[];
  /** Who serves `/api`; absent: the merged surfaces. */
  readonly root?: 'merged' | 'field';
}

/** The default schema dialect of OpenAPI 3.1. */
export const SCHEMA_DIALECT = 'https://spec.openapis.org/oas/3.1/dialect/base';
