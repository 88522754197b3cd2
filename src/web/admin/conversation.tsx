import { useCallback, useEffect, useState, type ReactNode } from 'react';
import { visibleLine, withoutStacks } from '../../client/visible-text.js';
import { visibleJson } from '../parts/visible-json.js';
import { ActButton } from './act.js';
import { messageOf } from './action.js';
import type { AdminApi } from './api.js';
import { Problem } from './problem.js';
import type { Conversation, MessageRow } from './wire.js';
import { dateTime } from './words.js';

/** A conversation, read-only: the last messages first, and earlier ones on request. Each request is logged. */
export function ConversationView(props: {
  readonly api: AdminApi;
  readonly sessionId: string;
  readonly onBack: () => void;
}): ReactNode {
  const { api, sessionId, onBack } = props;
  const [shown, setShown] = useState<Conversation>();
  const [problem, setProblem] = useState<string>();
  const read = useCallback(
    async (before: string | null) => {
      const page = await api.conversation(sessionId, before);
      setShown((known) => {
        const later = before === null ? [] : (known?.messages ?? []);
        return { ...page, messages: [...page.messages, ...later] };
      });
    },
    [api, sessionId],
  );
  useEffect(() => {
    read(null).catch((error: unknown) => {
      setProblem(messageOf(error));
    });
  }, [read]);
  const save = async (format: 'json' | 'markdown'): Promise<void> => {
    const url = URL.createObjectURL(await api.exported(sessionId, format));
    const link = document.createElement('a');
    link.href = url;
    link.download = `session-${shown?.session ?? ''}.${format === 'json' ? 'json' : 'md'}`;
    link.click();
    URL.revokeObjectURL(url);
  };
  return (
    <section className="sheet" aria-label="Conversation" tabIndex={-1}>
      <div className="pager">
        <button type="button" className="button small" autoFocus onClick={onBack}>
          Back
        </button>
        <ActButton label="Export JSON" act={() => save('json')} />
        <ActButton label="Export Markdown" act={() => save('markdown')} />
      </div>
      <Problem text={problem} />
      {shown !== undefined && (
        <>
          <h2 dir="auto">{withoutStacks(shown.title)}</h2>
          <p className="hint">
            Session <code>{shown.session}</code>, with the id <code>{shown.session_id}</code>. The service
            logs that it was read.
          </p>
          {shown.has_more && (
            <ActButton label="Earlier messages" act={() => read(shown.messages[0]?.id ?? null)} />
          )}
          <ol className="transcript">
            {shown.messages.map((message) => (
              <Message key={message.id} message={message} />
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function Message({ message }: { readonly message: MessageRow }): ReactNode {
  const { role, content, tool_calls: calls, tool_results: results, created_at: at } = message;
  return (
    <li>
      <h3>
        {role} <time dateTime={at}>{dateTime(at)}</time>
      </h3>
      {content !== '' && <p dir="auto">{withoutStacks(content)}</p>}
      {(calls ?? []).map(({ call_id: id, name, args }) => {
        const result = results?.find((one) => one.call_id === id);
        return (
          <details key={id}>
            <summary>
              Tool <code>{visibleLine(name)}</code>
              {result?.status === 'failed' && ' failed'}
            </summary>
            <pre tabIndex={0}>{visibleJson({ args, result: result?.result ?? null })}</pre>
          </details>
        );
      })}
    </li>
  );
}
