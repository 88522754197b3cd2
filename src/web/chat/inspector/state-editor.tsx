import { useRef, useState, type ReactNode, type SyntheticEvent } from 'react';
import type { JsonObject } from '../../../client/types.js';
import { visibleJson } from '../../parts/visible-json.js';
import type { Conversation } from '../conversation/conversation.js';
import { reasonOf } from '../conversation/user-words.js';
import { patchBetween, readObject } from './state-patch.js';

/** What was typed. */
interface Draft {
  readonly text: string;
  /** The user state in which the typing began, or what was saved since. */
  readonly base: JsonObject;
  /** The user state that was shown when the text was saved: the draft ends when another one comes. */
  readonly savedOver?: JsonObject | null;
}

/**
 * Shows and edits the user state as JSON. What is typed remains while the state changes, as turns and other clients
 * change it too; only the difference to the state in which the typing began is sent.
 */
export function StateEditor(props: {
  readonly conversation: Conversation;
  readonly userState: JsonObject | null;
}): ReactNode {
  const { conversation, userState } = props;
  const shown = userState ?? {};
  const [draft, setDraft] = useState<Draft | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const input = useRef<HTMLTextAreaElement>(null);
  const canChange = conversation.keeper !== null;
  if (draft?.savedOver !== undefined && draft.savedOver !== userState) setDraft(null);
  const save = async (): Promise<void> => {
    setProblem(null);
    if (draft === null) return;
    try {
      const base = readObject(draft.text);
      await conversation.setUserState(patchBetween(draft.base, base));
      // What was typed while the request ran is not saved yet.
      setDraft((newest) => {
        if (newest === null) return null;
        return newest.text === draft.text ? { ...newest, base, savedOver: userState } : { ...newest, base };
      });
    } catch (error) {
      setProblem(reasonOf(error));
    }
  };
  return (
    <form
      className="state-editor"
      onSubmit={(event: SyntheticEvent) => {
        event.preventDefault();
        void save();
      }}
    >
      <label htmlFor="user-state">User state</label>
      <p className="hint">
        {canChange
          ? 'What the assistant knows of you: the difference is sent, and merged.'
          : 'The legacy surface shows it; only the current one can change it.'}
      </p>
      <textarea
        ref={input}
        id="user-state"
        value={draft?.text ?? visibleJson(shown)}
        rows={14}
        spellCheck={false}
        readOnly={!canChange}
        onChange={(event) => {
          setDraft({ text: event.target.value, base: draft?.base ?? shown });
        }}
      />
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      {canChange && (
        <div className="state-actions">
          <button type="submit" className="button primary">
            Save
          </button>
          {draft !== null && draft.savedOver === undefined && (
            <button
              type="button"
              className="button"
              onClick={() => {
                setDraft(null);
                setProblem(null);
                input.current?.focus();
              }}
            >
              Discard changes
            </button>
          )}
        </div>
      )}
    </form>
  );
}
