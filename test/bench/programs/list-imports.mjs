/** Loaded before the service by `--import`: notes every module of it that is imported, in their order of arrival. */
import { register } from 'node:module';

const hooks = `
import { appendFileSync } from 'node:fs';
export async function load(url, context, nextLoad) {
  if (url.includes('/dist/')) appendFileSync(${JSON.stringify(process.env.IMPORTS_LIST)}, url + '\\n');
  return nextLoad(url, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
