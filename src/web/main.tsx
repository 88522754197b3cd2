import './styles/tokens.css';
import './styles/base.css';
import './styles/layout.css';
import './styles/thread.css';
import './styles/messages.css';
import './styles/panels.css';
import './styles/wallet.css';
import './styles/print.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { SettingsStore } from './chat/settings.js';
import { KeptThreads } from './chat/threads/kept-threads.js';
import { Drafts } from './chat/conversation/drafts.js';
import { Traffic } from './chat/conversation/traffic.js';
import { Page } from './chat/page.js';
import { createWallets } from './chat/wallet/wallets.js';
import { hideComposingKeys } from './parts/composition.js';
import { EVERYTHING, followForgetting } from './parts/forgetting.js';
import { applyTheme } from './parts/theme.js';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root');
followForgetting(EVERYTHING);
applyTheme();
hideComposingKeys(window);
const threads = new KeptThreads();
const drafts = new Drafts(threads);
createRoot(root).render(
  <StrictMode>
    <Page
      settings={new SettingsStore(threads, drafts)}
      drafts={drafts}
      threads={threads}
      traffic={new Traffic()}
      wallets={createWallets()}
    />
  </StrictMode>,
);
