import { encoded, sendEncoded, type Encoded, type Page } from '../http/pages/pages.js';

/** An API that describes itself. */
export interface Described {
  /** Its name in paths. */
  readonly name: string;
  /** Makes its OpenAPI document. */
  describe(): Promise<object>;
}

/** The path of a document. */
export function documentPath({ name }: Described): string {
  return `/openapi/${name}.json`;
}

/** An OpenAPI document for each of them, made when it is first asked for. */
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
