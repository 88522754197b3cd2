import { useId, useState, type ReactNode } from 'react';
import type { AppDetails, RigDetails } from '../../../client/types.js';
import type { Conversation } from '../conversation/conversation.js';
import { reasonOf } from '../conversation/user-words.js';
import { useList, type Listed } from './apps.js';
import { Field } from './field.js';
import { SecretsForm } from './secrets-form.js';
import { Section } from './section.js';
import type { Settings } from '../settings.js';

/** Selects the App, its key and the rig, and stores the App's secrets. */
export function Setup(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly apps: Listed<AppDetails>;
  readonly onChange: (some: Partial<Settings>) => void;
}): ReactNode {
  const { conversation, settings, apps, onChange } = props;
  const { app, key } = settings;
  const rigs = useList(conversation, readRigs);
  const [chosen, setChosen] = useState<{ readonly in: Conversation; readonly id: string } | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const rig = (chosen?.in === conversation ? chosen.id : undefined) ?? rigs.list[0]?.id ?? '';
  const rigName = rigs.list.find(({ id }) => id === rig)?.name ?? rig;
  const slots = apps.list.find(({ name }) => name === app)?.secrets ?? [];

  const select = (id: string): void => {
    setProblem(null);
    conversation.client.selectRig(id).then(
      () => {
        setChosen({ in: conversation, id });
      },
      (error: unknown) => {
        setProblem(reasonOf(error));
      },
    );
  };

  return (
    <Section
      name="setup"
      heading="Assistant"
      summary={app === 'default' ? rigName : `${app} · ${rigName}`}
      isNeeded={slots.some(({ required }) => required) && settings.clientId === ''}
    >
      <Choice
        label="App"
        value={app}
        options={apps.list.map(({ name }) => ({ id: name, name }))}
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
      {slots.length > 0 && <SecretsForm {...{ conversation, settings, slots, onChange }} />}
      <Choice label="Rig" value={rig} options={rigs.list} onChoose={select} />
      {[problem, apps.problem, rigs.problem].map(
        (text, index) =>
          text !== null && (
            <p key={index} role="alert" className="problem">
              {text}
            </p>
          ),
      )}
    </Section>
  );
}

/** The legacy surface does not report which rig the session uses. */
function readRigs({ keeper, client }: Conversation): Promise<readonly RigDetails[]> {
  return (keeper ?? client).rigDetails();
}

function Choice(props: {
  readonly label: string;
  /** The id of the chosen option. */
  readonly value: string;
  readonly options: readonly RigDetails[];
  readonly onChoose: (id: string) => void;
}): ReactNode {
  const { label, value, options, onChoose } = props;
  const isListed = value === '' || options.some((option) => option.id === value);
  const all = isListed ? options : [{ id: value, name: value }, ...options];
  const names = all.map(({ name }) => name);
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
          <option key={option.id} value={option.id}>
            {names.indexOf(option.name) === names.lastIndexOf(option.name)
              ? option.name
              : `${option.name} (${option.id})`}
          </option>
        ))}
      </select>
    </div>
  );
}
