import './styles/tokens.css';
import './styles/base.css';
import './styles/admin.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Gate, TOKEN } from './admin/gate.js';
import { EVERYTHING, followForgetting } from './parts/forgetting.js';
import { applyTheme } from './parts/theme.js';

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root');
followForgetting(EVERYTHING);
followForgetting(TOKEN);
applyTheme();
createRoot(root).render(
  <StrictMode>
    <Gate />
  </StrictMode>,
);
