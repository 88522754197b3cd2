import { encoded, sendEncoded, type Encoded, type Page } from '../http/pages/pages.js';

/** An API with an OpenAPI document. */
export interface Described {
  /** The name in paths. */
  readonly name: string;
  /** Creates the OpenAPI document. */
  describe(): Promise<object>;
}

/** Returns the path of an API's document. */
export function documentPath({ name }: Described): string {
  return `/openapi/${name}.json`;
}

/** Creates a page for each OpenAPI document. A document is created on the first request for it. */
export function openapiPages(apis: readonly Described[]): readonly Page[] {
  return apis.map((api): Page => {
    let document: Promise<Encoded> | undefined;
    return {
      path: documentPath(api),
      handlers: [
        async (req, res) => {
          document ??= api
            .describe()
            .then((described) => encoded('application/json; charset=utf-8', JSON.stringify(described)));
          sendEncoded(req, res, await document);
        },
      ],
    };
  });
}
