import { useEffect, useId, useState, type ReactNode } from 'react';

/** A text input that takes effect on Enter or when it loses the focus. */
export function Field(props: {
  readonly label: string;
  readonly value: string;
  readonly type?: 'text' | 'password';
  readonly placeholder?: string;
  readonly onCommit: (value: string) => void;
}): ReactNode {
  const { label, value, type = 'text', placeholder, onCommit } = props;
  const id = useId();
  const [text, setText] = useState(value);
  useEffect(() => {
    setText(value);
  }, [value]);
  const commit = (): void => {
    if (text.trim() !== value) onCommit(text.trim());
  };
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        commit();
      }}
    >
      <label htmlFor={id}>{label}</label>
      <input
        {...{ id, type, placeholder }}
        value={text}
        autoComplete="off"
        spellCheck={false}
        onBlur={commit}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
    </form>
  );
}
