import { MarkdownTextPrimitive } from '@assistant-ui/react-markdown';
import { memo } from 'react';
import remarkGfm from 'remark-gfm';

const PLUGINS = [remarkGfm];

/**
 * Renders a reply as Markdown. HTML stays text, and an image becomes a link, because the page loads nothing from other
 * hosts.
 */
export const MarkdownText = memo(function MarkdownText() {
  return (
    <MarkdownTextPrimitive
      className="markdown"
      remarkPlugins={PLUGINS}
      smooth={false}
      components={{
        a: ({ href, children }) => (
          <a href={href} target="_blank" rel="noopener noreferrer">
            {children}
          </a>
        ),
        img: ({ src, alt }) => (
          <a href={src} target="_blank" rel="noopener noreferrer">
            {alt === undefined || alt === '' ? 'image' : alt}
          </a>
        ),
        table: ({ children }) => (
          <div className="table-frame" tabIndex={0} role="group" aria-label="Table">
            <table>{children}</table>
          </div>
        ),
        // Headings start below the level of the message's own heading.
        h1: 'h3',
        h2: 'h4',
        h3: 'h5',
        h4: 'h6',
        h5: 'h6',
        pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
      }}
    />
  );
});
