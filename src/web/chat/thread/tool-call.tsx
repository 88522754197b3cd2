import type { ToolCallMessagePartProps } from '@assistant-ui/react';
import type { ReactNode } from 'react';
import { Icon } from '../../parts/icon.js';

const WORDS = { running: 'running', complete: 'done', failed: 'failed' } as const;

/** A tool call with its name and status; when expanded, its arguments and result. */
export function ToolCall({ toolName, argsText, ...part }: ToolCallMessagePartProps): ReactNode {
  const result: unknown = part.result;
  const progress: unknown = part.artifact;
  const status = result === undefined ? 'running' : part.isError === true ? 'failed' : 'complete';
  return (
    <details className="tool" data-status={status}>
      <summary>
        <Icon name="tool" />
        <span className="tool-name">{toolName}</span>
        {argsText !== '' && <code className="tool-brief">{brief(argsText)}</code>}
        <span className="tool-status">{WORDS[status]}</span>
      </summary>
      <div className="tool-body">
        {typeof progress === 'string' && status === 'running' && <p>{progress}</p>}
        <h3>Arguments</h3>
        <pre tabIndex={0}>{argsText === '' ? 'not known' : argsText}</pre>
        {result !== undefined && (
          <>
            <h3>Result</h3>
            <pre tabIndex={0}>{pretty(result)}</pre>
          </>
        )}
      </div>
    </details>
  );
}

function brief(argsText: string): string {
  const line = argsText.replace(/\s+/g, ' ');
  return line === '{}' ? '' : line;
}

/** Formats JSON with line breaks; returns other text unchanged. */
function pretty(result: unknown): string {
  if (typeof result !== 'string') return JSON.stringify(result, null, 2);
  try {
    return JSON.stringify(JSON.parse(result), null, 2);
  } catch {
    return result;
  }
}
