import type { Options } from 'react-markdown';
import remarkGfm from 'remark-gfm';

type Plugins = NonNullable<Options['remarkPlugins']>;

/** Takes HTML as text: the page shows none, and the parser would look for the end of each comment. */
const withoutHtml: Plugins[number] = function () {
  const data: { micromarkExtensions?: object[] } = this.data() as object;
  (data.micromarkExtensions ??= []).push({ disable: { null: ['htmlFlow', 'htmlText'] } });
};

/** What the parser reads: the Markdown of GitHub without HTML. */
export const PLUGINS: Plugins = [remarkGfm, withoutHtml];
