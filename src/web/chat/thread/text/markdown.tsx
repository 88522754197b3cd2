import {
  Component,
  isValidElement,
  memo,
  useRef,
  type ComponentPropsWithoutRef,
  type ReactNode,
} from 'react';
import ReactMarkdown from 'react-markdown';
import { CodeBlock, CodeHeader } from './code-block.js';
import { rehypeDirection } from './direction.js';
import { limited, type Section } from './format-limit.js';
import { DISPLAY_MATH, INLINE_MATH } from './math-marks.js';
import { MathFormula } from './math.js';
import { PLUGINS } from './plugins.js';

const REHYPE_PLUGINS = [rehypeDirection];

/** A cell with nothing but an amount: digits with their separators, a sign, a currency or a unit. */
const AMOUNT = /^[^\p{L}\d]{0,3}\d[\d.,'\s\u00a0]*(?:e[+-]?\d+)?\s?(?:\p{L}{1,5}|[^\p{L}\d]{1,2})?$/iu;

const COMPONENTS = {
  a: Link,
  img: ({ src, alt }: ComponentPropsWithoutRef<'img'>) => (
    <Link href={typeof src === 'string' ? src : ''}>{alt === undefined || alt === '' ? 'image' : alt}</Link>
  ),
  table: ({ children, dir }: ComponentPropsWithoutRef<'table'>) => (
    <div className="table-frame" tabIndex={0} role="group" aria-label="Table">
      <table dir={dir}>{children}</table>
    </div>
  ),
  td: ({ children, style, dir }: ComponentPropsWithoutRef<'td'>) => (
    <td style={style} dir={dir} className={isAmount(children) ? 'amount' : undefined}>
      {children}
    </td>
  ),
  // A task of a list.
  input: ({ checked }: ComponentPropsWithoutRef<'input'>) => (
    <input
      type="checkbox"
      checked={checked === true}
      disabled
      aria-label={checked === true ? 'Done' : 'To do'}
    />
  ),
  code: Code,
  pre: Pre,
  // Headings start below the level of the message's own heading.
  h1: 'h3',
  h2: 'h4',
  h3: 'h5',
  h4: 'h6',
  h5: 'h6',
} as const;

/** Shows a text as it is when it cannot be rendered, such as one with hundreds of nested emphases. */
class PlainWhenFailed extends Component<
  { readonly text: string; readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <Plain text={this.props.text} /> : this.props.children;
  }
}

/**
 * Renders a text as Markdown, and what exceeds the limit as it is. Parses only the sections that have changed. HTML stays
 * text, and an image becomes a link, because the page loads nothing from other hosts.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  const known = useRef<readonly Section[]>([]);
  const { sections, estimates, rest } = limited(text, known.current);
  known.current = estimates;
  return (
    <div className="markdown">
      {sections.map((section, index) => (
        <PlainWhenFailed key={index} text={section.text}>
          <Rendered markdown={section.markdown} />
        </PlainWhenFailed>
      ))}
      {rest !== '' && <Plain text={rest} />}
    </div>
  );
});

function Plain({ text }: { readonly text: string }): ReactNode {
  return (
    <p className="plain" dir="auto">
      {text}
    </p>
  );
}

const Rendered = memo(function Rendered({ markdown }: { readonly markdown: string }): ReactNode {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} rehypePlugins={REHYPE_PLUGINS} components={COMPONENTS}>
      {markdown}
    </ReactMarkdown>
  );
});

/**
 * A link to another page. One without an address, which was unsafe, or to a place of this page stays text: the page's
 * own fragment names the session, and the ids of footnotes repeat in every message.
 */
function Link(props: ComponentPropsWithoutRef<'a'> & { 'data-footnote-backref'?: unknown }): ReactNode {
  const { href = '', children } = props;
  if ('data-footnote-backref' in props) return null;
  if (href === '' || href.startsWith('#')) return children;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A block of code. */
function Pre({ children }: ComponentPropsWithoutRef<'pre'>): ReactNode {
  if (!isValidElement<ComponentPropsWithoutRef<'code'>>(children)) return <pre>{children}</pre>;
  const { className = '', children: content } = children.props;
  const code = typeof content === 'string' ? content : '';
  const language = /(?:^|\s)language-(\S+)/.exec(className)?.[1] ?? '';
  return (
    <>
      <CodeHeader language={language} code={code} />
      <CodeBlock language={language} code={code} />
    </>
  );
}

/** Code within a line, or a formula. */
function Code({ children }: ComponentPropsWithoutRef<'code'>): ReactNode {
  const text = typeof children === 'string' ? children : '';
  if (text.startsWith(INLINE_MATH)) return <MathFormula tex={text.slice(1)} isDisplay={false} />;
  if (text.startsWith(DISPLAY_MATH)) return <MathFormula tex={text.slice(1)} isDisplay />;
  return <code>{children}</code>;
}

function isAmount(children: ReactNode): boolean {
  return typeof children === 'string' && children.length <= 60 && AMOUNT.test(children.trim());
}
