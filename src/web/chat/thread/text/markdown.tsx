import { Component, isValidElement, memo, type ComponentPropsWithoutRef, type ReactNode } from 'react';
import ReactMarkdown from 'react-markdown';
import remarkGfm from 'remark-gfm';
import { CodeBlock, CodeHeader } from './code-block.js';
import { DISPLAY_MATH, INLINE_MATH, markMath } from './math-marks.js';
import { MathFormula } from './math.js';

const PLUGINS = [remarkGfm];

/** A cell with nothing but an amount: digits with their separators, a sign, a currency or a unit. */
const AMOUNT = /^[^\p{L}\d]{0,3}\d[\d.,'\s\u00a0]*(?:e[+-]?\d+)?\s?(?:\p{L}{1,5}|[^\p{L}\d]{1,2})?$/iu;

const COMPONENTS = {
  a: ({ href, children }: ComponentPropsWithoutRef<'a'>) => (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  ),
  img: ({ src, alt }: ComponentPropsWithoutRef<'img'>) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noopener noreferrer">
      {alt === undefined || alt === '' ? 'image' : alt}
    </a>
  ),
  table: ({ children }: ComponentPropsWithoutRef<'table'>) => (
    <div className="table-frame" tabIndex={0} role="group" aria-label="Table">
      <table>{children}</table>
    </div>
  ),
  td: ({ children, style }: ComponentPropsWithoutRef<'td'>) => (
    <td style={style} className={isAmount(children) ? 'amount' : undefined}>
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

/** Shows a text as it is when it cannot be rendered, such as one with thousands of nested lists. */
class PlainWhenFailed extends Component<
  { readonly text: string; readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override render(): ReactNode {
    return this.state.hasFailed ? <p className="plain">{this.props.text}</p> : this.props.children;
  }
}

/**
 * Renders a text as Markdown. HTML stays text, and an image becomes a link, because the page loads nothing from other
 * hosts.
 */
export const Markdown = memo(function Markdown({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="markdown">
      <PlainWhenFailed text={text}>
        <Rendered text={text} />
      </PlainWhenFailed>
    </div>
  );
});

function Rendered({ text }: { readonly text: string }): ReactNode {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {markMath(text)}
    </ReactMarkdown>
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
