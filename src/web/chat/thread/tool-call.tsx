import { memo, type ReactNode } from 'react';
import type { ToolBlock } from '../../../client/view/view.js';
import { visible } from '../../../client/visible-text.js';
import { Icon } from '../../parts/icon.js';

const WORDS = { running: 'running', complete: 'done', failed: 'failed' } as const;

/** A tool call with its name and status; when expanded, its arguments and result. */
export const ToolCall = memo(function ToolCall({ call }: { readonly call: ToolBlock }): ReactNode {
  const { name, args, status, progress, result } = call;
  const argsText = args === null ? '' : shownJson(args);
  return (
    <details className="tool" data-status={status}>
      <summary>
        <Icon name="tool" />
        <span className="tool-name">{name}</span>
        {argsText !== '' && <code className="tool-brief">{brief(argsText)}</code>}
        <span className="tool-status">{WORDS[status]}</span>
      </summary>
      <div className="tool-body">
        {progress !== null && status === 'running' && <p dir="auto">{shown(progress)}</p>}
        <h3>Arguments</h3>
        <pre tabIndex={0}>{argsText === '' ? 'not known' : argsText}</pre>
        {status !== 'running' && (
          <>
            <h3>Result</h3>
            <pre tabIndex={0}>{shownResult(result ?? '')}</pre>
          </>
        )}
      </div>
    </details>
  );
});

function brief(argsText: string): string {
  const line = argsText.replace(/\s+/g, ' ');
  return line === '{}' ? '' : line;
}

/** Escapes the invisible characters of a text that a stranger may have written, except for tabs and line breaks. */
function shown(text: string): string {
  return text
    .split(/(\t|\r?\n)/)
    .map((part, index) => (index % 2 === 0 ? visible(part, Infinity) : part))
    .join('');
}

/** Formats JSON with line breaks. It stays JSON: an escape above U+FFFF is a surrogate pair, not `\u{…}`. */
function shownJson(value: unknown): string {
  return shown(JSON.stringify(value, null, 2)).replace(
    /\\\\|\\u\{(.+?)\}/g,
    (found: string, digits: string | undefined) => {
      if (digits === undefined) return found;
      const pair = String.fromCodePoint(parseInt(digits, 16));
      return [0, 1].map((at) => `\\u${pair.charCodeAt(at).toString(16)}`).join('');
    },
  );
}

function shownResult(result: string): string {
  try {
    return shownJson(JSON.parse(result));
  } catch {
    return shown(result);
  }
}
