import { useState, type ReactNode, type SyntheticEvent } from 'react';
import type { JsonObject } from '../../../client/types.js';
import { reasonOf, type Conversation } from '../conversation/conversation.js';
import { patchBetween, readObject } from './state-patch.js';

/** Shows and edits the user state as JSON. */
export function StateEditor(props: {
  readonly conversation: Conversation;
  readonly userState: JsonObject | null;
}): ReactNode {
  const { conversation, userState } = props;
  const [text, setText] = useState(JSON.stringify(userState ?? {}, null, 2));
  const [problem, setProblem] = useState<string | null>(null);
  const canChange = conversation.keeper !== null;
  const save = async (): Promise<void> => {
    setProblem(null);
    try {
      await conversation.setUserState(patchBetween(userState ?? {}, readObject(text)));
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
        id="user-state"
        value={text}
        rows={14}
        spellCheck={false}
        readOnly={!canChange}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
      {canChange && (
        <button type="submit" className="button primary">
          Save
        </button>
      )}
    </form>
  );
}
