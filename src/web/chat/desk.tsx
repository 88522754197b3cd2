import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import type { AppDetails, SurfaceName } from '../../client/types.js';
import { Icon } from '../parts/icon.js';
import { useMedia } from '../parts/media.js';
import { useObservable } from '../parts/observable.js';
import { Connection } from './thread/connection.js';
import { ExportMenu } from './thread/export-menu.js';
import type { Conversation } from './conversation/conversation.js';
import type { Drafts } from './conversation/drafts.js';
import { Inspector } from './inspector/inspector.js';
import { boundedWidth, useInspectorLayout } from './inspector/layout.js';
import { Resizer } from './inspector/resizer.js';
import { focusInput } from './thread/composer.js';
import { Pane } from './thread/pane.js';
import type { PageSetup } from './page-setup.js';
import type { Settings } from './settings.js';
import { LinkNotice } from './share/link-notice.js';
import { Share } from './share/share.js';
import { useApps } from './sidebar/apps.js';
import { Quoted } from './sidebar/quoted.js';
import { Side } from './sidebar/side.js';
import { Sidebar } from './sidebar/sidebar.js';
import { SurfaceSwitch } from './sidebar/surface-switch.js';
import type { KeptThreads } from './threads/kept-threads.js';
import { titleOf, useGone, useKept } from './threads/keeping.js';
import type { Traffic } from './conversation/traffic.js';
import type { Wallets } from './wallet/wallets.js';

/** Below these widths, a side panel is a drawer over the conversation. */
const NARROW = '(max-width: 52rem)';
const MEDIUM = '(max-width: 75rem)';

