import { useEffect, useId, useState, type ReactNode, type SyntheticEvent } from 'react';
import type { SecretSlot } from '../../../client/types.js';
import type { Conversation } from '../conversation/conversation.js';
import { reasonOf } from '../conversation/user-words.js';
import { claimClientId, type Settings } from '../settings.js';

/**
 * Stores values for the secret slots of the App, under a client id of this browser. The values go to the service once
 * and never come back.
 */
export function SecretsForm(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly slots: readonly SecretSlot[];
  readonly onChange: (some: Partial<Settings>) => void;
}): ReactNode {
  const { conversation, settings, slots, onChange } = props;
  const { app, clientId, walletUse } = settings;
  const { keeper } = conversation;
  const [stored, setStored] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [version, setVersion] = useState(0);
  useEffect(() => {
    let isOver = false;
    // A request that names the client id would bind the session to it.
    if (keeper === null || clientId === '' || walletUse !== 'own') {
      setStored([]);
      return;
    }
    keeper.storedSecrets(clientId, app).then(
      (names) => {
        if (!isOver) setStored(names);
      },
      (error: unknown) => {
        if (!isOver) setProblem(reasonOf(error));
      },
    );
    return () => {
      isOver = true;
    };
  }, [keeper, clientId, app, walletUse, version]);
  if (keeper === null)
    return <p className="hint">Only the current surface can store the secrets of this App.</p>;
  if (walletUse !== 'own')
    return <p className="hint">Your secrets are not used in this thread, because you opened it by a link.</p>;

  const change = async (made: Promise<void>): Promise<boolean> => {
    setProblem(null);
    try {
      await made;
      setVersion((count) => count + 1);
      return true;
    } catch (error) {
      setProblem(reasonOf(error));
      return false;
    }
  };
  const save = async (name: string, value: string): Promise<boolean> => {
    const id = claimClientId(clientId);
    const isSaved = await change(keeper.storeSecret(id, { app, name, value }));
    if (isSaved && clientId !== id) onChange({ clientId: id });
    return isSaved;
  };
  return (
    <div className="secrets" role="group" aria-label={`Secrets of ${app}`}>
      {slots.map((slot) => (
        <Slot
          key={`${app} ${slot.name}`}
          slot={slot}
          isStored={stored.includes(slot.name)}
          onSave={(value) => save(slot.name, value)}
          onRemove={() => change(keeper.deleteSecret(clientId, { app, name: slot.name }))}
        />
      ))}
      {problem !== null && (
        <p role="alert" className="problem">
          {problem}
        </p>
      )}
    </div>
  );
}

function Slot(props: {
  readonly slot: SecretSlot;
  readonly isStored: boolean;
  readonly onSave: (value: string) => Promise<boolean>;
  readonly onRemove: () => Promise<boolean>;
}): ReactNode {
  const { slot, isStored, onSave, onRemove } = props;
  const [value, setValue] = useState('');
  const id = useId();
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (value === '') return;
    void onSave(value).then((isSaved) => {
      if (isSaved) setValue('');
    });
  };
  return (
    <form className="field" onSubmit={submit}>
      <label htmlFor={id}>
        {slot.name}
        {slot.required && !isStored ? ' (required)' : ''}
      </label>
      {slot.description !== '' && (
        <p className="hint" id={`${id}hint`}>
          {slot.description}
        </p>
      )}
      <div className="link-line">
        <input
          id={id}
          type="password"
          value={value}
          autoComplete="off"
          maxLength={8192}
          placeholder={isStored ? 'stored' : ''}
          aria-describedby={slot.description === '' ? undefined : `${id}hint`}
          onChange={(event) => {
            setValue(event.target.value);
          }}
        />
        <button
          type="submit"
          className="button small"
          disabled={value === ''}
          aria-label={`Store ${slot.name}`}
        >
          Store
        </button>
        {isStored && (
          <button
            type="button"
            className="button small"
            aria-label={`Remove ${slot.name}`}
            onClick={() => void onRemove()}
          >
            Remove
          </button>
        )}
      </div>
    </form>
  );
}
