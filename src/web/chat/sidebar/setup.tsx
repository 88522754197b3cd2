import { useEffect, useId, useState, type ReactNode } from 'react';
import { reasonOf, type Conversation } from '../conversation/conversation.js';
import { Field } from './field.js';
import type { Settings } from '../settings.js';

/** Selects the App, its key and the rig. */
export function Setup(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly onChange: (some: Partial<Settings>) => void;
}): ReactNode {
  const { conversation, settings, onChange } = props;
  const { app, key } = settings;
  const apps = useList(conversation, 'apps');
  const rigs = useList(conversation, 'rigs');
  const [rig, setRig] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);

  const select = (name: string): void => {
    setProblem(null);
    conversation.client.selectRig(name).then(
      () => {
        setRig(name);
      },
      (error: unknown) => {
        setProblem(reasonOf(error));
      },
    );
  };

  return (
    <section className="setup" aria-labelledby="setup-heading">
      <h2 id="setup-heading">Assistant</h2>
      <Choice
        label="App"
        value={app}
        options={apps.list}
        onChoose={(name) => {
          onChange({ app: name });
        }}
      />
      <Field
        label="App key"
        type="password"
        value={key}
        placeholder="only for other Apps than default"
        onCommit={(value) => {
          onChange({ key: value });
        }}
      />
      <Choice label="Rig" value={rig ?? rigs.list[0] ?? ''} options={rigs.list} onChoose={select} />
      {[problem, apps.problem, rigs.problem].map(
        (text, index) =>
          text !== null && (
            <p key={index} role="alert" className="problem">
              {text}
            </p>
          ),
      )}
    </section>
  );
}

function Choice(props: {
  readonly label: string;
  readonly value: string;
  readonly options: readonly string[];
  readonly onChoose: (option: string) => void;
}): ReactNode {
  const { label, value, options, onChoose } = props;
  const all = value === '' || options.includes(value) ? options : [value, ...options];
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select
        id={id}
        value={value}
        onChange={(event) => {
          onChoose(event.target.value);
        }}
      >
        {all.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </div>
  );
}

interface Listed {
  readonly list: readonly string[];
  readonly problem: string | null;
}

/** Reads the options once per conversation. */
function useList(conversation: Conversation, what: 'apps' | 'rigs'): Listed {
  const [listed, setListed] = useState<Listed>({ list: [], problem: null });
  useEffect(() => {
    let isOver = false;
    const show = (next: Listed): void => {
      if (!isOver) setListed(next);
    };
    conversation.client[what]().then(
      (list) => {
        show({ list, problem: null });
      },
      (error: unknown) => {
        show({ list: [], problem: reasonOf(error) });
      },
    );
    return () => {
      isOver = true;
    };
  }, [conversation, what]);
  return listed;
}