/** The layout of the page: threads, conversation and inspector. */
export function Desk(props: {
  readonly conversation: Conversation;
  readonly settings: Settings;
  readonly setup: PageSetup;
  readonly surfaces: readonly SurfaceName[];
  readonly drafts: Drafts;
  readonly threads: KeptThreads;
  readonly traffic: Traffic;
  readonly wallets: Wallets;
  readonly onChange: (some: Partial<Settings>, how?: 'push' | 'replace') => void;
}): ReactNode {
  const { conversation, settings, setup, surfaces, drafts, threads, traffic, wallets, onChange } = props;
  const view = useObservable(conversation.view);
  const isNarrow = useMedia(NARROW);
  const isMedium = useMedia(MEDIUM);
  const [open, setOpen] = useState<'threads' | 'inspector' | null>(null);
  const [layout, changeLayout] = useInspectorLayout();
  const [notice, setNotice] = useState<ReactNode>(null);
  const opener = useRef<HTMLElement | null>(null);
  const kept = view.isLoaded ? undefined : threads.find(settings.sessionId)?.title;
  const title = kept ?? titleOf(view);
  useEffect(() => {
    document.title = `${title.replace(/\p{Bidi_Control}/gu, '')} · ${setup.title}`;
  }, [title, setup]);
  const close = useCallback(() => {
    setOpen(null);
  }, []);
  // Elements behind a drawer cannot receive the focus until the drawer is closed.
  useEffect(() => {
    if (open !== null) return;
    opener.current?.focus();
    opener.current = null;
  }, [open]);
  const dismiss = useCallback(() => {
    setNotice(null);
  }, []);

  const apps = useApps(conversation);
  useKept(conversation, threads, settings.walletUse);
  useGone(conversation, threads, ({ title: lost, isShown }) => {
    // The draft would be forgotten with the thread.
    if (!isShown) onChange({ sessionId: drafts.moveToNewThread(settings.sessionId) }, 'replace');
    threads.forget(settings.sessionId);
    setNotice(
      <>
        {lost === null ? 'This thread' : <Quoted title={lost} />} is no longer on the service: it was deleted,
        or it has expired.
        {isShown && ' The next message begins a new thread.'}
      </>,
    );
  });

  const threadsOver = isNarrow && open === 'threads';
  const inspectorOver = isMedium && open === 'inspector';
  const hasInspector = isMedium ? inspectorOver : layout.isOpen;
  const columns = `16.5rem minmax(0, 1fr) ${String(boundedWidth(layout.width))}px`;
  const isBeside = hasInspector && !isMedium;

  const surfaceSwitch = (
    <SurfaceSwitch
      surfaces={surfaces}
      value={settings.surface}
      onChoose={(surface) => {
        onChange({ surface });
      }}
    />
  );

  return (
    <div className="desk" style={isBeside ? { gridTemplateColumns: columns } : undefined}>
      <Side
        name="threads"
        label="Threads and assistant"
        isOver={isNarrow}
        isOpen={!isNarrow || threadsOver}
        onClose={close}
      >
        <Sidebar
          {...{ conversation, settings, setup, apps, drafts, threads, wallets, onChange }}
          onOpen={close}
          onDeleted={dismiss}
        />
        {/* On narrow screens, the header leaves its room to the title. */}
        {isNarrow && surfaceSwitch}
      </Side>
      <main inert={threadsOver || inspectorOver}>
        <header className="bar">
          {isNarrow && (
            <button
              type="button"
              className="icon-button"
              aria-label="Threads and assistant"
              onClick={(event) => {
                opener.current = event.currentTarget;
                setOpen('threads');
              }}
            >
              <Icon name="menu" />
            </button>
          )}
          <h1 title={title} dir="auto">
            {title}
          </h1>
          <Connection state={view.connection} />
          <ExportMenu conversation={conversation} />
          {!isNarrow && surfaceSwitch}
          <Share />
          <button
            type="button"
            className="icon-button"
            aria-label="Inspector"
            title="Inspector: requests and events"
            aria-expanded={hasInspector}
            onClick={(event) => {
              opener.current = event.currentTarget;
              if (isMedium) setOpen('inspector');
              else changeLayout({ isOpen: !layout.isOpen });
            }}
          >
            <Icon name="panel" />
          </button>
        </header>
        {notice !== null && (
          <div className="notice">
            <p role="alert">{notice}</p>
            <button
              type="button"
              className="icon-button small"
              aria-label="Dismiss the notice"
              onClick={(event) => {
                dismiss();
                focusInput(event);
              }}
            >
              <Icon name="close" />
            </button>
          </div>
        )}
        <LinkNotice
          walletUse={settings.walletUse}
          hasWallet={settings.wallet !== ''}
          onDecide={(walletUse) => {
            onChange({ walletUse });
          }}
        />
        <Pane
          key={paneKey(conversation)}
          {...{ conversation, drafts, wallets }}
          wallet={settings.wallet}
          threadWallet={{
            walletUse: settings.walletUse,
            onUse: () => {
              onChange({ walletUse: 'own' });
            },
          }}
          prompts={promptsOf(settings.app, apps.list, setup)}
          onOpen={(sessionId) => {
            dismiss();
            // A thread that follows from this one: what was decided for the wallet, or not yet, applies to it too.
            onChange({ sessionId, walletUse: settings.walletUse });
          }}
        />
      </main>
      <Side name="inspector" label="Inspector" isOver={isMedium} isOpen={hasInspector} onClose={close}>
        {!isMedium && (
          <Resizer
            width={boundedWidth(layout.width)}
            onResize={(width) => {
              changeLayout({ width });
            }}
          />
        )}
        <Inspector conversation={conversation} traffic={traffic} />
      </Side>
    </div>
  );
}

/** Returns the prompts of an App; those of the service if it has none of its own. */
function promptsOf(app: string, apps: readonly AppDetails[], setup: PageSetup): readonly string[] {
  return apps.find(({ name }) => name === app)?.prompts ?? setup.prompts;
}

const keys = new WeakMap<Conversation, string>();
let made = 0;

/** Returns a React key per conversation, so that a new conversation gets a new pane without old state. */
function paneKey(conversation: Conversation): string {
  const key = keys.get(conversation) ?? String(++made);
  keys.set(conversation, key);
  return key;
}
