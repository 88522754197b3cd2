import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { SurfaceName } from '../../client/types.js';
import { Icon } from '../parts/icon.js';
import { useMedia } from '../parts/media.js';
import { useObservable } from '../parts/observable.js';
import { Connection } from './thread/connection.js';
import { ExportMenu } from './thread/export-menu.js';
import type { Conversation } from './conversation/conversation.js';
import { Inspector } from './inspector/inspector.js';
import { Pane } from './thread/pane.js';
import type { Settings } from './settings.js';
import { Side } from './sidebar/side.js';
import { Sidebar } from './sidebar/sidebar.js';
import { SurfaceSwitch } from './sidebar/surface-switch.js';
import type { Traffic } from './conversation/traffic.js';
import type { Wallets } from './wallet/wallets.js';

/** Below these widths, a side panel is a drawer over the conversation. */
const NARROW = '(max-width: 52rem)';
const MEDIUM = '(max-width: 75rem)';

/** The layout of the page: threads, conversation and inspector. */
export function Desk(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly surfaces: readonly SurfaceName[];
  readonly traffic: Traffic;
  readonly wallets: Wallets;
  readonly onChange: (some: Partial<Settings>) => void;
}): ReactNode {
  const { conversation, settings, surfaces, traffic, wallets, onChange } = props;
  const view = useObservable(conversation.view);
  const isNarrow = useMedia(NARROW);
  const isMedium = useMedia(MEDIUM);
  const [open, setOpen] = useState<'threads' | 'inspector' | null>(null);
  const opener = useRef<HTMLElement | null>(null);
  const title = view.title ?? 'New Chat';
  useEffect(() => {
    document.title = `${title} · Diptych`;
  }, [title]);
  const show = (side: 'threads' | 'inspector') => (event: React.MouseEvent<HTMLElement>) => {
    opener.current = event.currentTarget;
    setOpen(side);
  };
  const close = (): void => {
    setOpen(null);
  };
  // Elements behind a drawer cannot receive the focus until the drawer is closed.
  useEffect(() => {
    if (open !== null) return;
    opener.current?.focus();
    opener.current = null;
  }, [open]);
  const threadsOver = isNarrow && open === 'threads';
  const inspectorOver = isMedium && open === 'inspector';

  return (
    <div className="desk">
      <Side
        name="threads"
        label="Threads and assistant"
        isOver={isNarrow}
        isOpen={threadsOver}
        onClose={close}
      >
        <Sidebar {...{ conversation, settings, wallets, onChange }} onOpen={close} />
      </Side>
      <main inert={threadsOver || inspectorOver}>
        <header className="bar">
          {isNarrow && (
            <button
              type="button"
              className="icon-button"
              aria-label="Threads and assistant"
              onClick={show('threads')}
            >
              <Icon name="menu" />
            </button>
          )}
          <h1>{title}</h1>
          <Connection state={view.connection} />
          <ExportMenu conversation={conversation} />
          <SurfaceSwitch
            surfaces={surfaces}
            value={settings.surface}
            onChoose={(surface) => {
              onChange({ surface });
            }}
          />
          {isMedium && (
            <button type="button" className="icon-button" aria-label="Inspector" onClick={show('inspector')}>
              <Icon name="panel" />
            </button>
          )}
        </header>
        <Pane
          key={paneKey(conversation)}
          {...{ conversation, wallets }}
          wallet={settings.wallet}
          onOpen={(sessionId) => {
            onChange({ sessionId });
          }}
        />
      </main>
      <Side name="inspector" label="Inspector" isOver={isMedium} isOpen={inspectorOver} onClose={close}>
        <Inspector conversation={conversation} traffic={traffic} />
      </Side>
    </div>
  );
}

const keys = new WeakMap<Conversation, string>();
let made = 0;

/** Returns a React key per conversation, so that a new conversation gets a new pane without old state. */
function paneKey(conversation: Conversation): string {
  const key = keys.get(conversation) ?? String(++made);
  keys.set(conversation, key);
  return key;
}
