import { memo, type ReactNode } from 'react';
import type { ToolBlock } from '../../../client/view/view.js';
import { visibleLine } from '../../../client/visible-text.js';
import { Icon } from '../../parts/icon.js';
import { visibleJson, visibleText } from '../../parts/visible-json.js';

const WORDS = { running: 'running', complete: 'done', failed: 'failed' } as const;

/** A tool call with its name and status; when expanded, its arguments and result. */
export const ToolCall = memo(function ToolCall({ call }: { readonly call: ToolBlock }): ReactNode {
  const { name, args, status, progress, result } = call;
  const argsText = args === null ? '' : visibleJson(args);
  return (
    <details className="tool" data-status={status}>
      <summary>
        <Icon name="tool" />
        <span className="tool-name">{visibleLine(name)}</span>
        {argsText !== '' && <code className="tool-brief">{brief(argsText)}</code>}
        <span className="tool-status">{WORDS[status]}</span>
      </summary>
      <div className="tool-body">
        {progress !== null && status === 'running' && <p dir="auto">{visibleText(progress)}</p>}
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

function shownResult(result: string): string {
  try {
    return visibleJson(JSON.parse(result));
  } catch {
    return visibleText(result);
  }
}
